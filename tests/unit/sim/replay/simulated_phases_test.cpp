// Jobs whose rate changes while they run.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/replay/replay.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_phases_test {
namespace {

Profile steps_per_second(std::int64_t rate, const char* type = "") {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points = {{type, 4, 0, "", rate * 1'000'000}};
  return profile;
}

/// 1,000 steps on 4 GPUs: 400 at 10 a second, then 600 at 25: 40 s and 24 s.
TraceJob two_phases(const std::string& id, std::int64_t submit_s) {
  TraceJob one = job(id, submit_s, 64, 4);
  one.profile = "slow";
  one.work = 1'000'000'000;
  one.phases = {{400'000'000, "fast", 0}};
  return one;
}

Trace with_profiles(std::vector<TraceJob> jobs) {
  Trace trace = trace_of(std::move(jobs));
  trace.profiles = {{"fast", steps_per_second(25)}, {"slow", steps_per_second(10)}};
  return trace;
}

struct PhasedRun {
  std::string rows;  // "id start-end lost GPU-seconds" in order of the end
  TimeUs last_end_us = 0;
};

PhasedRun run_phased(const Trace& trace, const SimulationSettings& settings, const Snapshot& cluster = io::uniform_cluster(1, 4)) {
  PhasedRun ran;
  ran.last_end_us = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
                      ran.rows += fmt::format("{} {}-{} {}; ", one.traced->id, one.start_us / kSecond, one.end_us / kSecond,
                                              static_cast<TimeUs>(one.lost_gpu_us[static_cast<std::size_t>(Loss::kLostWork)]) / kSecond);
                    }).last_end_us;
  return ran;
}

SimulationSettings srtf(const std::string& estimates = "oracle") {
  SimulationSettings settings;
  settings.request.policy = "srtf";
  settings.estimates = estimates;
  return settings;
}

std::string refusal(const Trace& trace) {
  try {
    run_phased(trace, srtf());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST(SimulatedPhases, EachRunsAtItsRateToTheMicrosecond) {
  EXPECT_EQ(run_phased(with_profiles({two_phases("a", 3)}), srtf()).rows, "a 3-67 0; ");

  Trace thirds = with_profiles({two_phases("a", 0)});
  thirds.profiles = {{"fast", steps_per_second(7)}, {"slow", steps_per_second(3)}};
  thirds.jobs[0].work = 100'000'000;
  thirds.jobs[0].phases[0].from = 50'000'000;
  EXPECT_EQ(run_phased(thirds, srtf()).last_end_us, 23'809'524);  // 50 / 3 + 50 / 7 s, rounded once
}

TEST(SimulatedPhases, ManyInOneMicrosecondArePassedAtOnce) {
  Trace trace = with_profiles({two_phases("a", 0)});
  trace.jobs[0].phases = {{399'999'999, "fast", 0}, {400'000'000, "slow", 0}, {400'000'001, "fast", 0}};

  EXPECT_EQ(run_phased(trace, srtf()).last_end_us, 64 * kSecond);
}

// b has 5 s and arrives when a has 14 s left of its second phase.
TEST(SimulatedPhases, ADisplacedJobGoesOnInTheSamePhaseAndPays) {
  const Trace trace = with_profiles({two_phases("a", 0), job("b", 50, 5, 4)});
  SimulationSettings settings = srtf();
  settings.overheads.general.costs.restart_us = 30 * kSecond;

  EXPECT_EQ(run_phased(trace, settings).rows, "b 50-55 0; a 0-99 0; ");
}

// Just before the boundary a has 25 s left; at a constant rate it would be 61.
TEST(SimulatedPhases, AnOracleKnowsTheRatesToComeAndAReactiveEstimatorDoesNot) {
  const Trace trace = with_profiles({two_phases("a", 0), job("b", 39, 50, 4)});

  EXPECT_EQ(run_phased(trace, srtf("oracle")).rows, "a 0-64 0; b 64-114 0; ");
  EXPECT_EQ(run_phased(trace, srtf("reactive")).rows, "b 39-89 0; a 0-114 0; ");
}

TEST(SimulatedPhases, AtTheBoundaryTheNewRateIsKnownToTheDecision) {
  for (const char* estimates : {"oracle", "reactive"}) {
    // a has 24 s left at 40 s.
    EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0), job("b", 40, 25, 4)}), srtf(estimates)).rows, "a 0-64 0; b 64-89 0; ")
        << estimates;
    EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0), job("b", 40, 23, 4)}), srtf(estimates)).rows, "b 40-63 0; a 0-87 0; ")
        << estimates;
  }
}

