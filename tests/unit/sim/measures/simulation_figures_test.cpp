#include <gtest/gtest.h>

#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/measures/deadlines.hpp"
#include "host/sim/measures/fairness.hpp"
#include "host/sim/measures/groups.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulation_figures_test {
namespace {

struct Measured {
  SimulationFigures figures;
  Fairness fairness;
  Deadlines deadlines;
  std::vector<GroupFigures> groups;
};

SimulationSettings ruled_by(const std::string& policy, const std::string& packing) {
  SimulationSettings settings;
  settings.request.policy = policy;
  settings.request.params = {{"packing", packing}};
  return settings;
}

Measured measure(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings, GroupBy by = GroupBy::kUser) {
  FiguresOf figures;
  FairnessOf fairness(working_gpus(cluster));
  DeadlinesOf deadlines;
  GroupsOf groups(by);
  const SimulationTotals totals = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    figures.add(one);
    fairness.add(one);
    deadlines.add(one);
    groups.add(one);
  });
  return {figures.finish(totals), fairness.finish(), deadlines.finish(totals), groups.finish()};
}

constexpr const char* kBothWays[] = {"count", "consolidate"};  // by counts, and with plans

}  // namespace

TEST(SimulationFigures, ARejectedJobDoesNotStretchTheMakespan) {
  const Trace trace = trace_of({job("a", 0, 10, 4), job("z", 100, 10, 9)});
  for (const char* packing : kBothWays) {
    const Measured got = measure(trace, io::uniform_cluster(2, 4), ruled_by("fifo", packing));

    EXPECT_EQ(got.figures.rejected, 1) << packing;
    EXPECT_EQ(got.figures.makespan_us, 10 * kSecond) << packing;
    EXPECT_EQ(got.figures.gpu_utilisation_ppm, 500'000) << packing;
  }
}

TEST(SimulationFigures, AnInterruptedRunEndsWhereItStopped) {
  const Trace trace = trace_of({job("a", 5, 10, 2), job("b", 8, 10, 4)});
  SimulationSettings settings = ruled_by("fifo", "consolidate");
  int asked = 0;
  settings.interrupted = [&] { return ++asked > 2; };

  const Measured got = measure(trace, io::uniform_cluster(1, 4), settings);

  EXPECT_EQ(got.figures.unfinished, 2);
  EXPECT_EQ(got.figures.makespan_us, 3 * kSecond);
  EXPECT_EQ(got.figures.gpu_utilisation_ppm, 500'000);
  for (const char* packing : kBothWays) {
    SimulationSettings at_once = ruled_by("fifo", packing);
    at_once.interrupted = [] { return true; };
    EXPECT_EQ(measure(trace, io::uniform_cluster(1, 4), at_once).figures.makespan_us, 0) << packing;
  }
}

TEST(SimulationFigures, ARunStopsAfterItsDecisions) {
  std::vector<TraceJob> jobs;
  for (int j = 0; j < 50; ++j) jobs.push_back(job("j" + std::to_string(100 + j), 10 * j, 10'000, 1));
  const Trace trace = trace_of(std::move(jobs));
  for (const char* packing : kBothWays) {
    SimulationSettings settings = ruled_by("fifo", packing);
    settings.most_decisions = 20;
    std::int64_t ended = 0;
    const SimulationTotals totals = simulate(trace, io::uniform_cluster(8, 8), settings, [&](const JobOutcome&) { ++ended; });
    EXPECT_TRUE(totals.interrupted) << packing;
    EXPECT_EQ(totals.decisions, 20) << packing;
    EXPECT_EQ(ended, 20) << packing << ": jobs that have come are unfinished";
    settings.most_decisions = 1000;
    EXPECT_FALSE(simulate(trace, io::uniform_cluster(8, 8), settings, [](const JobOutcome&) {}).interrupted) << packing;
  }
}

// On GPUs 0..4 a has 0 and c 1 to 3 when d arrives and takes 0 to 2: a moves to 3, c starts again when d has ended.
TEST(SimulationFigures, LostGpuTimeIsReportedByItsCause) {
  const Trace trace = trace_of({job("a", 0, 1'000, 1), job("c", 1, 500, 3), job("d", 2, 10, 3)});
  for (const char* packing : kBothWays) {
    SimulationSettings settings = ruled_by("srtf", packing);
    settings.overheads = named_overheads("default");
    const SimulationFigures got = measure(trace, io::uniform_cluster(1, 5), settings).figures;

    EXPECT_EQ(got.moves, 1) << packing;
    EXPECT_TRUE(got.lost_gpu_us[static_cast<int>(Loss::kMove)] == 30 * kSecond) << packing;
    EXPECT_TRUE(got.lost_gpu_us[static_cast<int>(Loss::kRestart)] == 90 * kSecond) << packing;
    EXPECT_EQ(got.effective_ppm, 2'530 * 1'000'000LL / 2'650) << packing;  // 1,000 + 1,500 + 30 of work
    EXPECT_EQ(got.makespan_us, 1'030 * kSecond) << packing;
    EXPECT_EQ(got.goodput_ppm, 2'530 * 1'000'000LL / (5 * 1'030)) << packing;
  }
}

// a: two jobs were present all the time; with half a GPU each it would have taken 20 s. b: three halves of a job on
// average, 15 s.
TEST(SimulationFigures, FinishTimeFairnessIsAgainstAShareOfTheCluster) {
  const Measured got = measure(trace_of({job("a", 0, 10, 1), job("b", 0, 10, 1)}), io::uniform_cluster(1, 1), ruled_by("fifo", "count"));

  EXPECT_EQ(got.fairness.rho_ppm.p50, 500'000);
  EXPECT_EQ(got.fairness.rho_ppm.max, 1'333'333);
  EXPECT_EQ(got.fairness.jain_ppm, 828'767);  // (2 + 3/4)^2 / (2 (4 + 9/16))
}

TEST(SimulationFigures, AJobThatItsShareHoldsRunsItsRunTimeAlone) {
  const Measured got = measure(trace_of({job("a", 0, 10, 1), job("b", 0, 10, 1)}), io::uniform_cluster(1, 4), ruled_by("fifo", "count"));

  EXPECT_EQ(got.fairness.rho_ppm.max, 1'000'000);
  EXPECT_EQ(got.fairness.jain_ppm, 1'000'000);
}

// z is present for no time, d from 4 s on: a sees (10 + 6) / 10 jobs on 2 GPUs, and requests both.
TEST(SimulationFigures, WaitingJobsCountAsThereToo) {
  const Measured got =
      measure(trace_of({job("a", 0, 10, 2), job("z", 2, 10, 9), job("d", 4, 10, 2)}), io::uniform_cluster(1, 2), ruled_by("fifo", "count"));

  EXPECT_EQ(got.fairness.rho_ppm.p50, 10 * 1'000'000 / 16);
  EXPECT_EQ(got.fairness.rho_ppm.max, 16LL * 1'000'000 * 16 / (10 * (12 + 10)));
}

TEST(SimulationFigures, MissedDeadlinesAreCounted) {
  std::vector<TraceJob> jobs{job("a", 0, 10, 1), job("b", 0, 10, 1), job("c", 0, 10, 1), job("d", 0, 10, 3)};
  jobs[0].deadline_us = 10 * kSecond;
  jobs[1].deadline_us = 20 * kSecond - 1;
  jobs[2].deadline_us = 20 * kSecond;
  jobs[2].deadline_hard = true;
  jobs[3].deadline_us = 100 * kSecond;
  const Deadlines got = measure(trace_of(jobs), io::uniform_cluster(1, 1), ruled_by("fifo", "consolidate")).deadlines;

  EXPECT_EQ(got.soft, 3);
  EXPECT_EQ(got.soft_missed, 2) << "b is late, and d never fits";
  EXPECT_EQ(got.hard, 1);
  EXPECT_EQ(got.hard_missed, 1);
}

TEST(SimulationFigures, AnInterruptedRunMissesOnlyWhatItHasPassed) {
  std::vector<TraceJob> jobs{job("a", 0, 10, 1), job("b", 0, 10, 1)};
  jobs[0].deadline_us = 4 * kSecond;
  jobs[1].deadline_us = 5 * kSecond;
  const Trace trace = trace_of(jobs);
  for (const bool interrupted : {false, true}) {
    DeadlinesOf deadlines;
    for (const TraceJob& traced : trace.jobs) {
      JobOutcome one;
      one.traced = &traced;
      deadlines.add(one);
    }
    SimulationTotals totals;
    totals.interrupted = interrupted;
    totals.last_end_us = 5 * kSecond;

    EXPECT_EQ(deadlines.finish(totals).soft_missed, interrupted ? 1 : 2);
  }
}

TEST(SimulationFigures, GroupsAreByNameOrBySize) {
  const Trace trace = trace_of({job("a", 0, 10, 8, "u"), job("b", 0, 10, 33, "v"), job("c", 1, 20, 8, "v"), job("d", 2, 30, 5, "u")});
  const Snapshot cluster = io::uniform_cluster(1, 8);

  const std::vector<GroupFigures> users = measure(trace, cluster, ruled_by("fifo", "count")).groups;
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0].name, "u");
  EXPECT_EQ(users[0].jobs, 2);
  EXPECT_EQ(users[0].jct_us.mean, (10 + 58) * kSecond / 2);
  EXPECT_EQ(users[0].mean_wait_us, 14 * kSecond);
  EXPECT_TRUE(users[0].gpu_us == (80 + 150) * kSecond);
  EXPECT_EQ(users[1].rejected, 1);
  EXPECT_EQ(users[1].completed, 1);
  EXPECT_EQ(users[1].jct_us.p99, 29 * kSecond);
  const std::vector<GroupFigures> sizes = measure(trace, cluster, ruled_by("fifo", "count"), GroupBy::kSize).groups;
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].name, "5-8");
  EXPECT_EQ(sizes[0].completed, 3);
  EXPECT_EQ(sizes[1].name, "33+");
  EXPECT_EQ(measure(trace, cluster, ruled_by("fifo", "count"), GroupBy::kVirtualCluster).groups.at(0).name, "");
}

}  // namespace berth::sim::simulation_figures_test
