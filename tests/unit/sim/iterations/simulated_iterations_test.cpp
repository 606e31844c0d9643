// Simulations that follow jobs through their iterations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/iterations/ada_srsf.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_iterations_test {
namespace {

struct FollowedRun {
  SimulationTotals totals;
  std::string rows;  // "id start-end wait, GPU-seconds had/idle" in order of the end
};

TimeUs lost_us(const JobOutcome& job, Loss loss) { return static_cast<TimeUs>(job.lost_gpu_us[static_cast<std::size_t>(loss)]); }

FollowedRun follow(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  FollowedRun ran;
  ran.totals = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    ran.rows += fmt::format("{} {}-{} {}/{}; ", one.traced->id, one.start_us / kSecond, one.end_us / kSecond,
                            static_cast<TimeUs>(one.gpu_us) / kSecond, lost_us(one, Loss::kIdle) / kSecond);
  });
  return ran;
}

// A second of computing, and one of exchange over two nodes.
Trace of_seconds(std::vector<TraceJob> jobs) {
  Trace trace = trace_of(std::move(jobs));
  Profile profile;
  profile.unit = "steps";
  profile.stage_us = {kSecond};
  profile.gradient_bytes = 1'000'000;
  trace.profiles = {{"p", profile}};
  for (TraceJob& one : trace.jobs) {
    one.profile = "p";
    one.work = one.run_us;
  }
  return trace;
}

SimulationSettings followed(std::int32_t gpu_jobs = 1) {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.iterations = IterationSettings{gpu_jobs, {0, 1'000'000'000, 0}, {}};
  return settings;
}

FollowedRun under_ada_srsf(const Trace& trace, const Snapshot& cluster, SimulationSettings settings, AdaSrsfSettings own = {}) {
  settings.request.policy = "ada-srsf";
  settings.iterations->rules = own.rules;
  AdaSrsf policy(own, settings.iterations->network, settings.iterations->gpu_jobs, settings.request);
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>& away) { policy.decide(state, plan, away); };
  return follow(trace, cluster, settings);
}

}  // namespace

TEST(SimulatedIterations, ExchangeOverNodesAndShareTheirCards) {
  const Trace trace = of_seconds({job("a", 0, 10, 6), job("b", 5, 5, 4), job("c", 5, 5, 2)});
  // a alone: 2 s each. b has a node. c shares a node with a, and uses no NIC.
  EXPECT_EQ(follow(trace, io::uniform_cluster(3, 4), followed()).rows, "b 5-10 20/0; c 5-10 10/0; a 0-20 120/60; ");
  // On nodes of two GPUs all span several: a 0-3 s alone, its second exchange and those of b share no node.
  EXPECT_EQ(follow(of_seconds({job("a", 0, 3, 3), job("b", 0, 3, 3)}), io::uniform_cluster(3, 2), followed()).rows,
            "a 0-9 27/18; b 0-9 27/18; ");
}

TEST(SimulatedIterations, KeepWhatAreWholeOnesWhenPreempted) {
  SimulationSettings settings = followed();
  settings.request.policy = "srtf";
  settings.overheads.general.costs.restart_us = 2 * kSecond;
  TraceJob short_one = job("b", 0, 2, 4);
  short_one.submit_us = 3'500'000;

  const FollowedRun ran = follow(of_seconds({job("a", 0, 10, 4), short_one}), io::uniform_cluster(1, 4), settings);

  // b 3.5-5.5 s; a pays until 7.5 s and has 7 of 10 s left, as the half second before is lost.
  EXPECT_EQ(ran.rows, "b 3-5 8/0; a 0-14 50/2; ");
}