TEST(SimulatedPhases, WhenARateChangesADecisionIsMadeThatKnowsThePresentOne) {
  const Trace trace = with_profiles({two_phases("a", 0), job("b", 20, 48, 4)});
  SimulationSettings settings = srtf("reactive");
  std::vector<TimeUs> decided;
  Engine engine;
  PolicyState memory;
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>&) {
    decided.push_back(state.now() / kSecond);
    Request fifo;
    fifo.policy = "fifo";
    engine.decide(state, memory, fifo, plan);
    const std::int32_t a = state.find_job("a");
    if (a < 0) return;
    const Job told = state.snapshot().jobs.at(0);
    EXPECT_EQ(told.profile.points.at(0).rate, state.now() < 40 * kSecond ? 10'000'000 : 25'000'000);
    EXPECT_EQ(told.progress.work_total, 1'000'000'000);
    EXPECT_EQ(told.progress.work_done, state.now() < 40 * kSecond ? state.now() * 10 : 400'000'000 + (state.now() - 40 * kSecond) * 25);
    EXPECT_EQ(told.estimate.run_us, state.now() < 40 * kSecond ? 100 * kSecond : 64 * kSecond);
  };

  run_phased(trace, settings);

  EXPECT_EQ(decided, (std::vector<TimeUs>{0, 20, 40, 64, 112}));
}

// Saved at 30 s, in the first phase; at 45 s it has done 125 steps of the second. Running again at 50 s, it has 100
// steps of the first left.
TEST(SimulatedPhases, AFailurePutsAJobBackIntoAnEarlierPhase) {
  Snapshot cluster = io::uniform_cluster(1, 4);
  SimulationSettings settings = srtf();
  settings.overheads.general.costs.checkpoint_every_us = 30 * kSecond;
  ClusterEvent fails;
  fails.at_us = 45 * kSecond;
  fails.what = ClusterEvent::What::kFail;
  fails.node = cluster.nodes[0].id;
  fails.until_us = 50 * kSecond;
  settings.events.events = {fails};

  EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0)}), settings, cluster).rows, "a 0-84 60; ");
  // Also after a delta: b with 33 s arrives at 50 s, when a has 34 s left, and a job with 35 s would not displace it.
  EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0), job("b", 49, 33, 4)}), settings, cluster).rows, "b 50-83 0; a 0-117 60; ");
  EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0), job("b", 49, 35, 4)}), settings, cluster).rows, "a 0-84 60; b 84-119 0; ");
}

// After each crash it begins again in its first phase.
TEST(SimulatedPhases, ACrashPutsAJobBackToItsBeginning) {
  std::int64_t crashes_in_second = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationSettings settings = srtf();
    settings.request.seed = seed;
    settings.failures.crash_gpu_us = 400 * kSecond;
    simulate(with_profiles({two_phases("a", 0)}), io::uniform_cluster(1, 4), settings, [&](const JobOutcome& one) {
      const auto lost_work_us = static_cast<TimeUs>(one.lost_gpu_us[static_cast<std::size_t>(Loss::kLostWork)]) / 4;
      EXPECT_EQ(one.held_us, 64 * kSecond + lost_work_us) << seed;
      if (one.failures == 1 && lost_work_us > 40 * kSecond) ++crashes_in_second;
    });
  }
  EXPECT_GT(crashes_in_second, 0);
}

TEST(SimulatedPhases, SavesStandInTheWayOfABoundaryAsOfAnEnd) {
  SimulationSettings settings = srtf();
  settings.overheads.general.costs.checkpoint_every_us = 20 * kSecond;
  settings.overheads.general.costs.checkpoint_save_us = 2 * kSecond;

  // 64 s of work, saved after 20, 40 and 60.
  EXPECT_EQ(run_phased(with_profiles({two_phases("a", 0)}), settings).rows, "a 0-70 0; ");
}

