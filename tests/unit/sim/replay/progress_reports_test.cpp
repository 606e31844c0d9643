// Reports of jobs about their epochs during a simulation.
#include "host/sim/replay/progress_reports.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::progress_reports_test {
namespace {

// 100 s are 20 epochs of 1,000 samples.
TraceJob trained(const std::string& id, std::int64_t submit_s) {
  TraceJob one = job(id, submit_s, 100, 4);
  one.model = "m";
  one.epochs_micro = 20'000'000;
  one.dataset_size = 1'000;
  return one;
}

Progress report(const std::string& name, std::int64_t done_s, std::int64_t place = 0, std::int64_t epochs = 20) {
  TraceJob one = trained("a", 0);
  one.epochs_micro = epochs * 1'000'000;
  one.run_us = epochs * 5 * kSecond;
  Progress progress;
  ProgressReports(name, 7).put(progress, one, place, done_s * kSecond, one.run_us);
  return progress;
}

/// The reported progress of the first job at each decision, under `fifo`.
struct Told {
  TimeUs at_s;
  std::int64_t epochs_micro, samples;
  bool operator==(const Told&) const = default;
};

std::vector<Told> told(const Trace& trace, SimulationSettings settings, const Snapshot& cluster = io::uniform_cluster(1, 4)) {
  std::vector<Told> all;
  Engine engine;
  PolicyState memory;
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>&) {
    Request fifo;
    fifo.policy = "fifo";
    engine.decide(state, memory, fifo, plan);
    const std::int32_t job = state.find_job("a");
    if (job < 0) return;
    const Progress& progress = state.job(job)->progress;
    EXPECT_EQ(progress.work_total, 0);
    all.push_back({state.now() / kSecond, progress.epochs_done_micro, progress.samples_done});
  };
  settings.estimates = "none";
  simulate(trace, cluster, settings, [](const JobOutcome&) {});
  return all;
}

}  // namespace

