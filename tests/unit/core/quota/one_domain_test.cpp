// Jobs that need one node or one rack get what their queue is entitled to: docs/quotas.md, "What happens".
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/placement.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/quota/quota_support.hpp"

namespace berth::test::one_domain_test {
namespace {

// Jobs of one GPU, on the two nodes by turns: those that borrow make no room on either node.
class OneDomainTest : public QuotaOrderTest {
 protected:
  OneDomainTest() {
    for (std::int32_t i = 0; i < 16; ++i) runs("a" + std::to_string(i), "a", i % 2, i / 2, 1);
    waits("b0", "b", 8).shapes[0].groups = {group_of(1, 8)};
  }
  // The plan is valid, and the next decision changes nothing.
  void expect_settled(const Plan& plan) {
    EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
    commit(state_, plan);
    const Plan next = Engine().decide(state_, request_);
    EXPECT_EQ(with(next, Action::kPreempt), "");
    EXPECT_EQ(with(next, Action::kStart), "");
  }
  // b0 starts, and four jobs move for it.
  void expect_moves(const std::string& policy, std::int64_t preempts) {
    SCOPED_TRACE(policy);
    request_.policy = policy;
    request_.params.clear();
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0");
    EXPECT_EQ(plan.totals.moves, 4);
    EXPECT_EQ(plan.totals.preempts, preempts);
    expect_settled(plan);
  }
};

}  // namespace

TEST_F(OneDomainTest, JobsOtherThanTheYoungestLeave) {
  for (const char* policy : {"fifo", "sjf", "edf", "price", "gavel-las", "ones", "sia", "afs", "allox"}) {
    SCOPED_TRACE(policy);
    request_.policy = policy;
    request_.params.clear();
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0");
    EXPECT_EQ(with(plan, Action::kPreempt), "a0 a2 a4 a6 a8 a10 a12 a14");
    EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
  }
  request_.policy = "fifo";
  const Plan plan = decide();
  EXPECT_EQ(render_reason(state_, plan.decisions[0].reason, plan.decisions[0].job),
            "displaced by job b0: queue b is entitled to 8 GPUs, and its jobs before that have 0; jobs of queue a borrow 8");
  expect_settled(plan);
}

TEST_F(OneDomainTest, ForAFairShareToo) {
  for (Queue& queue : s_.queues) queue.quotas[0].guarantee = 0;
  EXPECT_EQ(displaced(), "");
  request_.params = {{"quotas", "fair"}};
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kPreempt), "a0 a2 a4 a6 a8 a10 a12 a14");
  expect_settled(plan);
}

// The oldest nine jobs of a are on node 0, but for one.
TEST_F(OneDomainTest, TheFewestOfThoseWithinLeave) {
  for (std::size_t i = 0; i < 8; ++i) s_.jobs[2 * i + 1].last_assignment_us = (i == 0 ? 0 : 100) * kSecond;
  EXPECT_EQ(displaced(), "a1 a3 a5 a7 a9 a11 a13 a15");
}

// The guarantee of a is 8: it has no more, and c borrows too little on each node.
TEST_F(OneDomainTest, AQueueKeepsItsGuarantee) {
  s_.queues.push_back(queue_of("c", 0));
  for (std::size_t i = 0; i < 8; ++i) s_.jobs[i].queue = "c";
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kPreempt), "");
  EXPECT_EQ(with(plan, Action::kWait), "b0");
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
  // With a guarantee of 4 it borrows four, and gives back those on the node.
  s_.queues[0].quotas[0].guarantee = 4;
  EXPECT_EQ(displaced(), "a0 a2 a4 a6 a8 a10 a12 a14");
}

TEST_F(OneDomainTest, JobsThatMayNotBeDisplacedStay) {
  s_.jobs[0].preemption.preemptible = false;
  EXPECT_EQ(displaced(), "a1 a3 a5 a7 a9 a11 a13 a15");
  s_.jobs[1].preemption.guaranteed_until_us = s_.now_us + 60 * kSecond;
  EXPECT_EQ(displaced(), "");
}