TEST(SimulatedPhases, OnlyAlternativesThatEveryPhaseKnowsAreOffered) {
  Trace trace = with_profiles({two_phases("a", 0)});
  trace.profiles[1].second.points = {{"V100", 4, 0, "", 10'000'000}, {"K80", 4, 0, "", 1'000'000}};
  trace.profiles[0].second.points = {{"V100", 4, 0, "", 25'000'000}};

  EXPECT_EQ(run_phased(trace, srtf(), io::cluster_from("1x4xK80+1x4xV100", {})).rows, "a 0-64 0; ");
  // Without a known type it is a job with the run time of the trace.
  trace.jobs[0].run_us = 77 * kSecond;
  EXPECT_EQ(run_phased(trace, srtf(), io::cluster_from("1x4xK80", {})).rows, "a 0-77 0; ");
}

TEST(SimulatedPhases, ASnapshotIsOfThePhaseOfItsInstant) {
  const Trace trace = with_profiles({two_phases("a", 0), two_phases("b", 1)});
  const Snapshot cluster = io::uniform_cluster(1, 4);
  const auto at = [&](std::int64_t s) { return snapshot_at(trace, cluster, s * kSecond, EstimateSource::kOracle).jobs; };

  EXPECT_EQ(at(39)[0].profile.points[0].rate, 10'000'000);
  EXPECT_EQ(at(39)[0].progress.work_done, 390'000'000);
  EXPECT_EQ(at(39)[0].progress.work_total, 640'000'000);  // 10 steps, and 24 s at 10 steps a second
  EXPECT_EQ(at(42)[0].profile.points[0].rate, 25'000'000);
  EXPECT_EQ(at(42)[0].progress.work_done, 450'000'000);
  EXPECT_EQ(at(42)[0].progress.work_total, 1'000'000'000);
  EXPECT_EQ(at(42)[1].progress.work_total, 640'000'000);
  EXPECT_EQ(at(64)[0].id, "b");
  EXPECT_NO_THROW(check_snapshot(snapshot_at(trace, cluster, 42 * kSecond)));
}

TEST(SimulatedPhases, WhatCannotBeIsRefused) {
  Trace trace = with_profiles({two_phases("a", 0)});
  TraceJob& one = trace.jobs[0];
  one.phases.push_back({300'000'000, "slow", 0});
  EXPECT_EQ(refusal(trace), "job 'a': phase 2 begins at 300, not behind 400");
  one.phases[1].from = 1'000'000'000;
  EXPECT_EQ(refusal(trace), "job 'a': phase 2 begins at 1000, and the work ends at 1000");
  one.phases[1] = {500'000'000, "", 0};
  EXPECT_EQ(refusal(trace), "job 'a': phase 2 names no profile");
  one.phases.resize(1);
  one.work = 0;
  EXPECT_EQ(refusal(trace), "job 'a': 'phases' are stretches of 'work', and the job states no 'work' or no 'profile'");
}

TEST(SimulatedPhases, TheEpochsOfPhasesAreStatedByAllOrNoneAndAscend) {
  Trace trace = with_profiles({two_phases("a", 0)});
  TraceJob& one = trace.jobs[0];
  one.epochs_micro = 3'000'000;
  one.phases = {{400'000'000, "fast", 0, 1'000'000}, {500'000'000, "slow", 0, 2'500'000}};
  EXPECT_EQ(refusal(trace), "accepted");
  one.phases[1].epochs_micro = 1'000'000;
  EXPECT_EQ(refusal(trace), "job 'a': phase 2 begins after 1 epochs, not more than 1");
  one.phases[1].epochs_micro = 3'000'000;
  EXPECT_EQ(refusal(trace), "job 'a': phase 2 begins after 3 epochs, and the job has 3");
  one.phases[1].epochs_micro = 0;
  EXPECT_EQ(refusal(trace), "job 'a': some phases state 'epochs', and others do not");
  one.phases = {{400'000'000, "fast", 0, 0}, {500'000'000, "slow", 0, 1'000'000}};
  EXPECT_EQ(refusal(trace), "job 'a': some phases state 'epochs', and others do not");
}

}  // namespace berth::sim::simulated_phases_test
