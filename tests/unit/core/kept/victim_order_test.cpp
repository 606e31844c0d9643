// Running jobs that change in rounds, of which victims are read from the end.

#include "host/core/kept/victim_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::core::victim_order_test {
namespace {

using test::Random;

constexpr std::int32_t kJobs = 200;

/// Keys that fall as they like, and rise where the job is added again.
class Keys final : public KeySource {
 public:
  std::int64_t key_of(std::int32_t job) override { return keys[static_cast<std::size_t>(job)]; }
  std::vector<std::int64_t> keys = std::vector<std::int64_t>(kJobs, 0);
};

/// The same by sorting all of it.
std::vector<std::int32_t> from_the_end(const std::vector<std::int32_t>& jobs, Keys& keys) {
  std::vector<OrderPlace> places;
  for (const std::int32_t job : jobs) places.push_back({keys.key_of(job), job, job});
  std::sort(places.begin(), places.end());
  std::vector<std::int32_t> order;
  for (auto place = places.rbegin(); place != places.rend(); ++place) order.push_back(place->job);
  return order;
}

TEST(VictimOrder, IsTheOrderByCurrentKeysAfterEachRoundOfChanges) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Keys keys;
    VictimOrder order;
    std::vector<std::int32_t> jobs;
    for (std::int32_t round = 0; round < 60; ++round) {
      const std::int32_t percent = random.of<std::int32_t>({0, 1, 10, 90});
      for (std::int32_t job = 0; job < kJobs; ++job) {
        std::int64_t& key = keys.keys[static_cast<std::size_t>(job)];
        if (random.percent(30)) key -= random.below(20);
        if (!random.percent(percent)) continue;
        order.remove(job);
        std::erase(jobs, job);
        if (random.percent(30)) continue;
        key = random.below(100);
        order.add({key, job, job}, static_cast<std::size_t>(random.below(3)));
        jobs.push_back(job);
      }
      order.end_changes();
      order.begin();
      const std::vector<std::int32_t> expected = from_the_end(jobs, keys);
      ASSERT_EQ(order.size(), expected.size());
      const auto some = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(expected.size()) + 1));
      VictimReader reader;
      reader.begin(order, keys);
      for (std::size_t part = 0; part < 4; ++part) reader.add(part);
      for (std::size_t i = 0; i < some; ++i) {
        ASSERT_NE(reader.next(), nullptr);
        ASSERT_EQ(reader.next()->job, expected[i]) << "seed " << seed << ", round " << round;
        reader.take();
      }
      ASSERT_EQ(reader.next() == nullptr, some == expected.size());
    }
  }
}

}  // namespace
}  // namespace berth::core::victim_order_test
