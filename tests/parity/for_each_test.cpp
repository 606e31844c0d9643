#include "host/cpu/for_each.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "host/cpu/threads.hpp"

namespace berth::test::for_each_test {
namespace {

/// How often each item was processed; a lane used by two threads at once is a race.
std::vector<int> times_done(cpu::Threads& threads, std::int64_t n, std::int64_t grain) {
  std::vector<int> times(static_cast<std::size_t>(n));
  std::vector<std::int64_t> items(threads.n());
  cpu::for_each_in_lanes(threads, n, grain, [&](std::int64_t i, std::size_t lane) {
    ++times[static_cast<std::size_t>(i)];
    ++items.at(lane);
  });
  std::int64_t all = 0;
  for (const std::int64_t each : items) all += each;
  EXPECT_EQ(all, n);
  return times;
}

TEST(ForEach, DoesEachItemOnceWithMoreAndFewerItemsThanThreads) {
  for (const int n_threads : {1, 2, 3, 8}) {
    cpu::Threads threads(n_threads);
    for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 100}) {
      for (const std::int64_t grain : {1, 3, 1000}) {
        EXPECT_EQ(times_done(threads, n, grain), std::vector<int>(static_cast<std::size_t>(n), 1)) << n_threads << " " << n << " " << grain;
      }
    }
  }
}

TEST(ForEach, StartsThreadsItselfWhereTheirNumberIsGiven) {
  for (const int n_threads : {1, 2, 8}) {
    for (const std::int64_t n : {0, 1, 7, 100}) {
      std::vector<int> times(static_cast<std::size_t>(n));
      cpu::for_each_n(n_threads, n, 3, [&](std::int64_t i) { ++times[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(n), 1)) << n_threads << " " << n;
    }
  }
}

/// Rounds in which each item reads what others wrote in the previous round.
std::int64_t sum_after_rounds(int n_threads, int rounds) {
  constexpr std::size_t kItems = 6;
  cpu::Threads threads(n_threads);
  std::vector<std::int64_t> before(kItems, 1), after(kItems);
  for (int round = 0; round < rounds; ++round) {
    cpu::for_each_in_lanes(threads, kItems, 1, [&](std::int64_t i, std::size_t) {
      const auto at = static_cast<std::size_t>(i);
      after[at] = (before[at] + before[(at + 1) % kItems] * (i + 2)) % 1'000'003;
    });
    before.swap(after);
  }
  std::int64_t sum = 0;
  for (const std::int64_t each : before) sum += each;
  return sum;
}

TEST(Threads, SeeEachOthersWorkOfTheRoundBefore) {
  const std::int64_t expected = sum_after_rounds(1, 5000);
  for (const int n_threads : {2, 3, 5}) EXPECT_EQ(sum_after_rounds(n_threads, 5000), expected) << n_threads;
}

/// Two items that need two threads at the same time.
void do_together(cpu::Threads& threads) {
  std::atomic<int> here{0};
  cpu::for_each_in_lanes(threads, 2, 1, [&](std::int64_t, std::size_t) {
    here.fetch_add(1);
    while (here.load() < 2) std::this_thread::yield();
  });
}

TEST(Threads, GoOnAfterTheyFellAsleep) {
  cpu::Threads threads(3);
  ASSERT_EQ(threads.n(), 3U);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    do_together(threads);
    // Now the caller sleeps.
    cpu::for_each_in_lanes(threads, 2, 1, [&](std::int64_t, std::size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::this_thread::get_id() == caller ? 5 : 20));
    });
  }
}

TEST(Threads, OfSeveralCallersAtOnceDoNotMeet) {
  const std::int64_t expected = sum_after_rounds(1, 2000);
  std::vector<std::int64_t> got(3);
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < got.size(); ++c) {
    callers.emplace_back([&, c] { got[c] = sum_after_rounds(2 + static_cast<int>(c), 2000); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(got, std::vector<std::int64_t>(3, expected));
}

TEST(Threads, EachHaveTheirOwnLane) {
  cpu::Threads threads(4);
  ASSERT_EQ(threads.n(), 4U);
  std::vector<std::thread::id> of(4);
  for (int round = 0; round < 100; ++round) {
    threads.run([&](std::size_t lane) {
      if (of[lane] == std::thread::id()) of[lane] = std::this_thread::get_id();
      EXPECT_EQ(of[lane], std::this_thread::get_id());
    });
  }
  EXPECT_EQ(of[0], std::this_thread::get_id());
}

TEST(Threads, ThatAreNeverAskedEnd) {
  for (const int n : {0, 1, 2, 9}) cpu::Threads threads(n);
}

}  // namespace
}  // namespace berth::test::for_each_test
