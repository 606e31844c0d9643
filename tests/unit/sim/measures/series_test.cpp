#include "host/sim/measures/series.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::series_test {
namespace {

std::string text_of(const Series& series) {
  std::string text;
  for (const Sample& one : series.samples())
    text += fmt::format("{}-{}: {}\n", one.from_us / kSecond, one.until_us / kSecond, fmt::join(one.micro, " "));
  return text;
}

}  // namespace

// a has 4 + 2 GPUs until 10, b all 8 until 30, c 2 until 35. Of the three jobs two find no room on a node with 2 GPUs
// free.
TEST(Series, IsTheMeanOverEachInterval) {
  const Trace trace = trace_of({job("a", 0, 10, 6), job("b", 1, 20, 8), job("c", 2, 5, 2)});
  for (const char* packing : {"count", "consolidate"}) {
    Series series(facts_of(trace), 10 * kSecond);
    SimulationSettings settings;
    settings.request.policy = "fifo";
    settings.request.params = {{"packing", packing}};
    settings.series = &series;

    const SimulationTotals totals = simulate(trace, io::uniform_cluster(2, 4), settings, [](const JobOutcome&) {});
    series.finish(totals.last_end_us);

    EXPECT_EQ(text_of(series),
              "0-10: 6000000 2000000 1000000 1700000 8800000 1333332\n"
              "10-20: 8000000 0 1000000 1000000 2000000 0\n"
              "20-30: 8000000 0 1000000 1000000 2000000 0\n"
              "30-35: 2000000 6000000 1000000 0 0 1333332\n")
        << packing;
  }
}

TEST(Series, WidensItsIntervalsAsTheRunGoesOn) {
  Series series(facts_of(trace_of({})));
  series.level(3 * kSecond, {8, 0, 1, 0, 0, 0});
  series.level(1'003 * kSecond, {4, 0, 1, 0, 0, 0});
  EXPECT_EQ(series.samples().size(), 1'000U);
  series.level(1'006 * kSecond, {0, 0, 0, 0, 0, 0});
  series.finish(0);

  const std::vector<Sample> samples = series.samples();
  ASSERT_EQ(samples.size(), 201U);
  EXPECT_EQ(samples[199].from_us, 998 * kSecond);
  EXPECT_EQ(samples[199].micro[0], 8'000'000);
  EXPECT_EQ(samples[200].until_us, 1'006 * kSecond);
  EXPECT_EQ(samples[200].micro[0], 4'000'000);
}

TEST(Series, ALongGapNeedsNoMoreIntervals) {
  Series series(facts_of(trace_of({})));
  series.level(0, {3, 0, 1, 0, 0, 0});
  series.level(kMaxTimeUs, {0, 0, 0, 0, 0, 0});

  const std::vector<Sample> samples = series.samples();
  EXPECT_LE(samples.size(), static_cast<std::size_t>(Series::kMost));
  EXPECT_GE(samples.size(), static_cast<std::size_t>(Series::kMost) / 2);
  for (const Sample& one : samples) EXPECT_EQ(one.micro[0], 3'000'000);
  EXPECT_EQ(samples.back().until_us, kMaxTimeUs);
}

// A job that waits for ever does not make the series endless; an interrupted run has a series up to its stop.
TEST(Series, EndsWithTheLastChangeOrTheRun) {
  for (const TimeUs end : {TimeUs{4}, TimeUs{7}}) {
    Series series(facts_of(trace_of({})));
    series.level(0, {3, 0, 1, 1, 0, 0});
    series.level(5 * kSecond, {0, 0, 0, 1, 0, 0});
    series.level(6 * kSecond, {0, 0, 0, 1, 0, 0});
    series.finish(end * kSecond);

    EXPECT_EQ(series.samples().back().until_us, std::max<TimeUs>(5, end) * kSecond);
  }
}

TEST(Series, TheLastWordOnAnInstantCounts) {
  Series series(facts_of(trace_of({})));
  series.level(0, {3, 0, 1, 0, 0, 0});
  series.level(0, {5, 0, 1, 0, 0, 0});
  series.level(kSecond, {0, 0, 0, 0, 0, 0});

  EXPECT_EQ(series.samples().at(0).micro[0], 5'000'000);
}

TEST(Series, RefusesMorePointsThanItKeeps) {
  EXPECT_THROW(Series(facts_of(trace_of({})), -1), InvalidArgument);
  Series series(facts_of(trace_of({})), 1);
  series.level(0, {3, 0, 1, 0, 0, 0});
  series.level(Series::kMostAsked, {2, 0, 1, 0, 0, 0});
  EXPECT_THROW(series.level(Series::kMostAsked + 1, {3, 0, 1, 0, 0, 0}), InvalidArgument);
}

// Sizes 1, 2, 8, 80: with 2 GPUs free of 4, two of the four jobs find no room; a whole node can serve a part of any of
// them.
TEST(Fragmentation, IsWhatJobsOfTheTraceCannotUse) {
  const Fragmentation fragmentation(facts_of(trace_of({job("a", 0, 1, 1), job("b", 0, 1, 2), job("c", 0, 1, 8), job("d", 0, 1, 80)})));

  EXPECT_EQ(fragmentation.of(4, 0), 0);
  EXPECT_EQ(fragmentation.of(4, 1), 750'000);
  EXPECT_EQ(fragmentation.of(4, 2), 1'000'000);
  EXPECT_EQ(fragmentation.of(4, 3), 1'500'000);
  EXPECT_EQ(fragmentation.of(4, 4), 0);
  EXPECT_EQ(fragmentation.of(64, 63), 63 * 250'000);
  EXPECT_EQ(fragmentation.of(64, 64), 0);
}

}  // namespace berth::sim::series_test