TEST(SimulatedIterations, AFailureUndoesWhatWasNotSaved) {
  SimulationSettings settings = followed();
  settings.overheads.general.costs.checkpoint_every_us = 4 * kSecond;
  ClusterEvent fails;
  fails.at_us = 10 * kSecond;
  fails.what = ClusterEvent::What::kFail;
  const Snapshot cluster = io::uniform_cluster(2, 4);
  fails.node = cluster.nodes[0].id;
  settings.events.events = {fails};
  JobOutcome a;
  simulate(of_seconds({job("a", 0, 100, 4)}), cluster, settings, [&](const JobOutcome& one) { a = one; });

  EXPECT_EQ(a.end_us, 102 * kSecond);
  EXPECT_EQ(a.repairs, 1);
  EXPECT_EQ(lost_us(a, Loss::kLostWork), 8 * kSecond);
  EXPECT_TRUE(a.gpu_us == 408 * kSecond);
}

TEST(SimulatedIterations, JobsWithoutStagesAreAsByTheirRate) {
  const Trace trace = trace_of({job("a", 0, 10, 3), job("b", 1, 7, 2), job("c", 2, 3, 1)});
  SimulationSettings by_rate = followed();
  by_rate.iterations.reset();
  EXPECT_EQ(follow(trace, io::uniform_cluster(1, 4), followed()).rows, follow(trace, io::uniform_cluster(1, 4), by_rate).rows);
}

TEST(AdaSrsf, LetsJobsShareGpusTheShortOnesFirst) {
  const Trace trace = of_seconds({job("a", 0, 10, 1), job("b", 2, 3, 1), job("c", 2, 30, 1)});
  // b arrives when a has just begun its third iteration; then b's slices come first. Two share, so c waits for b to
  // end, then for its slices.
  EXPECT_EQ(under_ada_srsf(trace, io::uniform_cluster(1, 1), followed(2)).rows, "b 2-6 3/0; a 0-13 10/0; c 6-43 30/0; ");
}

TEST(AdaSrsf, TakesTheLeastLoadedGpus) {
  // a and b fill the GPUs of two nodes. c joins the shorter one; d, of two GPUs, stays on one node, as kappa is 1.
  const Trace trace = of_seconds({job("a", 0, 50, 1), job("b", 0, 10, 1), job("c", 1, 4, 1)});
  EXPECT_EQ(under_ada_srsf(trace, io::uniform_cluster(2, 1), followed(2)).rows, "c 1-6 4/0; b 0-14 10/0; a 0-50 50/0; ");
  AdaSrsfSettings first_fit;
  first_fit.first_fit = true;
  EXPECT_EQ(under_ada_srsf(trace, io::uniform_cluster(2, 1), followed(2), first_fit).rows, "c 1-5 4/0; b 0-10 10/0; a 0-60 50/0; ")
      << "two on the first GPU";
}

TEST(AdaSrsf, ConsolidatesJobsOfMoreThanKappaGpus) {
  const Trace trace = of_seconds({job("a", 0, 2, 1), job("b", 0, 20, 1), job("c", 0, 4, 2)});
  // a has a GPU of node 0. The first other GPUs are on both nodes; by nodes c has those of node 1.
  AdaSrsfSettings wide;
  wide.kappa = 2;
  EXPECT_EQ(under_ada_srsf(trace, io::uniform_cluster(2, 2), followed(2), wide).rows.substr(0, 24), "a 0-2 2/0; c 0-8 16/8; b");
  EXPECT_EQ(under_ada_srsf(trace, io::uniform_cluster(2, 2), followed(2)).rows.substr(0, 24), "a 0-2 2/0; c 0-4 8/0; b ");
}

TEST(SimulatedIterations, AnInterruptedRunKeepsWhatWasDoneUntilThen) {
  SimulationSettings settings = followed();
  int asked = 0;
  settings.interrupted = [&] { return ++asked == 2; };

  const FollowedRun ran = follow(of_seconds({job("a", 0, 1000, 2), job("b", 100, 10, 1)}), io::uniform_cluster(1, 2), settings);

  EXPECT_EQ(ran.totals.last_end_us, 100 * kSecond);
  EXPECT_TRUE(ran.totals.gpu_us == 200 * kSecond && ran.totals.gpu_up_us == 200 * kSecond);
}