TEST(ProgressReports, EpochsAndSamplesAreExact) {
  const Progress progress = report("epochs", 33);

  EXPECT_EQ(progress.epochs_done_micro, 6'600'000);
  EXPECT_EQ(progress.samples_done, 6'600);
  EXPECT_EQ(progress.dataset_size, 1'000);
  EXPECT_EQ(progress.initial_loss_micro, 0);
  EXPECT_EQ(progress.loss_micro, 0);
  EXPECT_EQ(progress.accuracy_ppm, 0);
}

// 100 s: two epochs in the first 20 s, three in the next 60 s, and one in the last 20 s.
TEST(ProgressReports, EpochsOfAPhaseAreThoseThatItStates) {
  TraceJob one = trained("a", 0);
  one.epochs_micro = 6'000'000;
  one.work = 1'000;
  one.profile = "p";
  one.phases = {{200, "p", 0, 2'000'000}, {800, "p", 0, 5'000'000}};
  const auto epochs_after = [&](std::int64_t done, std::int64_t work) {
    Progress progress;
    ProgressReports("epochs", 7).put(progress, one, 0, done, work);
    EXPECT_EQ(progress.samples_done, progress.epochs_done_micro / 1'000);
    return progress.epochs_done_micro;
  };

  for (const auto& [done, epochs] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                                                       {50, 500'000},
                                                                                       {199, 1'990'000},
                                                                                       {200, 2'000'000},
                                                                                       {201, 2'005'000},
                                                                                       {700, 4'500'000},
                                                                                       {800, 5'000'000},
                                                                                       {1'000, 6'000'000}}) {
    EXPECT_EQ(epochs_after(done, 1'000), epochs) << done;
  }
  EXPECT_EQ(epochs_after(70 * kSecond, 100 * kSecond), 4'500'000) << "where it works by time";
}

TEST(ProgressReports, LossesFallAlongAHyperbolaByWholeEpochs) {
  const std::int64_t first = report("noise:0", 0).initial_loss_micro;
  EXPECT_GE(first, 2'000'000);
  EXPECT_LE(first, 10'000'000);
  EXPECT_EQ(report("noise:0", 4).loss_micro, first) << "before the end of the first epoch";
  EXPECT_EQ(report("noise:0", 5).loss_micro, report("noise:0", 9).loss_micro);
  std::int64_t last = first, best = 0;
  for (std::int64_t epoch = 1; epoch <= 20; ++epoch) {
    const Progress progress = report("noise:0", 5 * epoch);
    EXPECT_LT(progress.loss_micro, last);
    EXPECT_GT(progress.accuracy_ppm, best);
    last = progress.loss_micro;
    best = progress.accuracy_ppm;
  }
  EXPECT_GT(last, first / 20) << "a part of it stays";
  EXPECT_LT(best, 980'000);
}

TEST(ProgressReports, HowManyEpochsThereAreShowsInNothing) {
  for (const char* name : {"epochs", "noise:0", "noise:30"}) EXPECT_EQ(report(name, 35, 3, 8), report(name, 35, 3, 1'000)) << name;
}

TEST(ProgressReports, NoiseIsOfTheJobAndTheEpochAndStaysWithinItsBounds) {
  const std::int64_t exact = report("noise:0", 50).loss_micro;
  std::int64_t least = INT64_MAX, most = 0;
  for (std::int64_t place = 0; place < 1'000; ++place) {
    const std::int64_t loss = report("noise:20", 50, place).loss_micro;
    EXPECT_EQ(loss, report("noise:20", 53, place).loss_micro);
    least = std::min(least, loss);
    most = std::max(most, loss);
  }
  EXPECT_GE(least * 10, exact * 8 - 10);
  EXPECT_LT(least * 100, exact * 81);
  EXPECT_LE(most * 10, exact * 12);
  EXPECT_GT(most * 100, exact * 119);
  EXPECT_NE(report("noise:20", 50).loss_micro, report("noise:20", 55).loss_micro);
}

TEST(ProgressReports, AreMadeAtDecisions) {
  const Trace trace = trace_of({trained("a", 0), job("b", 33, 1, 1), job("c", 50, 1, 1)});

  EXPECT_EQ(told(trace, {}), (std::vector<Told>{{0, 0, 0}, {33, 6'600'000, 6'600}, {50, 10'000'000, 10'000}}));
  SimulationSettings none;
  none.progress = "none";
  EXPECT_EQ(told(trace, none), (std::vector<Told>{{0, 0, 0}, {33, 0, 0}, {50, 0, 0}}));
}

// Saved at 30 s; the node fails at 47 s, and is back at 60 s.
TEST(ProgressReports, AFailureTakesThemBack) {
  Snapshot cluster = io::uniform_cluster(1, 4);
  SimulationSettings settings;
  settings.overheads.general.costs.checkpoint_every_us = 30 * kSecond;
  ClusterEvent fails;
  fails.at_us = 47 * kSecond;
  fails.what = ClusterEvent::What::kFail;
  fails.node = cluster.nodes[0].id;
  fails.until_us = 60 * kSecond;
  settings.events.events = {fails};

  const std::vector<Told> all = told(trace_of({trained("a", 0), job("b", 40, 1, 4)}), settings, cluster);

  EXPECT_EQ(all.at(1), (Told{40, 8'000'000, 8'000}));
  EXPECT_EQ(all.at(2), (Told{47, 6'000'000, 6'000}));
  EXPECT_EQ(all.at(3), (Told{60, 6'000'000, 6'000}));
}

TEST(ProgressReports, OtherNamesAreRefused) {
  const auto problem = [](const char* name) {
    try {
      ProgressReports(name, 0);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(problem("much"), "unknown progress 'much'; known: none, epochs, noise:P");
  EXPECT_EQ(problem("noise:101"), "progress 'noise:101': P of noise:P is a whole number of per cent from 0 to 100");
}

}  // namespace berth::sim::progress_reports_test
