// What jobs of Dally do when their lease ends, by hand.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/policy.hpp"
#include "tests/unit/policy/rounds/dally_plans.hpp"

namespace berth::test::dally_lease_end_test {
namespace {

/// g has 8 GPUs and runs at full speed in a rack, half of that in a pod, a quarter beyond. Nodes that no job has are held by others, which
/// stay.
class DallyLeaseEnd : public DallyPlans {
 protected:
  DallyLeaseEnd() { request_.params = {{"lease_end", "move"}}; }

  static void slow_apart(Job& job) {
    job.profile.kind = ProfileKind::kTable;
    job.profile.unit = "steps";
    const std::int32_t gpus = job.shapes[0].gpus;
    job.profile.points = {{"", gpus, 0, "node", 1'000'000},
                          {"", gpus, 0, "rack", 1'000'000},
                          {"", gpus, 0, "pod", 500'000},
                          {"", gpus, 0, "cluster", 250'000}};
  }
  /// Its lease began an hour ago. Steps left, and what a restart costs.
  Job& g(const std::vector<std::string>& nodes, std::int64_t steps = 100, std::int64_t cost_s = 30) {
    Job job = on("g", 99 * kHour, nodes);
    slow_apart(job);
    job.progress.run_us = kHour;
    job.progress.work_done = 1'000'000'000;
    job.progress.work_total = 1'000'000'000 + steps * 1'000'000;
    job.costs.restart_us = cost_s * kSecond;
    snapshot_.jobs.push_back(job);
    return snapshot_.jobs.back();
  }
  void keep_others_off(const std::set<std::string>& free) {
    std::set<std::string> used = free;
    for (const Job& job : snapshot_.jobs) {
      for (const AllocationEntry& entry : job.allocation.entries) used.insert(entry.node);
    }
    for (const Node& node : snapshot_.nodes) {
      if (used.count(node.id) != 0) continue;
      Job job = on("x" + node.id, 99 * kHour + 1, {node.id});
      job.preemption.preemptible = false;
      snapshot_.jobs.push_back(job);
    }
  }
  std::set<std::string> nodes_of(const Plan& plan, std::size_t job) const {
    std::set<std::string> nodes;
    const Decision& d = of(plan, job);
    const ClusterState state(snapshot_);
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) nodes.insert(state.node(plan.entries[static_cast<std::size_t>(e)].node).id);
    return nodes;
  }
  void with(core::Params params) {
    request_.params = std::move(params);
    kept_ = before_ = {};
  }
};

using Nodes = std::set<std::string>;

}  // namespace

TEST_F(DallyLeaseEnd, AJobMovesToATighterLevel) {
  g({"n0", "n2"});
  keep_others_off({"n4", "n5"});
  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kMigrate);
  EXPECT_EQ(of(plan, 0).cost_us, 30 * kSecond);
  EXPECT_EQ(nodes_of(plan, 0), (Nodes{"n4", "n5"}));
  with({{"lease_end", "keep"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

// 200 s where it is, 100 s in a rack: 100 s are saved.
TEST_F(DallyLeaseEnd, AMoveSavesMoreThanItCosts) {
  const auto action = [&](std::int64_t steps, std::int64_t cost_s) {
    snapshot_.jobs.clear();
    g({"n0", "n2"}, steps, cost_s);
    keep_others_off({"n4", "n5"});
    with({{"lease_end", "move"}});
    return of(decide(), 0).action;
  };
  EXPECT_EQ(action(100, 99), Action::kMigrate);
  EXPECT_EQ(action(100, 100), Action::kKeep);
  EXPECT_EQ(action(101, 100), Action::kMigrate);
}

// It has run for an hour, and is expected to take as long again: half an hour is saved.
TEST_F(DallyLeaseEnd, WhereTheWorkIsNotKnownWhatWasDoneCounts) {
  const auto action = [&](std::int64_t cost_s) {
    snapshot_.jobs.clear();
    g({"n0", "n2"}, 100, cost_s).progress.work_total = 0;
    keep_others_off({"n4", "n5"});
    with({{"lease_end", "move"}});
    return of(decide(), 0).action;
  };
  EXPECT_EQ(action(1799), Action::kMigrate);
  EXPECT_EQ(action(1800), Action::kKeep);
}

TEST_F(DallyLeaseEnd, AJobWhosePlaceDoesNotMatterStays) {
  g({"n0", "n2"}).profile = {};
  keep_others_off({"n4", "n5"});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

TEST_F(DallyLeaseEnd, ItsOwnGpusCount) {
  g({"n0", "n2"});
  keep_others_off({"n1"});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kMigrate);
  EXPECT_EQ(nodes_of(plan, 0), (Nodes{"n0", "n1"}));
}

TEST_F(DallyLeaseEnd, WithoutRoomItKeepsItsGpus) {
  g({"n0", "n2"});
  keep_others_off({"n4", "n6"});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

// Not from one pod to the other, but from the cluster to a pod.
TEST_F(DallyLeaseEnd, ALevelIsTighterOrNot) {
  g({"n0", "n2"}, 10'000);
  keep_others_off({"n4", "n6"});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
  snapshot_.jobs.clear();
  g({"n0", "n4"}, 10'000);
  keep_others_off({"n2"});
  with({{"lease_end", "move"}});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kMigrate);
  EXPECT_EQ(nodes_of(plan, 0), (Nodes{"n0", "n2"}));
}

TEST_F(DallyLeaseEnd, NotBeforeTheLeaseEndsAndNotWhereItMayNotBeDisplaced) {
  g({"n0", "n2"}).last_assignment_us = 99 * kHour + 1;
  keep_others_off({"n4", "n5"});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kKeep);
  // No job waits, and the end of this lease matters all the same.
  EXPECT_EQ(plan.order_until_us, 100 * kHour + 1);
  with({{"lease_end", "keep"}});
  EXPECT_EQ(decide().order_until_us, kNever);
  with({{"lease_end", "offer"}});
  EXPECT_EQ(decide().order_until_us, 100 * kHour + 1);
  for (const char* const end : {"move", "offer"}) {
    with({{"lease_end", end}});
    snapshot_.jobs[0].last_assignment_us = 99 * kHour;
    snapshot_.jobs[0].preemption.preemptible = false;
    EXPECT_EQ(of(decide(), 0).action, Action::kKeep) << end;
  }
}

// A job in its tightest place has no reason to move.
TEST_F(DallyLeaseEnd, LeasesOfJobsInGoodPlacesDoNotWakeTheEngine) {
  g({"n0", "n1"});
  keep_others_off({"n4", "n5"});
  for (const char* const end : {"keep", "move", "offer"}) {
    with({{"lease_end", end}});
    EXPECT_EQ(decide().order_until_us, kNever) << end;
  }
}

// A new job is before it in the order, and takes the only rack.
TEST_F(DallyLeaseEnd, JobsBeforeItAreServedFirst) {
  g({"n0", "n2"});
  snapshot_.jobs.push_back(gang("new", 8, 99 * kHour));
  keep_others_off({"n4", "n5"});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 1).action, Action::kStart);
  EXPECT_EQ(nodes_of(plan, 1), (Nodes{"n4", "n5"}));
  EXPECT_EQ(of(plan, 0).action, Action::kKeep);
}

// A job behind it has run without any delay by communication.
TEST_F(DallyLeaseEnd, JobsBehindItTakeWhatItLeaves) {
  g({"n0", "n2"});
  snapshot_.jobs.push_back(gang("behind", 4, 0));
  snapshot_.jobs.back().progress.run_us = kHour;
  keep_others_off({"n4", "n5"});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kMigrate);
  EXPECT_EQ(nodes_of(plan, 0), (Nodes{"n4", "n5"}));
  EXPECT_EQ(of(plan, 1).action, Action::kStart);
  EXPECT_EQ(nodes_of(plan, 1).size(), 1U);
}

TEST_F(DallyLeaseEnd, AnOfferedJobWaitsForItsTimers) {
  with({{"lease_end", "offer"}});
  g({"n0", "n2"});
  keep_others_off({});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kPreempt);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.until_us, 109 * kHour);
  request_.policy = "dally-nowait";
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

TEST_F(DallyLeaseEnd, AnOfferedJobThatGetsTheSameGpusGoesOn) {
  with({{"lease_end", "offer"}});
  g({"n4", "n5"});
  keep_others_off({});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
  // Nor is it moved to as good a place.
  snapshot_.jobs.clear();
  g({"n4", "n5"});
  keep_others_off({"n0", "n1"});
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
  // It does not ask what a move saves.
  snapshot_.jobs.clear();
  g({"n2", "n4"}, 1);
  keep_others_off({"n0", "n1"});
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kMigrate);
}

TEST_F(DallyLeaseEnd, AnOfferedJobLosesItsGpusToOneBeforeIt) {
  with({{"lease_end", "offer"}});
  g({"n4", "n5"});
  snapshot_.jobs.push_back(gang("new", 8, 99 * kHour));
  keep_others_off({});
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 1).action, Action::kStart);
  EXPECT_EQ(of(plan, 0).action, Action::kPreempt);
}

