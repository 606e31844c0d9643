// Muri's traces replayed, compared with the figures that Muri published. docs/validation.md states how far each figure
// may differ, and why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/muri_traces.hpp"

namespace berth::sim::muri_figures_test {
namespace {

SimulationFigures replayed(const std::string& trace, const std::string& policy, const char* packing) {
  return test::muri_simulated(trace, policy, {{"packing", packing}}, "default");
}

}  // namespace

TEST(MuriFigures, AreReproducedAsFarAsTheirRulesAreKnown) {
  if (!test::has_muri()) GTEST_SKIP() << "the traces of Muri are not here";
  struct Row {
    const char *policy, *theirs, *trace;
    std::int64_t mean, p99, makespan;  // parts per thousand in either direction
  };
  // The replica explains the gaps (tests/replicas). In trace3 ten jobs are the last per cent, and 1 % of noise moves
  // them by 15 %. Muri's Themis is a program of Gavel's.
  const std::vector<Row> rows{{"srtf", "SRTF", "trace1", 50, 50, 25},
                              {"srtf", "SRTF", "trace1_pr", 50, 50, 25},
                              {"srtf", "SRTF", "trace3", 75, 75, 1},
                              {"srsf", "SRSF", "trace1", 50, 50, 25},
                              {"srsf", "SRSF", "trace1_pr", 50, 50, 25},
                              {"srsf", "SRSF", "trace3", 75, 200, 1},
                              {"tiresias", "Tiresias_L", "trace1", 500, 150, 25},
                              {"tiresias", "Tiresias_L", "trace1_pr", 150, 100, 125},
                              {"tiresias", "Tiresias_L", "trace3", 125, 800, 1},
                              {"gavel-ftf", "themis", "trace1", 75, 50, 25},
                              {"gavel-ftf", "themis", "trace1_pr", 125, 50, 25},
                              {"gavel-ftf", "themis", "trace3", 25, 75, 1}};
  const auto figures = test::muri_published();
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{}, {}", row.policy, row.trace));
    const SimulationFigures ours = replayed(row.trace, row.policy, "topology");
    EXPECT_EQ(ours.completed, std::string(row.trace) == "trace3" ? 992 : 1'494);
    const auto within = [&](const char* metric, TimeUs time, std::int64_t most) {
      const double theirs = figures.at(fmt::format("{},{},{}", row.theirs, metric, row.trace));
      const double ours_s = static_cast<double>(time) / kSecond;
      EXPECT_LE(std::abs(ours_s - theirs) * 1'000, static_cast<double>(most) * theirs)
          << metric << ": " << ours_s << " s, published " << theirs;
    };
    within("avg_jct", ours.jct_us.mean, row.mean);
    within("p99_jct", ours.jct_us.p99, row.p99);
    within("makespan", ours.makespan_us, row.makespan);
  }
}

// All jobs of trace1_pr come at once, and theirs stand in the order of the file: docs/validation.md.
TEST(MuriFigures, TiresiasWithRunningJobsFirstIsWithinSixPerCent) {
  if (!test::has_muri()) GTEST_SKIP() << "the traces of Muri are not here";
  const auto figures = test::muri_published();
  for (const char* trace : {"trace1", "trace3"}) {
    SCOPED_TRACE(trace);
    const SimulationFigures ours = test::muri_simulated(
        trace, "las", {{"thresholds_gpu_s", "3250,7200"}, {"queue_order", "running"}, {"packing", "count"}}, "default");
    for (const auto& [metric, time] :
         {std::pair{"avg_jct", ours.jct_us.mean}, {"p99_jct", ours.jct_us.p99}, {"makespan", ours.makespan_us}}) {
      const double theirs = figures.at(fmt::format("Tiresias_L,{},{}", metric, trace)), ours_s = static_cast<double>(time) / kSecond;
      EXPECT_LE(std::abs(ours_s - theirs), 0.06 * theirs) << metric << ": " << ours_s << " s, published " << theirs;
    }
  }
}

TEST(MuriFigures, PoliciesStandInThePublishedOrder) {
  if (!test::has_muri()) GTEST_SKIP() << "the traces of Muri are not here";
  for (const char* trace : test::kMuriTraces) {
    const TimeUs srsf = replayed(trace, "srsf", "count").jct_us.mean, srtf = replayed(trace, "srtf", "count").jct_us.mean;
    EXPECT_LT(srsf, srtf) << trace;
    EXPECT_LT(srtf, replayed(trace, "tiresias", "topology").jct_us.mean) << trace;
  }
  EXPECT_LT(replayed("trace3", "srtf", "count").jct_us.mean, replayed("trace3", "gavel-ftf", "topology").jct_us.mean);
}

}  // namespace berth::sim::muri_figures_test
