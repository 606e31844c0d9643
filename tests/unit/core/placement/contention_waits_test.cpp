// `packing=contention`: gangs wait for a rack, no longer than the time that they would lose elsewhere.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::test::contention_waits_test {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

// 8 GPUs of two nodes. Steps of 3 s in a rack and 5 s between racks (CrossingLossTest.AnAllToAllOfTwoNodes).
Job all_to_all(const std::string& id, std::int64_t steps) {
  Job job;
  job.id = id;
  job.profile = second_steps();
  job.profile.gradient_bytes = 0;
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = 8;
  Group group;
  group.name = "experts";
  group.members_min = group.members_want = group.members_max = 8;
  group.communication = {{CommKind::kEp, "", 10 * kGB}};
  job.shapes[0].groups = {group};
  job.progress.work_total = steps * 1'000'000;
  return job;
}

Job holds_node(const std::string& id, const std::string& node) {
  Job job;
  job.id = id;
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = 4;
  job.state = JobState::kRunning;
  job.allocation.shape = "s";
  job.allocation.entries = {{"", 0, node, {0, 1, 2, 3}, kWholeGpu, false}};
  return job;
}

class WaitsForARack : public ::testing::Test {
 protected:
  // One node of each rack is free.
  WaitsForARack() {
    snapshot_ = two_node_racks(2);
    snapshot_.now_us = 1000 * kSecond;
    snapshot_.jobs = {all_to_all("g", 60), holds_node("x", "n0"), holds_node("y", "n2")};
    request_.policy = "fifo";
    request_.params = {{"discipline", "greedy"}, {"packing", "contention"}};
  }

  Plan decide() {
    const ClusterState state(snapshot_);
    Engine engine;
    Plan plan;
    engine.decide(state, kept_, request_, plan);
    return plan;
  }
  static const Decision& of(const Plan& plan, std::int32_t job) {
    for (const Decision& d : plan.decisions) {
      if (d.job == job) return d;
    }
    throw std::out_of_range("no decision");
  }
  static std::vector<std::int32_t> nodes(const Plan& plan, const Decision& d) {
    std::vector<std::int32_t> nodes;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) nodes.push_back(plan.entries[static_cast<std::size_t>(e)].node);
    return nodes;
  }

  Snapshot snapshot_;
  PolicyState kept_;
  Request request_;
};

TEST_F(WaitsForARack, AndSaysUntilWhen) {
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(of(plan, 0).reason.best, 4);
  EXPECT_EQ(of(plan, 0).reason.until_us, plan.order_until_us);
  EXPECT_EQ(kept_.columns.at("contention.waiting_since_us").at("g"), 1000 * kSecond);
  // 60 steps alone take 60.003 s: 0.666664 of that.
  EXPECT_EQ(plan.order_until_us, 1000 * kSecond + 40'001'880);
}

TEST_F(WaitsForARack, StartsElsewhereWhenTheTimeIsUp) {
  decide();
  snapshot_.now_us = 1000 * kSecond + 40'001'879;
  EXPECT_EQ(of(decide(), 0).action, Action::kWait);
  snapshot_.now_us += 1;
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{1, 3}));
}

TEST_F(WaitsForARack, StartsInARackAtOnce) {
  snapshot_.jobs.pop_back();
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(kept_.columns.count("contention.waiting_since_us"), 0U);
  EXPECT_EQ(plan.order_until_us, kNever);
}