TEST(AdaSrsf, PlacesNoJobOnNodesThatTakeNoNewJobs) {
  SimulationSettings settings = followed(2);
  const Snapshot cluster = io::uniform_cluster(2, 1);
  ClusterEvent drains;
  drains.at_us = kSecond;
  drains.until_us = 100 * kSecond;
  drains.what = ClusterEvent::What::kDrain;
  drains.node = cluster.nodes[0].id;
  settings.events.events = {drains};
  // a and b have a node each. c goes to the node of the longer one, as the other one drains.
  const Trace trace = of_seconds({job("a", 0, 10, 1), job("b", 0, 50, 1), job("c", 5, 4, 1)});
  EXPECT_EQ(under_ada_srsf(trace, cluster, settings).rows, "a 0-10 10/0; c 5-10 4/0; b 0-54 50/0; ");

  Snapshot spares = cluster;
  spares.nodes[0].state = NodeState::kSpare;
  EXPECT_EQ(under_ada_srsf(of_seconds({job("a", 0, 10, 1), job("b", 0, 50, 1)}), spares, followed(2)).rows, "a 0-10 10/0; b 0-60 50/0; ");
}

// Two halves of a GPU are not two GPUs.
TEST(AdaSrsf, RejectsJobsThatNeedMoreGpusThanThereAre) {
  SimulationSettings settings = followed(2);
  settings.request.policy = "ada-srsf";
  AdaSrsf policy({}, settings.iterations->network, 2, settings.request);
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>& away) { policy.decide(state, plan, away); };
  std::string ends;
  simulate(of_seconds({job("a", 0, 10, 3), job("b", 0, 10, 2)}), io::uniform_cluster(1, 2), settings,
           [&](const JobOutcome& one) { ends += one.traced->id + " " + kEndNames[static_cast<int>(one.end)] + " " + one.reason + "; "; });
  EXPECT_EQ(ends, "a rejected needs 3 GPUs; those that it may use are 2; b completed ; ");
}

TEST(SimulatedIterations, WhatCannotBeIsRefused) {
  const Trace trace = of_seconds({job("a", 0, 10, 1)});
  EXPECT_THROW(follow(trace, io::uniform_cluster(1, 1), followed(2)), InvalidArgument) << "no policy places them on one GPU";
  EXPECT_THROW(follow(trace, io::uniform_cluster(1, 1), followed(0)), InvalidArgument);
  Trace many = trace;
  many.profiles[0].second.stage_us.assign(17, 1);
  EXPECT_NO_THROW(follow(many, io::uniform_cluster(1, 1), followed())) << "all of the GPU";
  many.profiles[0].second.gradient_bytes = 0;
  EXPECT_THROW(follow(many, io::uniform_cluster(1, 1), followed()), InvalidArgument) << "more than have a resource each";
  SimulationSettings crashes = followed(2);
  crashes.failures.crash_gpu_us = kSecond;
  crashes.decide = [](const ClusterState&, Plan&, std::vector<Rejected>&) {};
  EXPECT_THROW(follow(trace, io::uniform_cluster(1, 1), crashes), InvalidArgument) << "of GPU-time that is not known";
  EXPECT_THROW(ada_srsf_settings({{"kappa", "-1"}}), InvalidArgument);
  EXPECT_THROW(ada_srsf_settings({{"kappa", "1x"}}), InvalidArgument);
  EXPECT_THROW(ada_srsf_settings({{"admission", "all"}}), InvalidArgument);
  EXPECT_THROW(ada_srsf_settings({{"placement", "topology"}}), InvalidArgument);
  EXPECT_THROW(ada_srsf_settings({{"gpu_order", ""}}), InvalidArgument);
  EXPECT_EQ(ada_srsf_settings({{"admission", "two"}}).rules.admission, Admission::kTwo);
}

}  // namespace berth::sim::simulated_iterations_test