// Jobs that the pass does not reach keep what they have.
TEST_F(DallyLeaseEnd, AStopTakesNoGpus) {
  g({"n0", "n2"});
  snapshot_.jobs.push_back(gang("a", 33, 99 * kHour));
  snapshot_.jobs.back().shapes[0].gpus = 32;
  keep_others_off({"n4", "n5"});
  for (const char* const end : {"move", "offer"}) {
    with({{"lease_end", end}});
    request_.max_iterations = 1;
    EXPECT_EQ(of(decide(), 0).action, Action::kKeep) << end;
    request_.max_iterations = 0;
    with({{"lease_end", end}, {"discipline", "strict"}});
    EXPECT_EQ(of(decide(), 0).action, Action::kKeep) << end;
    with({{"lease_end", end}});
    EXPECT_EQ(of(decide(), 0).action, Action::kMigrate) << end;
  }
}

// What is drained could not be had back.
// It asks for its first shape, and holds another.
TEST_F(DallyLeaseEnd, AJobThatCouldNotHaveItsShapeBackIsNotOffered) {
  Job& job = g({"n0", "n2"});
  job.shapes.insert(job.shapes.begin(), job.shapes[0]);
  job.shapes[0].id = "large";
  job.shapes[0].gpus = 16;
  keep_others_off({});
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

// No timer holds it, as its queue is full, and no job takes its GPUs.
TEST_F(DallyLeaseEnd, AJobOverALoweredLimitIsNotOffered) {
  Queue team;
  team.id = "team";
  team.quotas = {{"*", 0, 4}};
  snapshot_.queues = {team};
  g({"n0", "n2"}).queue = "team";
  keep_others_off({});
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

TEST_F(DallyLeaseEnd, AJobOnADrainedNodeIsNotOffered) {
  g({"n0", "n2"});
  keep_others_off({});
  snapshot_.nodes[0].state = NodeState::kDrain;
  with({{"lease_end", "offer"}});
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
}

TEST_F(DallyLeaseEnd, OtherValuesAreRefused) {
  g({"n0", "n2"});
  for (const char* const bad : {"", "Keep", "stay"}) {
    with({{"lease_end", bad}});
    EXPECT_THROW(decide(), InvalidArgument) << bad;
  }
}

}  // namespace berth::test::dally_lease_end_test
