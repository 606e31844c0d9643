// Jobs when nodes and GPUs fail and return.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_failures_test {
namespace {

using What = ClusterEvent::What;

struct FailureRun {
  SimulationTotals totals;
  std::string rows;  // "id start-end failures/repairs/preemptions, lost GPU-seconds" in order of the end
};

FailureRun run_failing(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  FailureRun ran;
  ran.totals = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    const char* ends[] = {"", " rejected", " unfinished", " killed"};
    const auto seconds = [](TimeUs t) { return t == kNever ? std::string("?") : fmt::format("{}", t / kSecond); };
    ran.rows += fmt::format("{} {}-{}{} {}/{}/{} {}; ", one.traced->id, seconds(one.start_us), seconds(one.end_us),
                            ends[static_cast<int>(one.end)], one.failures, one.repairs, one.preemptions,
                            static_cast<TimeUs>(one.lost_gpu_us[static_cast<std::size_t>(Loss::kLostWork)]) / kSecond);
  });
  return ran;
}

ClusterEvent event(std::int64_t at_s, What what, const std::string& node, std::int64_t until_s = -1) {
  ClusterEvent one;
  one.at_us = at_s * kSecond;
  one.what = what;
  one.node = node;
  if (until_s >= 0) one.until_us = until_s * kSecond;
  return one;
}

// Node n0 has a, node n1 is free or has b.
struct TwoNodes {
  Snapshot cluster = io::uniform_cluster(2, 4);
  SimulationSettings settings;
  std::string n0 = cluster.nodes[0].id, n1 = cluster.nodes[1].id;
  TwoNodes() { settings.request.policy = "fifo"; }
};

}  // namespace

TEST(SimulatedFailures, AJobIsReplacedFromWhatIsFreeAndDoesItsUnsavedWorkAgain) {
  TwoNodes two;
  two.settings.events.events = {event(10, What::kFail, two.n0)};

  const FailureRun ran = run_failing(trace_of({job("a", 0, 100, 4)}), two.cluster, two.settings);

  EXPECT_EQ(ran.rows, "a 0-110 1/1/0 40; ");
  EXPECT_EQ(ran.totals.failures, 1);
  EXPECT_EQ(static_cast<TimeUs>(ran.totals.gpu_up_us), (8 * 10 + 4 * 100) * kSecond);
}

TEST(SimulatedFailures, CheckpointsKeepItsWorkAndRestartsCost) {
  TwoNodes two;
  two.settings.overheads.general.costs.checkpoint_every_us = 4 * kSecond;
  two.settings.overheads.general.costs.restart_us = 7 * kSecond;
  two.settings.events.events = {event(10, What::kFail, two.n0)};

  // 8 of 10 s are saved: 92 s from 17 s on.
  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4)}), two.cluster, two.settings).rows, "a 0-109 1/1/0 8; ");
}

TEST(SimulatedFailures, WithoutGpusInTheirPlaceItWaitsForTheRepair) {
  TwoNodes two;
  two.settings.events.events = {event(10, What::kFail, two.n0, 60)};

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4), job("b", 1, 100, 4)}), two.cluster, two.settings).rows,
            "b 1-101 0/0/0 0; a 0-160 1/0/1 40; ");
}

TEST(SimulatedFailures, SparesAreThereForIt) {
  TwoNodes two;
  two.cluster.nodes[1].state = NodeState::kSpare;
  two.settings.events.events = {event(10, What::kFail, two.n0)};

  // b finds no node that accepts new jobs.
  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4), job("b", 1, 100, 4)}), two.cluster, two.settings).rows,
            "a 0-110 1/1/0 40; b ?-? unfinished 0/0/0 0; ");
}

TEST(SimulatedFailures, OneGpuStrikesTheJobThatHasIt) {
  Snapshot cluster = io::uniform_cluster(1, 4);
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.events.events = {event(10, What::kFail, cluster.nodes[0].id)};
  settings.events.events[0].gpu = 3;

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 2), job("b", 0, 100, 2)}), cluster, settings).rows,
            "a 0-100 0/0/0 0; b 0-200 1/0/1 20; ");
}