TEST_F(WaitsForARack, OtherPackingsDoNotWait) {
  request_.params = {{"packing", "topology"}};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

// The time begins when it could have started, not before: with one free node it has not been declined.
TEST_F(WaitsForARack, TheTimeBeginsWhenGpusAreFree) {
  snapshot_.jobs.push_back(holds_node("z", "n1"));
  EXPECT_EQ(of(decide(), 0).action, Action::kWait);
  EXPECT_EQ(kept_.columns.count("contention.waiting_since_us"), 0U);
  snapshot_.jobs.pop_back();
  snapshot_.now_us = 5000 * kSecond;
  EXPECT_EQ(of(decide(), 0).action, Action::kWait);
  EXPECT_EQ(kept_.columns.at("contention.waiting_since_us").at("g"), 5000 * kSecond);
  // What it held back for stays known while the GPUs are gone again.
  snapshot_.jobs.push_back(holds_node("z", "n1"));
  snapshot_.now_us = 6000 * kSecond;
  decide();
  EXPECT_EQ(kept_.columns.at("contention.waiting_since_us").at("g"), 5000 * kSecond);
}

// GPUs that jobs in front of it take are not free at its turn.
TEST_F(WaitsForARack, JobsInFrontTakeTheirGpus) {
  Job first;
  first.id = "a";
  first.shapes.resize(1);
  first.shapes[0].id = "s";
  first.shapes[0].gpus = 4;
  first.priority = 1;
  snapshot_.jobs.insert(snapshot_.jobs.begin(), first);
  request_.policy = "priority";
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(of(plan, 1).action, Action::kWait);
  EXPECT_EQ(kept_.columns.count("contention.waiting_since_us"), 0U);
}

// A preemptive policy takes a rack from jobs of lower rank.
TEST_F(WaitsForARack, LowerJobsAreDisplacedForARack) {
  snapshot_.jobs[0].priority = 2;
  snapshot_.jobs[1].priority = 2;
  snapshot_.jobs[2].priority = 1;
  for (std::size_t j = 0; j < 3; ++j) snapshot_.jobs[j].preemption.preemption_class = snapshot_.jobs[j].priority;
  request_.policy = "priority";
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(of(plan, 2).action, Action::kMigrate);
}

// SRSF's order may change at any time, which says nothing; the end of the wait does.
TEST_F(WaitsForARack, AndSaysSoWhereTheOrderChangesAllTheTime) {
  for (std::size_t j = 1; j < 3; ++j) snapshot_.jobs[j].preemption.preemptible = false;
  request_.policy = "srsf";
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(plan.order_until_us, 1000 * kSecond + 40'001'880);
}

TEST_F(WaitsForARack, WithoutAnEstimateNotAtAll) {
  snapshot_.jobs[0].progress.work_total = 0;
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

// A policy state of another clock: the wait begins now.
TEST_F(WaitsForARack, SinceAnInstantThatHasBeen) {
  for (const std::int64_t since : {std::int64_t{5'000'000} * kSecond, INT64_MAX}) {
    kept_ = {};
    kept_.columns["contention.waiting_since_us"]["g"] = since;
    const Plan plan = decide();
    EXPECT_EQ(of(plan, 0).action, Action::kWait);
    EXPECT_EQ(plan.order_until_us, 1000 * kSecond + 40'001'880);
  }
  kept_ = {};
  kept_.columns["contention.waiting_since_us"]["g"] = INT64_MIN;
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

TEST_F(WaitsForARack, NotWhereItWouldHoldUpAllOthers) {
  request_.params = {{"discipline", "strict"}, {"packing", "contention"}};
  EXPECT_THROW(decide(), InvalidArgument);
}

// The shape policies place by the same rule.
TEST_F(WaitsForARack, PricesTooWait) {
  request_.policy = "price";
  request_.params = {{"packing", "contention"}};
  EXPECT_EQ(of(decide(), 0).action, Action::kWait);
  request_.params = {{"packing", "topology"}};
  kept_ = {};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

Group stage(const std::string& name, std::int32_t gpus) {
  Group group;
  group.name = name;
  group.parent = "job";
  group.gpus_per_member = gpus;
  return group;
}

// Two nodes in a pipeline, below one root. Steps of 2 s in a rack and 3 s between racks (CrossingLossTest.APipelineOfTwoNodes).
Job pipeline(std::int32_t gpus_each) {
  Job job = all_to_all("g", 60);
  Group root;
  root.name = "job";
  root.members_min = root.members_want = root.members_max = 0;
  job.shapes[0].gpus = 2 * gpus_each;
  job.shapes[0].groups = {root, stage("a", gpus_each), stage("b", gpus_each)};
  job.shapes[0].groups[1].communication = {{CommKind::kPp, "b", 10 * kGB}};
  return job;
}

TEST_F(WaitsForARack, TreesToo) {
  snapshot_.jobs[0] = pipeline(4);
  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(of(plan, 0).reason.level, 1);
  EXPECT_EQ(of(plan, 0).reason.best, 4);
  EXPECT_EQ(of(plan, 0).reason.until_us, plan.order_until_us);
  // 60 steps alone take 60.00306 s: 0.499994 of that.
  EXPECT_EQ(plan.order_until_us, 1000 * kSecond + 30'001'170);
  snapshot_.now_us = plan.order_until_us;
  plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(validate_plan(ClusterState(snapshot_), plan), std::vector<std::string>{});
}

TEST_F(WaitsForARack, TreesStartInARackAtOnce) {
  for (const char* const required : {"", "pod"}) {
    kept_ = {};
    snapshot_.jobs = {pipeline(4), holds_node("x", "n0")};
    if (*required != '\0') snapshot_.jobs[0].shapes[0].groups[0].require = LevelRef{TopologyKind::kSwitch, required};
    const Plan plan = decide();
    EXPECT_EQ(of(plan, 0).action, Action::kStart);
    EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{2, 3}));
    EXPECT_EQ(plan.entries[static_cast<std::size_t>(of(plan, 0).entry_begin)].group, 1);
    EXPECT_EQ(plan.order_until_us, kNever);
  }
}

// A row above the roots requires the rack; the groups of the plan are those of the job.
TEST_F(WaitsForARack, SeveralRootsToo) {
  snapshot_.jobs[0] = pipeline(4);
  auto& groups = snapshot_.jobs[0].shapes[0].groups;
  groups.erase(groups.begin());
  for (Group& root : groups) root.parent.clear();
  EXPECT_EQ(of(decide(), 0).reason.code, ReasonCode::kTopologyRequired);
  snapshot_.jobs.pop_back();
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(nodes(plan, of(plan, 0)), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(of(plan, 0).entry_begin)].group, 0);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(of(plan, 0).entry_begin) + 1].group, 1);
}

