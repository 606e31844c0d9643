#include "berth/kernel/base/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/thread_group.hpp"

namespace berth::kernel::group_test {
namespace {

using test::run_with_threads;

constexpr int kRounds = 50;

/// Some value of thread `rank` in `round`, the same on every machine.
std::uint64_t mixed(std::int32_t rank, int round) {
  std::uint64_t x = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(round) * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 29;
  return x * 0x94d049bb133111ebULL;
}
std::int64_t small(std::int32_t rank, int round) { return static_cast<std::int64_t>(mixed(rank, round) % 2001) - 1000; }

class ThreadGroupOf : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadGroupOf, testing::Values(1, 2, 7, 32), testing::PrintToStringParamName());

TEST_P(ThreadGroupOf, MinIsTheLeastKeyInEveryRound) {
  const std::int32_t size = GetParam();
  const auto key_of = [](std::int32_t rank, int round) { return Key{mixed(rank, round) % 4, mixed(rank, round + 7)}; };
  std::vector<Key> seen(static_cast<std::size_t>(size * kRounds));

  run_with_threads(size, [&](auto& group) {
    for (int round = 0; round < kRounds; ++round) {
      seen[static_cast<std::size_t>(group.rank() * kRounds + round)] = group.min(key_of(group.rank(), round));
    }
  });

  for (int round = 0; round < kRounds; ++round) {
    std::vector<Key> keys;
    for (std::int32_t rank = 0; rank < size; ++rank) keys.push_back(key_of(rank, round));
    const Key least = *std::min_element(keys.begin(), keys.end());
    for (std::int32_t rank = 0; rank < size; ++rank) EXPECT_TRUE(seen[static_cast<std::size_t>(rank * kRounds + round)] == least);
  }
}

TEST_P(ThreadGroupOf, MinIsTheLeastNumberInEveryRound) {
  const std::int32_t size = GetParam();
  const auto number_of = [](std::int32_t rank, int round) { return static_cast<std::uint32_t>(mixed(rank, round) >> 32); };
  std::vector<std::uint32_t> seen(static_cast<std::size_t>(size * kRounds));

  run_with_threads(size, [&](auto& group) {
    for (int round = 0; round < kRounds; ++round) {
      seen[static_cast<std::size_t>(group.rank() * kRounds + round)] = group.min(number_of(group.rank(), round));
    }
  });

  for (int round = 0; round < kRounds; ++round) {
    std::uint32_t least = UINT32_MAX;
    for (std::int32_t rank = 0; rank < size; ++rank) least = std::min(least, number_of(rank, round));
    for (std::int32_t rank = 0; rank < size; ++rank) EXPECT_EQ(seen[static_cast<std::size_t>(rank * kRounds + round)], least);
  }
}

TEST_P(ThreadGroupOf, MinOfNoKeysIsNoKey) {
  run_with_threads(GetParam(), [&](auto& group) { EXPECT_TRUE(group.min(kNoKey) == kNoKey); });
}

TEST_P(ThreadGroupOf, SumAndScansAreOfAllOrEarlierThreadsInEveryRound) {
  const std::int32_t size = GetParam();
  struct Row {
    std::int64_t sum, before, total, greatest_before, greatest;
  };
  std::vector<Row> seen(static_cast<std::size_t>(size * kRounds));

  run_with_threads(size, [&](auto& group) {
    for (int round = 0; round < kRounds; ++round) {
      Row& row = seen[static_cast<std::size_t>(group.rank() * kRounds + round)];
      row.sum = group.sum(small(group.rank(), round));
      row.before = group.scan(small(group.rank(), round), row.total);
      row.greatest_before = group.scan_max(small(group.rank(), round), row.greatest);
    }
  });

  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::int64_t> values;
    for (std::int32_t rank = 0; rank < size; ++rank) values.push_back(small(rank, round));
    const std::int64_t total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    for (std::int32_t rank = 0; rank < size; ++rank) {
      const Row& row = seen[static_cast<std::size_t>(rank * kRounds + round)];
      EXPECT_EQ(row.sum, total);
      EXPECT_EQ(row.total, total);
      EXPECT_EQ(row.before, std::accumulate(values.begin(), values.begin() + rank, std::int64_t{0}));
      EXPECT_EQ(row.greatest, *std::max_element(values.begin(), values.end()));
      EXPECT_EQ(row.greatest_before, rank == 0 ? INT64_MIN : *std::max_element(values.begin(), values.begin() + rank));
    }
  }
}

TEST_P(ThreadGroupOf, AnyIsTrueWhenOneThreadSaysSo) {
  const std::int32_t size = GetParam();
  std::vector<int> wrong(static_cast<std::size_t>(size));

  run_with_threads(size, [&](auto& group) {
    int& mine = wrong[static_cast<std::size_t>(group.rank())];
    for (int round = 0; round < kRounds; ++round) {
      mine += group.any(group.rank() == round % size) ? 0 : 1;
      mine += group.any(false) ? 1 : 0;
    }
  });

  EXPECT_EQ(wrong, std::vector<int>(static_cast<std::size_t>(size), 0));
}

TEST_P(ThreadGroupOf, SyncShowsWhatOthersWrote) {
  const std::int32_t size = GetParam();
  std::vector<int> board(static_cast<std::size_t>(size), -1);
  std::vector<int> wrong(static_cast<std::size_t>(size));

  run_with_threads(size, [&](auto& group) {
    for (int round = 0; round < kRounds; ++round) {
      board[static_cast<std::size_t>(group.rank())] = round;
      group.sync();
      const int neighbour = board[static_cast<std::size_t>((group.rank() + 1) % group.size())];
      wrong[static_cast<std::size_t>(group.rank())] += neighbour == round ? 0 : 1;
      group.sync();
    }
  });

  EXPECT_EQ(wrong, std::vector<int>(static_cast<std::size_t>(size), 0));
}

TEST(ThreadGroup, HasEveryRankOnce) {
  std::vector<int> seen(7);

  run_with_threads(7, [&](auto& group) { ++seen[static_cast<std::size_t>(group.rank())]; });

  EXPECT_EQ(seen, std::vector<int>(7, 1));
}

TEST(SerialGroup, CollectivesAreTheIdentity) {
  SerialGroup group;
  const Key key{3, 4};
  std::int64_t total = 0;

  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  EXPECT_TRUE(group.min(key) == key);
  EXPECT_TRUE(group.min(kNoKey) == kNoKey);
  EXPECT_EQ(group.sum(-5), -5);
  EXPECT_EQ(group.scan(9, total), 0);
  EXPECT_EQ(total, 9);
  EXPECT_EQ(group.scan_max(-3, total), INT64_MIN);
  EXPECT_EQ(total, -3);
  EXPECT_TRUE(group.any(true));
  EXPECT_FALSE(group.any(false));
}

}  // namespace
}  // namespace berth::kernel::group_test
