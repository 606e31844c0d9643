#include "host/sim/base/spread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/sim/base/random.hpp"

namespace berth::sim::spread_test {

TEST(Spread, OfFewValuesIsExact) {
  SpreadOf of;
  for (std::int64_t v = 101; v > 0; --v) of.add(10 * v);

  const Distribution spread = of.finish();

  EXPECT_EQ(spread.mean, 510);
  EXPECT_EQ(spread.p50, 510);
  EXPECT_EQ(spread.p90, 910);
  EXPECT_EQ(spread.p99, 1'000);
  EXPECT_EQ(spread.max, 1'010);
  EXPECT_EQ(SpreadOf().finish().max, 0);
}

// The number of values that are counted by class and also kept, spread over all magnitudes or much alike.
TEST(Spread, OfMoreValuesIsExactToo) {
  for (const std::uint64_t n : {16'383u, 16'384u, 100'000u}) {
    for (const std::uint32_t alike : {1u, 5u, 1'000'000u}) {
      SpreadOf of;
      std::vector<std::int64_t> values;
      for (std::uint64_t i = 0; i < n; ++i) {
        ItemDraws draws(alike, RandomStream::kJob, i);
        const std::int64_t any = ((std::int64_t{draws.next()} << 30) | draws.next()) >> draws.below(62);
        values.push_back(alike == 1 ? any : std::int64_t{1} << 40 | draws.below(alike));
        of.add(values.back());
      }
      std::sort(values.begin(), values.end());

      const Distribution spread = of.finish();

      EXPECT_EQ(spread.max, values.back());
      for (const auto& [percent, got] : {std::pair{50u, spread.p50}, {90u, spread.p90}, {99u, spread.p99}}) {
        EXPECT_EQ(got, values[(percent * n + 99) / 100 - 1]) << n << " values, percentile " << percent;
      }
    }
  }
}

// Values over all magnitudes, more than are kept: percentiles are at most a thousandth too small, everything else is
// exact.
TEST(Spread, OfManyValuesIsNearlyExact) {
  SpreadOf of;
  std::vector<std::int64_t> values;
  __int128 sum = 0;
  for (std::uint64_t i = 0; i < SpreadOf::kExact + 200'000; ++i) {
    ItemDraws draws(1, RandomStream::kJob, i);
    values.push_back(((std::int64_t{draws.next()} << 30) | draws.next()) >> draws.below(62));
    of.add(values.back());
    sum += values.back();
  }
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());

  const Distribution spread = of.finish();

  EXPECT_EQ(spread.mean, static_cast<std::int64_t>(sum / n));
  EXPECT_EQ(spread.max, values.back());
  for (const auto& [percent, got] : {std::pair{50, spread.p50}, {90, spread.p90}, {99, spread.p99}}) {
    const std::int64_t want = values[static_cast<std::size_t>((percent * n + 99) / 100 - 1)];
    EXPECT_LE(got, want) << percent;
    EXPECT_GE(got, want - want / 1'000) << percent;
  }
}

}  // namespace berth::sim::spread_test
