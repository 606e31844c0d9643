#include "berth/kernel/base/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/select.hpp"
#include "tests/support/random.hpp"
#include "tests/support/thread_group.hpp"

/// Sorting, heaps and selections by a group, for any number of threads and elements.
namespace berth::kernel::sort_test {
namespace {

using test::Random;
using test::run_with_threads;

class SortBy : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Threads, SortBy, testing::Values(1, 2, 7, 32), testing::PrintToStringParamName());

/// Each number up to some tiles of a warp, and numbers around powers of two.
std::vector<std::int32_t> sizes() {
  std::vector<std::int32_t> all(70);
  std::iota(all.begin(), all.end(), 0);
  all.insert(all.end(), {127, 128, 129, 255, 257, 1000});
  return all;
}

/// In half of the cases with many equal keys.
std::vector<std::uint64_t> random_keys(Random& random, std::int32_t n) {
  const std::uint64_t kinds = random.percent(50) ? 5 : UINT64_MAX;
  std::vector<std::uint64_t> keys;
  for (std::int32_t i = 0; i < n; ++i) keys.push_back(random.percent(5) ? UINT64_MAX : random.bits() % kinds);
  return keys;
}

TEST_P(SortBy, KeysAscend) {
  Random random(1);
  std::vector<std::vector<std::uint64_t>> cases;
  for (const std::int32_t n : sizes()) cases.push_back(random_keys(random, n));
  std::vector<std::vector<std::uint64_t>> sorted = cases;

  run_with_threads(GetParam(), [&](auto& group) {
    for (auto& keys : sorted) group_sort(group, keys.data(), static_cast<std::int32_t>(keys.size()));
  });

  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::sort(cases[i].begin(), cases[i].end());
    EXPECT_EQ(sorted[i], cases[i]) << cases[i].size() << " keys";
  }
}

TEST_P(SortBy, ParentsOfAHeapAreNotLess) {
  Random random(2);
  std::vector<std::vector<std::uint64_t>> cases;
  for (const std::int32_t n : sizes()) cases.push_back(random_keys(random, n));
  std::vector<std::vector<std::uint64_t>> heaps = cases;

  run_with_threads(GetParam(), [&](auto& group) {
    for (auto& keys : heaps) group_heap(group, keys.data(), static_cast<std::int32_t>(keys.size()));
  });

  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(std::is_heap(heaps[i].begin(), heaps[i].end())) << cases[i].size() << " keys";
    EXPECT_TRUE(std::is_permutation(heaps[i].begin(), heaps[i].end(), cases[i].begin())) << cases[i].size() << " keys";
  }
}

TEST_P(SortBy, SelectedElementsKeepTheirOrder) {
  Random random(3);
  struct Case {
    std::vector<char> kept;
    std::vector<std::int32_t> got;
    std::vector<std::int32_t> returned;  // by thread
  };
  std::vector<Case> cases;
  for (const std::int32_t n : sizes()) {
    const std::int32_t percent = random.of<std::int32_t>({0, 10, 60, 100});
    Case one{
        {}, std::vector<std::int32_t>(static_cast<std::size_t>(n), -1), std::vector<std::int32_t>(static_cast<std::size_t>(GetParam()))};
    for (std::int32_t i = 0; i < n; ++i) one.kept.push_back(random.percent(percent) ? 1 : 0);
    cases.push_back(one);
  }

  run_with_threads(GetParam(), [&](auto& group) {
    for (Case& one : cases) {
      one.returned[static_cast<std::size_t>(group.rank())] = select(
          group, static_cast<std::int32_t>(one.kept.size()), [&](std::int32_t i) { return one.kept[static_cast<std::size_t>(i)] != 0; },
          [&](std::int32_t i, std::int32_t at) { one.got[static_cast<std::size_t>(at)] = i; });
    }
  });

  for (const Case& one : cases) {
    std::vector<std::int32_t> expected;
    for (std::size_t i = 0; i < one.kept.size(); ++i) {
      if (one.kept[i] != 0) expected.push_back(static_cast<std::int32_t>(i));
    }
    EXPECT_EQ(one.returned, std::vector(one.returned.size(), static_cast<std::int32_t>(expected.size())));
    expected.resize(one.kept.size(), -1);
    EXPECT_EQ(one.got, expected) << one.kept.size() << " elements";
  }
}

}  // namespace
}  // namespace berth::kernel::sort_test