TEST(SimulatedFailures, ADrainedNodeTakesNoNewJob) {
  TwoNodes two;
  two.settings.events.events = {event(10, What::kDrain, two.n0, 200)};

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4), job("b", 20, 50, 8)}), two.cluster, two.settings).rows,
            "a 0-100 0/0/0 0; b 200-250 0/0/0 0; ");
}

TEST(SimulatedFailures, AReclaimedNodeDrainsAndIsGoneAfterItsNotice) {
  TwoNodes two;
  ClusterEvent reclaim = event(10, What::kReclaim, two.n0, 300);
  reclaim.notice_us = 20 * kSecond;
  two.settings.events.events = {reclaim, event(0, What::kDrain, two.n1)};
  two.settings.overheads.general.costs.checkpoint_save_us = 20 * kSecond;

  // 30 s are saved during the notice; preempting a job that has lost its GPUs costs no save.
  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4), job("b", 15, 10, 4)}), two.cluster, two.settings).rows,
            "a 0-370 1/0/1 0; b 370-380 0/0/0 0; ");
}

TEST(SimulatedFailures, KilledJobsEndThere) {
  TwoNodes two;
  ClusterEvent kill = event(10, What::kKill, "");
  kill.job = "a";
  two.settings.events.events = {kill};

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 8), job("b", 1, 5, 8)}), two.cluster, two.settings).rows,
            "a 0-10 killed 0/0/0 0; b 10-15 0/0/0 0; ");
}

// The node is back before the next round decides: the job continues from its last checkpoint.
TEST(SimulatedFailures, WhatIsBackBeforeTheNextRoundIsUsedAgain) {
  TwoNodes two;
  two.settings.round_us = 60 * kSecond;
  two.settings.events.events = {event(70, What::kFail, two.n0, 80)};

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 100, 4)}), two.cluster, two.settings).rows, "a 0-220 1/0/0 280; ");
}

TEST(SimulatedFailures, GpusThatAreReleasedComeBack) {
  Snapshot cluster = io::uniform_cluster(1, 2);
  cluster.nodes[0].gpu_list = {{0, GpuState::kOk, kNever, -1}, {1, GpuState::kReleasing, 30 * kSecond, -1}};
  SimulationSettings settings;
  settings.request.policy = "fifo";

  const FailureRun ran = run_failing(trace_of({job("a", 0, 10, 2)}), cluster, settings);

  EXPECT_EQ(ran.rows, "a 30-40 0/0/0 0; ");
  EXPECT_EQ(static_cast<TimeUs>(ran.totals.gpu_up_us), (30 + 2 * 10) * kSecond);
}

TEST(SimulatedFailures, ASnapshotsTimesCountFromItsNow) {
  Snapshot cluster = io::uniform_cluster(1, 2);
  cluster.now_us = 1'000 * kSecond;
  cluster.nodes[0].available_from_us = 1'020 * kSecond;
  SimulationSettings settings;
  settings.request.policy = "fifo";

  EXPECT_EQ(run_failing(trace_of({job("a", 0, 10, 2)}), cluster, settings).rows, "a 20-30 0/0/0 0; ");
}