// Two nodes in each rack: of a, one job of 8 GPUs on each node, and the older one of each rack is within its guarantee.
TEST_F(OneDomainTest, AGangTakesOneRack) {
  add_racks();
  s_.jobs.clear();
  for (std::int32_t n = 0; n < 4; ++n) {
    s_.nodes[static_cast<std::size_t>(n)].domain[0] = n % 2 == 0 ? "r0" : "r1";
    runs("a" + std::to_string(n), "a", n, 0, 8);
  }
  s_.queues = {queue_of("a", 16), queue_of("b", 16)};
  Group group = group_of(2, 8);
  group.require = LevelRef{TopologyKind::kSwitch, "rack"};
  waits("b0", "b", 16).shapes[0].groups = {group};
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kPreempt), "a0 a2");
  expect_settled(plan);
}

// A policy that displaces jobs counts those of a in its own order. So the first eight are within, wherever they run: half of them move.
TEST_F(OneDomainTest, JobsBeforeItMoveWherePoliciesDisplaceJobs) {
  for (const char* policy : {"srsf", "srtf", "las", "gittins", "tiresias", "priority", "gandiva", "themis", "dally", "genie"}) {
    expect_moves(policy, 8);
  }
}

// All are within guarantees: half of the cluster is free, on no node enough.
TEST_F(OneDomainTest, JobsMoveWhereNoneBorrows) {
  s_.jobs.erase(s_.jobs.begin() + 8, s_.jobs.begin() + 16);
  for (const char* policy : {"srsf", "las", "priority"}) {
    expect_moves(policy, 0);
  }
}

TEST_F(OneDomainTest, AScenarioSaysTheSame) {
  request_.policy = "srsf";
  request_.params.clear();
  const Plan plan = decide();
  Scenario scenario;
  scenario.policy = "srsf";
  const ScenarioOutcome outcome = Placement().place(state_, {&scenario, 1}).front();
  EXPECT_EQ(outcome.totals.starts, 1);
  for (std::size_t i = 0; i < outcome.job.size(); ++i) EXPECT_EQ(outcome.action[i], plan.decisions[i].action) << i;
}

// Those before it keep as many GPUs as they had, and stay where they may not be displaced.
TEST_F(OneDomainTest, ItWaitsWhereJobsBeforeItFindNoOtherPlace) {
  request_.policy = "srsf";
  request_.params.clear();
  s_.queues[0].quotas[0].guarantee = 9;
  EXPECT_EQ(with(decide(), Action::kStart), "");
  s_.queues[0].quotas[0].guarantee = 8;
  s_.jobs[0].preemption.preemptible = false;
  EXPECT_EQ(with(decide(), Action::kStart), "b0") << "on the other node";
  s_.jobs[1].preemption.guaranteed_until_us = s_.now_us + 60 * kSecond;
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "");
  EXPECT_EQ(plan.totals.moves + plan.totals.preempts, 0);
}

// One that needs as much in one place would find none either: others are displaced first, though they come before it in the order.
TEST_F(OneDomainTest, JobsThatNeedAsMuchStay) {
  request_.policy = "srsf";
  request_.params.clear();
  add_node();
  s_.queues[0].quotas[0].guarantee = 16;
  for (std::size_t i = 8; i < 16; ++i) s_.jobs[i].estimate.run_us = 7200 * kSecond;
  Job& whole = runs("whole", "a", 2, 0, 8);
  whole.shapes[0].groups = {group_of(1, 8)};
  whole.estimate.run_us = 600 * kSecond;  // within the guarantee, behind the eight
  whole.allocation.entries[0].group = "g";
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(with(plan, Action::kPreempt), "a8 a9 a10 a11 a12 a13 a14 a15");
  EXPECT_EQ(plan.totals.moves, 4);
  expect_settled(plan);
}