// r0 has 6 free GPUs, but not for two members of 3. The step takes 1 + 4 / 3 s in a rack, and 1 + 8 / 3 s between racks. With
// hops the loss is 1.333337 / 2.333363.
TEST_F(WaitsForARack, AndSaysSoOfGroupsThatDoNotFitTogether) {
  snapshot_.jobs[0] = pipeline(3);
  snapshot_.jobs[1] = holds_node("x", "n1");
  snapshot_.jobs[1].shapes[0].gpus = 2;
  snapshot_.jobs[1].allocation.entries[0].gpus = {0, 1};
  Plan plan = decide();
  const Decision& d = of(plan, 0);
  EXPECT_EQ(d.action, Action::kWait);
  EXPECT_EQ(d.reason.code, ReasonCode::kFragmented);
  EXPECT_EQ(d.reason.until_us, plan.order_until_us);
  EXPECT_NEAR(static_cast<double>(plan.order_until_us - 1000 * kSecond), 60.00306e6 * 0.571422, 100);
  EXPECT_EQ(render_reason(ClusterState(snapshot_), d.reason, 0),
            "needs 6 GPUs in one rack; r0 has 6 left, but its groups found no place there together; may start anywhere in 34 s");
}

// EASY reserves the rack, and the instant is that of the reservation.
TEST_F(WaitsForARack, AReservationIsNoWaitForADomain) {
  snapshot_.jobs[0].shapes[0].groups[0].require = LevelRef{TopologyKind::kSwitch, "rack"};
  snapshot_.jobs[1].estimate.run_us = 100 * kSecond;
  request_.params = {{"discipline", "easy"}};
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kReserve);
  EXPECT_EQ(of(plan, 0).start_us, 1100 * kSecond);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(render_reason(ClusterState(snapshot_), of(plan, 0).reason, 0).find("anywhere"), std::string::npos);
}

TEST_F(WaitsForARack, EveryBackendDecidesAlike) {
  for (const Job& gang : {all_to_all("g", 60), pipeline(4)}) {
    snapshot_.jobs[0] = gang;
    for (const TimeUs waited : {TimeUs{0}, 100 * kSecond}) {
      std::vector<Plan> plans;
      for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
        request_.backend = backend;
        kept_ = {};
        kept_.columns["contention.waiting_since_us"]["g"] = snapshot_.now_us - waited;
        plans.push_back(decide());
      }
      EXPECT_EQ(plans[0].decisions, plans[1].decisions);
      EXPECT_EQ(plans[0].entries, plans[1].entries);
      EXPECT_EQ(plans[0].order_until_us, plans[1].order_until_us);
      EXPECT_EQ(of(plans[0], 0).action, waited == 0 ? Action::kWait : Action::kStart);
    }
  }
}

}  // namespace
}  // namespace berth::test::contention_waits_test
