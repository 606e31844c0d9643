#include "host/core/placement/ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace berth::core::ordering_test {
namespace {

std::vector<std::int32_t> from_scratch(const std::set<std::int32_t>& live, const std::vector<std::int64_t>& keys,
                                       const std::vector<std::int32_t>& ranks) {
  std::vector<std::int32_t> order(live.begin(), live.end());
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
    return keys[x] != keys[y] ? keys[x] < keys[y] : ranks[x] < ranks[y];
  });
  return order;
}

std::vector<std::int32_t> list(const JobOrder& order) { return {order.order().begin(), order.order().end()}; }

}  // namespace

TEST(JobOrder, EqualKeysFallToTheLowerRank) {
  const std::vector<std::int64_t> keys{7, 7, std::numeric_limits<std::int64_t>::max(), -1};
  const std::vector<std::int32_t> ranks{3, 0, 1, 2};
  JobOrder order;

  order.sort(std::vector<std::int32_t>{0, 1, 2, 3}, keys, ranks);

  EXPECT_EQ(list(order), (std::vector<std::int32_t>{3, 1, 0, 2}));
}

TEST(JobOrder, LeavesOutJobsThatAreNotNamedAgain) {
  const std::vector<std::int64_t> keys{1, 2, 3};
  const std::vector<std::int32_t> ranks{0, 1, 2};
  JobOrder order;
  order.sort(std::vector<std::int32_t>{0, 1, 2}, keys, ranks);

  order.sort(std::vector<std::int32_t>{2, 0}, keys, ranks);

  EXPECT_EQ(list(order), (std::vector<std::int32_t>{0, 2}));
}

TEST(JobOrder, KeepsItsBufferOnceWarm) {
  std::vector<std::int64_t> keys(3000);
  std::vector<std::int32_t> jobs(keys.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = static_cast<std::int32_t>(i);
  JobOrder order;
  order.sort(jobs, keys, jobs);
  const std::int32_t* buffer = order.order().data();

  for (std::size_t i = 0; i < 100; ++i) {
    keys[i * 7] = static_cast<std::int64_t>(i) - 50;
    order.sort(jobs, keys, jobs);
    ASSERT_EQ(order.order().data(), buffer);
  }
}

TEST(JobOrder, EqualsSortingFromScratchAfterRandomEvents) {
  for (const std::int32_t n : {1, 31, 257, 4099}) {
    SCOPED_TRACE(n);
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    const auto below = [&](std::int64_t m) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m)); };
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::int64_t> keys(size);
    std::vector<std::int32_t> ranks(size);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::set<std::int32_t> live;
    JobOrder order;
    for (int round = 0; round < 60; ++round) {
      // Every seventh round changes everything, every ninth moves all keys a little, the others move a few jobs far.
      // Keys tie often and reach both ends of int64; ranks change all together.
      const bool all = round % 7 == 0;
      for (std::int64_t t = all ? n : below(10) + 1; t > 0; --t) {
        const auto job = static_cast<std::int32_t>(all ? t - 1 : below(n));
        if (below(4) == 0) {
          live.erase(job);
          continue;
        }
        live.insert(job);
        const std::int64_t kind = below(4);
        keys[static_cast<std::size_t>(job)] = kind == 0   ? std::numeric_limits<std::int64_t>::max()
                                              : kind == 1 ? std::numeric_limits<std::int64_t>::min()
                                              : kind == 2 ? below(9) - 4
                                                          : static_cast<std::int64_t>(random());
      }
      for (std::int64_t& key : keys) key = round % 9 == 0 ? key / 2 + below(3) : key;
      if (round % 5 == 0) std::shuffle(ranks.begin(), ranks.end(), random);
      const std::vector<std::int32_t> jobs(live.begin(), live.end());

      order.sort(jobs, keys, ranks);

      ASSERT_EQ(list(order), from_scratch(live, keys, ranks)) << "round " << round;
    }
  }
}

}  // namespace berth::core::ordering_test
