// Gavel's physical workloads replayed, compared with the simulations in its paper: docs/validation.md.
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/io/traces/importers.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/traces.hpp"

namespace berth::sim::gavel_figures_test {
namespace {

SimulationFigures in_rounds(const char* workload, const char* policy) {
  const io::Imported imported =
      io::import_files("gavel", {test::trace_file(workload), test::trace_file("gavel/physical_cluster_throughputs.json.gz")});
  SimulationSettings settings;
  settings.request.policy = policy;
  settings.round_us = 360 * kSecond;
  FiguresOf figures;
  const SimulationTotals totals = simulate(imported.trace, io::cluster_from("2x4xV100+4x4xP100+6x4xK80", imported), settings,
                                           [&](const JobOutcome& job) { figures.add(job); });
  return figures.finish(totals);
}

}  // namespace

TEST(GavelFigures, OfTheContinuousAndTheStaticWorkloadAreReproduced) {
  const char *continuous = "gavel/physical_max_min_fairness.trace", *fixed = "gavel/physical_minimize_makespan.trace";
  if (test::trace_file(continuous).empty()) GTEST_SKIP() << "the workloads of Gavel are not here";

  const SimulationFigures las = in_rounds(continuous, "gavel-las"), makespan = in_rounds(fixed, "gavel-makespan");

  EXPECT_EQ(las.completed, 96);
  EXPECT_EQ(makespan.completed, 100);
  const TimeUs hour = 3'600 * kSecond;
  EXPECT_LE(std::abs(las.jct_us.mean * 100 - 370 * hour), 370 * hour / 20);           // 3.7 h
  EXPECT_LE(std::abs(makespan.makespan_us * 100 - 1'760 * hour), 1'760 * hour / 20);  // 17.6 h
  EXPECT_LT(las.jct_us.mean, in_rounds(continuous, "fifo").jct_us.mean);
  EXPECT_LT(makespan.makespan_us, in_rounds(fixed, "gavel-las").makespan_us);
}

}  // namespace berth::sim::gavel_figures_test