TEST(SimulatedFailures, RandomOnesComeAtTheirRateAndAreRepaired) {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", "greedy"}};
  settings.failures.node_us = 1'000 * kSecond;
  settings.failures.repair_us = 100 * kSecond;
  std::vector<TraceJob> jobs;
  for (int j = 0; j < 20; ++j) jobs.push_back(job(fmt::format("j{:02}", j), 0, 20'000, 1));
  settings.overheads.general.costs.checkpoint_every_us = 10 * kSecond;

  const FailureRun ran = run_failing(trace_of(jobs), io::uniform_cluster(30, 1), settings);

  // 30 nodes for about 20,000 s, up 10 of 11 seconds: 545 failures, give or take 23.
  const double expected = 30 * static_cast<double>(ran.totals.last_end_us) / 1.1e9;
  EXPECT_NEAR(static_cast<double>(ran.totals.failures), expected, 4 * std::sqrt(expected));
  const double up = static_cast<double>(ran.totals.gpu_up_us) / (30 * static_cast<double>(ran.totals.last_end_us));
  EXPECT_NEAR(up, 1 / 1.1, 0.03);
  EXPECT_EQ(run_failing(trace_of(jobs), io::uniform_cluster(30, 1), settings).rows, ran.rows) << "the same seed, the same run";
  settings.request.seed = 1;
  EXPECT_NE(run_failing(trace_of(jobs), io::uniform_cluster(30, 1), settings).rows, ran.rows);
}

// 3,600 GPU-seconds between crashes, 100 jobs of 4 GPUs that work 900 s: 1 crash each, and one more for repeated work.
// Meanwhile the other node's next failure comes due and is drawn again: time must not go back to it.
TEST(SimulatedFailures, WhatComesDueWhileAllWaitForARepairIsDrawnAgain) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TwoNodes two;
    two.settings.request.seed = seed;
    two.settings.failures.node_us = 100 * kSecond;
    two.settings.events.events = {event(1, What::kFail, two.n0, 500)};

    EXPECT_NO_THROW(run_failing(trace_of({job("a", 0, 20, 8)}), two.cluster, two.settings)) << seed;
  }
}

