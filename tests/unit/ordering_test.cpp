#include "host/core/ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

namespace berth::core {
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

  order.update(std::vector<std::int32_t>{0, 1, 2, 3}, {}, keys, ranks);

  EXPECT_EQ(list(order), (std::vector<std::int32_t>{3, 1, 0, 2}));
}

TEST(JobOrder, ASlotGivenToANewJobStays) {
  std::vector<std::int64_t> keys{1, 2, 3};
  const std::vector<std::int32_t> ranks{0, 1, 2};
  JobOrder order;
  order.update(std::vector<std::int32_t>{0, 1, 2}, {}, keys, ranks);
  keys[0] = 9;

  order.update(std::vector<std::int32_t>{0, 0}, std::vector<std::int32_t>{0, 2}, keys, ranks);

  EXPECT_EQ(list(order), (std::vector<std::int32_t>{1, 0}));
}

TEST(JobOrder, KeepsItsTwoBuffersOnceWarm) {
  std::vector<std::int64_t> keys(3000);
  std::vector<std::int32_t> slots(keys.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::int32_t>(i);
  JobOrder order;
  for (int i = 0; i < 2; ++i) order.update(slots, {}, keys, slots);
  std::set<const std::int32_t*> buffers;

  for (std::size_t i = 0; i < 100; ++i) {
    keys[i * 7] = static_cast<std::int64_t>(i) - 50;
    order.update(std::span(slots).subspan(i * 7, 1), {}, keys, slots);
    buffers.insert(order.order().data());
  }

  EXPECT_EQ(buffers.size(), 2U);
}

TEST(JobOrder, EqualsSortingFromScratchAfterRandomEvents) {
  for (const std::int32_t n : {1, 31, 257, 4099}) {
    SCOPED_TRACE(n);
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    const auto below = [&](std::int64_t m) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m)); };
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::int64_t> keys(size), submit(size);
    std::vector<std::int32_t> ranks(size), by_submit(size);
    std::set<std::int32_t> live;
    JobOrder order;
    for (int round = 0; round < 40; ++round) {
      // Every seventh round touches everything, the others a few slots; keys tie often and reach both ends of int64.
      const std::int64_t touched = round % 7 == 0 ? n : below(10) + 1;
      std::vector<std::int32_t> changed, removed;
      for (std::int64_t t = 0; t < touched; ++t) {
        const auto slot = static_cast<std::int32_t>(round % 7 == 0 ? t : below(n));
        const auto at = static_cast<std::size_t>(slot);
        const bool was = live.count(slot) != 0;
        if (was && below(3) == 0) {
          removed.push_back(slot);
          live.erase(slot);
          if (below(2) == 0) continue;
          submit[at] = below(1000);  // the slot goes to another job
        } else if (!was) {
          submit[at] = below(1000);
        }
        live.insert(slot);
        const std::int64_t kind = below(4);
        keys[at] = kind == 0   ? std::numeric_limits<std::int64_t>::max()
                   : kind == 1 ? std::numeric_limits<std::int64_t>::min()
                   : kind == 2 ? below(9) - 4
                               : static_cast<std::int64_t>(random());
        changed.push_back(slot);
      }
      // A slot removed again after it changed is only removed.
      changed.erase(std::remove_if(changed.begin(), changed.end(), [&](std::int32_t s) { return live.count(s) == 0; }), changed.end());
      for (std::size_t i = 0; i < size; ++i) by_submit[i] = static_cast<std::int32_t>(i);
      std::sort(by_submit.begin(), by_submit.end(), [&](std::int32_t a, std::int32_t b) {
        const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
        return submit[x] != submit[y] ? submit[x] < submit[y] : a < b;
      });
      for (std::size_t i = 0; i < size; ++i) ranks[static_cast<std::size_t>(by_submit[i])] = static_cast<std::int32_t>(i);

      order.update(changed, removed, keys, ranks);

      ASSERT_EQ(list(order), from_scratch(live, keys, ranks)) << "round " << round;
    }
  }
}

}  // namespace berth::core