// The job of four would find room on GPUs of another type only.
TEST_F(OneDomainTest, JobsBeforeItKeepTheirType) {
  request_.policy = "srsf";
  request_.params.clear();
  s_.jobs.clear();
  s_.gpu_types.resize(2);
  s_.gpu_types[1].id = "A";
  add_node();
  add_node();
  s_.nodes[3].gpu_type = "A";
  Job& four = runs("a0", "a", 0, 0, 4);
  four.shapes[0].groups = {group_of(1, 4)};
  four.allocation.entries[0].group = "g";
  s_.queues.push_back(queue_of("c", 0));
  runs("c0", "c", 0, 4, 4);
  for (const std::int32_t node : {1, 2}) {
    runs("stays" + std::to_string(node), "c", node, 0, 6).preemption.preemptible = false;
    runs("c" + std::to_string(node), "c", node, 6, 2);
  }
  Shape& shape = waits("b0", "b", 8).shapes[0];
  shape.groups = {group_of(1, 8)};
  shape.gpu_type = "H";
  EXPECT_EQ(with(decide(), Action::kStart), "");
  for (Job& job : s_.jobs) {
    if (job.id == "stays1") job.preemption.preemptible = true;
  }
  EXPECT_EQ(with(decide(), Action::kStart), "b0");
}

// Of scenarios with one order, only the second takes the GPUs that the job could get.
TEST_F(OneDomainTest, ScenariosTakeGpusEachForItself) {
  for (std::size_t i = 8; i < 16; ++i) s_.jobs[i].state = JobState::kWaiting;
  for (std::size_t i = 8; i < 16; ++i) s_.jobs[i].allocation = {};
  decide();
  std::vector<Scenario> scenarios(3);
  for (Scenario& one : scenarios) one.policy = "srsf";
  scenarios[1].taken = {{"n0", 0x80}, {"n1", 0x80}};
  const std::vector<ScenarioOutcome> outcomes = Placement().place(state_, scenarios);
  EXPECT_EQ(outcomes[0].action[16], Action::kStart);
  EXPECT_EQ(outcomes[1].action[16], Action::kWait);
  EXPECT_EQ(outcomes[2].action[16], Action::kStart);
  EXPECT_EQ(outcomes[2].entries.size(), outcomes[0].entries.size());
}

// The first of b blocks it: it needs 12 GPUs, and node 0 is held for good.
TEST_F(OneDomainTest, AJobBehindTheOneThatBlocksDoesNotOvertake) {
  request_.policy = "las";
  request_.params = {{"discipline", "strict"}};
  s_.jobs.clear();
  runs("a0", "a", 0, 0, 8).preemption.preemptible = false;
  s_.queues[1].quotas[0].guarantee = 16;
  waits("b0", "b", 12);
  waits("b1", "b", 4).shapes[0].groups = {group_of(1, 4)};
  EXPECT_EQ(with(decide(), Action::kStart), "");
}

// Smaller classes come later. Jobs of its class that are within stay so too.
TEST_F(OneDomainTest, UnderClassesToo) {
  request_.policy = "priority";
  request_.params.clear();
  for (std::size_t i = 0; i < 16; ++i) s_.jobs[i].priority = s_.jobs[i].preemption.preemption_class = i < 4 ? 2 : i < 12 ? 1 : 0;
  for (const std::int32_t of : {0, 1, 2}) {
    SCOPED_TRACE(of);
    s_.jobs[16].priority = s_.jobs[16].preemption.preemption_class = of;
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0");
    EXPECT_EQ(with(plan, Action::kPreempt), "a8 a9 a10 a11 a12 a13 a14 a15");
    expect_settled(plan);
  }
}

// As the first but for the queue: live decisions follow it, and the next is made from what changed.
TEST_F(OneDomainTest, InLiveDecisionsToo) {
  request_.policy = "las";
  request_.params.clear();
  request_.changes_only = true;
  const Job last = s_.jobs.back();
  s_.jobs.pop_back();
  state_ = ClusterState(s_);
  Engine engine;
  Plan plan;
  PolicyState policy_state;
  engine.decide(state_, policy_state, request_, plan);
  EXPECT_TRUE(plan.decisions.empty());
  state_.apply(delta::PutJob{last});
  engine.decide(state_, policy_state, request_, plan);
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(plan.totals.moves, 4);
}

}  // namespace berth::test::one_domain_test