TEST(SimulatedFailures, JobsCrashByTheGpuTimeThatTheyHad) {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.failures.crash_gpu_us = 3'600 * kSecond;
  settings.overheads.general.costs.checkpoint_every_us = kSecond;
  std::vector<TraceJob> jobs;
  for (int j = 0; j < 400; ++j) jobs.push_back(job(fmt::format("j{:03}", j), 0, 900, 4));
  std::int64_t crashes = 0, gpu_s = 0;

  simulate(trace_of(jobs), io::uniform_cluster(400, 4), settings, [&](const JobOutcome& one) {
    crashes += one.failures;
    gpu_s += static_cast<std::int64_t>(one.gpu_us / kSecond);
    EXPECT_EQ(one.starts, 1 + one.failures);
    EXPECT_EQ(one.end, JobOutcome::End::kCompleted);
  });

  EXPECT_NEAR(static_cast<double>(crashes), static_cast<double>(gpu_s) / 3'600, 4 * 20);
}

TEST(SimulatedFailures, AnEventOfANodeThatIsNotThereIsRefused) {
  TwoNodes two;
  two.settings.events.events = {event(10, What::kFail, "missing")};
  EXPECT_THROW(run_failing(trace_of({job("a", 0, 1, 1)}), two.cluster, two.settings), InvalidArgument);
  two.settings.events.events = {event(10, What::kFail, two.n0)};
  two.settings.events.events[0].gpu = 4;
  EXPECT_THROW(run_failing(trace_of({job("a", 0, 1, 1)}), two.cluster, two.settings), InvalidArgument);
}

TEST(SimulatedFailures, RoundsBelowASecondAreRefused) {
  TwoNodes two;
  two.settings.round_us = kSecond - 1;
  EXPECT_THROW(run_failing(trace_of({job("a", 0, 1, 1)}), two.cluster, two.settings), InvalidArgument);
}

// While the job waits for the repair of its node, no job runs and none will arrive; it starts again at the end of the
// repair.
TEST(SimulatedFailures, GoOnWhenAJobRunsAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulationSettings settings;
    settings.request.policy = "fifo";
    settings.request.seed = seed;
    settings.failures.node_us = settings.failures.gpu_us = 8 * 3'600 * kSecond;
    settings.failures.repair_us = 4 * 3'600 * kSecond;
    settings.overheads.general.costs.checkpoint_every_us = 60 * kSecond;

    const FailureRun ran = run_failing(trace_of({job("a", 0, 36'000, 8)}), io::uniform_cluster(1, 8), settings);

    EXPECT_EQ(ran.rows.find("unfinished"), std::string::npos) << seed << ": " << ran.rows;
    EXPECT_LE(ran.totals.gpu_us, ran.totals.gpu_up_us) << seed;
  }
}

TEST(SimulatedFailures, GpusThatAreDownAreInUseUntilTheNextDecision) {
  TwoNodes two;
  two.settings.round_us = 3'600 * kSecond;
  two.settings.events.events = {event(10, What::kFail, two.n0, 3'600)};

  const FailureRun ran = run_failing(trace_of({job("a", 0, 100, 8)}), two.cluster, two.settings);

  EXPECT_EQ(ran.rows, "a 0-3700 1/0/0 80; ");
  EXPECT_EQ(static_cast<TimeUs>(ran.totals.gpu_us), 8 * 3'700 * kSecond);
  EXPECT_EQ(static_cast<TimeUs>(ran.totals.gpu_up_us), 8 * 3'700 * kSecond);
}

// GPU 1 has failed before the simulation begins, and no later event brings it back.
TEST(SimulatedFailures, WhatIsDownAtTheBeginningStaysDown) {
  Snapshot cluster = io::uniform_cluster(1, 2);
  cluster.nodes[0].gpu_list = {{0, GpuState::kOk, kNever, -1}, {1, GpuState::kFailed, kNever, -1}};
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.events.events = {event(10, What::kFail, cluster.nodes[0].id, 20)};
  settings.events.events[0].gpu = 1;

  const FailureRun ran = run_failing(trace_of({job("a", 0, 100, 1), job("b", 0, 100, 1)}), cluster, settings);
  EXPECT_EQ(ran.rows, "a 0-100 0/0/0 0; b 100-200 0/0/0 0; ");
  EXPECT_EQ(static_cast<TimeUs>(ran.totals.gpu_up_us), 200 * kSecond);

  settings.events.events.clear();
  settings.failures.gpu_us = 50 * kSecond;
  EXPECT_LE(run_failing(trace_of({job("a", 0, 1'000, 1)}), cluster, settings).totals.failures, 1) << "GPU 0, once";
}

// Under Sia a job that was restarted while young has to wait; a minute or more later it starts.
TEST(SimulatedFailures, AJobOfMoreValueLaterIsAskedForAgain) {
  SimulationSettings settings;
  settings.request.policy = "sia";
  settings.overheads.general.costs.restart_us = 30 * kSecond;
  settings.failures.crash_gpu_us = 1'000 * kSecond;
  settings.overheads.general.costs.checkpoint_every_us = 10 * kSecond;

  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    settings.request.seed = seed;
    const FailureRun ran = run_failing(trace_of({job("a", 0, 1'000, 4)}), io::uniform_cluster(1, 4), settings);
    EXPECT_EQ(ran.rows.find("unfinished"), std::string::npos) << ran.rows;
  }
}

// 800 steps at 8 a second on two nodes; one fails at 10 s, and the job goes on at 4 a second.
TEST(SimulatedFailures, AResizeAfterAFailureIsARestartHoweverLittleAResizeCosts) {
  TwoNodes two;
  two.settings.request.policy = "price";
  two.settings.elastic = true;
  two.settings.overheads.general.costs.restart_us = 30 * kSecond;
  two.settings.overheads.general.costs.scale_us = 2 * kSecond;
  two.settings.events.events = {event(10, What::kFail, two.n0)};
  Trace trace = trace_of({job("a", 0, 100, 8)});
  trace.jobs[0].profile = "p";
  trace.jobs[0].work = 800'000'000;
  trace.jobs[0].elastic = true;
  Profile& profile = trace.profiles.emplace_back("p", Profile{}).second;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points = {{"", 4, 0, "", 4'000'000}, {"", 8, 0, "", 8'000'000}};

  EXPECT_EQ(run_failing(trace, two.cluster, two.settings).rows, "a 0-240 1/0/0 80; ");
}

}  // namespace berth::sim::simulated_failures_test
