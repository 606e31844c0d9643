// Pollux's workloads replayed, compared with the mean JCTs of Pollux's published simulations. docs/validation.md states
// how far each may differ, and why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "host/core/base/split.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/measures/fairness.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/traces.hpp"

namespace berth::sim::pollux_figures_test {
namespace {

namespace fs = std::filesystem;

Trace pollux_workload(const char* format, int number) {
  const fs::path root = fs::path(test::trace_file("pollux/published_results.csv")).parent_path();
  std::vector<std::string> files{root / "workloads" / fmt::format("workload-{}.csv", number)};
  for (const auto& entry : fs::recursive_directory_iterator(root / "traces")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return io::import_trace(format, files);
}

struct JctAndRho {
  Distribution jct_us, rho_ppm;
};

/// Settings of Pollux's simulations: decisions each minute, and 30 s for every start and every change.
JctAndRho replayed(const Trace& trace, const std::string& policy, const std::vector<std::pair<std::string, std::string>>& params,
                   bool elastic, const char* estimates) {
  SimulationSettings settings;
  settings.estimates = estimates;
  settings.request.policy = policy;
  settings.request.params = params;
  settings.overheads = named_overheads("default");
  settings.overheads.general.start_us = 30 * kSecond;
  settings.round_us = 60 * kSecond;
  settings.elastic = elastic;
  FiguresOf figures;
  FairnessOf fairness(64);
  const SimulationTotals totals = simulate(trace, io::cluster_from("16x4xT4", {}), settings, [&](const JobOutcome& job) {
    figures.add(job);
    fairness.add(job);
  });
  const SimulationFigures came_to = figures.finish(totals);
  EXPECT_EQ(came_to.completed, 160);
  return {came_to.jct_us, fairness.finish().rho_ppm};
}

TimeUs mean_jct(const Trace& trace, const std::string& policy, const std::vector<std::pair<std::string, std::string>>& params,
                bool elastic) {
  return replayed(trace, policy, params, elastic, "oracle").jct_us.mean;
}

/// In seconds, rounded down, by policy and number of the workload.
std::map<std::pair<std::string, int>, std::int64_t> published_means() {
  std::map<std::pair<std::string, int>, std::int64_t> means;
  std::ifstream file(test::trace_file("pollux/published_results.csv"));
  for (std::string line; std::getline(file, line);) {
    const auto parts = core::split(line, ',');
    const auto mean = parts.size() == 4 ? core::parse_whole(core::split(parts[3], '.')[0], INT64_MAX) : std::nullopt;
    if (!mean) continue;
    const std::string experiment(parts[0]);
    for (const char* policy : {"tiresias", "optimus", "pollux"}) {
      if (experiment == fmt::format("results-jobload/{}-1.0", policy)) means[{policy, parts[1].back() - '0'}] = *mean;
    }
  }
  return means;
}

/// Our value differs by at most this many parts per thousand.
void expect_near(TimeUs ours, std::int64_t theirs, std::int64_t most) {
  EXPECT_LE(std::abs(ours / kSecond - theirs) * 1'000, most * theirs) << ours / kSecond << " s, published " << theirs;
}

}  // namespace

TEST(PolluxFigures, AreReproducedByWorkCountedAsTheirs) {
  const auto published = published_means();
  if (published.size() != 12) GTEST_SKIP() << "the workloads of Pollux are not here";
  for (int workload = 1; workload <= 4; ++workload) {
    SCOPED_TRACE(workload);
    const Trace fixed = pollux_workload("pollux-progress", workload), free = pollux_workload("pollux-epochs", workload);

    const TimeUs tiresias = mean_jct(fixed, "tiresias", {{"thresholds_gpu_s", "57600"}}, false);
    const TimeUs optimus = mean_jct(fixed, "optimus", {}, true);
    // A fortieth of Pollux's search, which takes 20 s.
    const TimeUs pollux = mean_jct(free, "elastic-pollux", {{"population", "25"}, {"generations", "10"}}, true);

    expect_near(tiresias, published.at({"tiresias", workload}), 50);
    expect_near(optimus, published.at({"optimus", workload}), 50);
    expect_near(pollux, published.at({"pollux", workload}), 75);
    EXPECT_LT(pollux, tiresias);
    EXPECT_LT(tiresias, optimus);
  }
}

// Pollux's Tiresias takes the emptiest nodes first and has queues by entry.
TEST(PolluxFigures, TiresiasInTheirFormIsWithinThreePerCent) {
  const auto published = published_means();
  if (published.size() != 12) GTEST_SKIP() << "the workloads of Pollux are not here";
  for (int workload = 1; workload <= 4; ++workload) {
    SCOPED_TRACE(workload);
    const TimeUs ours = mean_jct(pollux_workload("pollux-progress", workload), "las",
                                 {{"thresholds_gpu_s", "57600"}, {"queue_order", "entry"}, {"packing", "emptiest"}}, false);

    expect_near(ours, published.at({"tiresias", workload}), 30);
  }
}

// Steps counted at a large batch are fewer than the statistics predict.
TEST(PolluxFigures, WorkAsItWasCountedIsLess) {
  const auto published = published_means();
  if (published.size() != 12) GTEST_SKIP() << "the workloads of Pollux are not here";
  for (int workload = 1; workload <= 4; ++workload) {
    SCOPED_TRACE(workload);
    const TimeUs counted = mean_jct(pollux_workload("pollux", workload), "tiresias", {{"thresholds_gpu_s", "57600"}}, false);

    EXPECT_LT(counted / kSecond, published.at({"tiresias", workload}));
    expect_near(counted, published.at({"tiresias", workload}), 150);
  }
}

// Means of the four workloads, with the defaults of `price`. A low mean must not starve large jobs: the 99th percentiles of JCT and rho
// with oracle estimates are at most 1.1 times those that `price` had with the objective goodput, 36,724 s and 2.94.
TEST(PolluxFigures, PriceStaysBelowItsBounds) {
  if (published_means().size() != 12) GTEST_SKIP() << "the workloads of Pollux are not here";
  std::map<std::string, TimeUs> sums{{"oracle", 0}, {"noise:50", 0}, {"rolling", 0}, {"none", 0}};
  std::int64_t p99_jct_us = 0, p99_rho_ppm = 0;
  for (int workload = 1; workload <= 4; ++workload) {
    const Trace trace = pollux_workload("pollux-epochs", workload);
    for (auto& [estimates, sum] : sums) {
      const JctAndRho here = replayed(trace, "price", {}, true, estimates.c_str());
      sum += here.jct_us.mean;
      if (estimates == "oracle") p99_jct_us += here.jct_us.p99;
      if (estimates == "oracle") p99_rho_ppm += here.rho_ppm.p99;
    }
  }
  const std::map<std::string, std::int64_t> bounds{{"oracle", 2'000}, {"noise:50", 2'100}, {"rolling", 2'350}, {"none", 2'350}};
  for (const auto& [estimates, sum] : sums) EXPECT_LE(sum / 4, bounds.at(estimates) * kSecond) << estimates;
  EXPECT_LE(p99_jct_us / 4, 36'724 * kSecond / 10 * 11);
  EXPECT_LE(p99_rho_ppm / 4, 2'940'000 / 10 * 11);
}

// A queue policy gives an elastic job the shape that it asks for.
TEST(PolluxFigures, ElasticTiresiasEqualsRigidTiresias) {
  if (published_means().size() != 12) GTEST_SKIP() << "the workloads of Pollux are not here";
  for (int workload = 1; workload <= 4; ++workload) {
    const Trace trace = pollux_workload("pollux-epochs", workload);
    EXPECT_EQ(mean_jct(trace, "tiresias", {}, true), mean_jct(trace, "tiresias", {}, false)) << workload;
  }
}

}  // namespace berth::sim::pollux_figures_test
