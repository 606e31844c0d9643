// Queues get back what they are entitled to: docs/quotas.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/queues.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/quota/quota_support.hpp"

namespace berth::test::quota_order_test {

TEST_F(QuotaOrderTest, AQueueGetsItsGuaranteeBack) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  waits("b0", "b", 8);
  for (const PolicyInfo& policy : policies()) {
    request_.policy = policy.name;
    request_.params.clear();
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0") << policy.name;
    EXPECT_EQ(with(plan, Action::kPreempt), "a1") << policy.name << ": the youngest";
  }
  request_.policy = "fifo";
  request_.params = {{"quotas", "limits"}};
  EXPECT_EQ(displaced(), "");
}

// One job of 8 GPUs costs 8 x 12 s, eight of one GPU 60 s each: less for each, but more in all.
TEST_F(QuotaOrderTest, VictimsAreFewAndCheapTogether) {
  for (std::int32_t g = 0; g < 8; ++g) runs("a" + std::to_string(g), "a", 0, g, 1).costs.restart_us = 60 * kSecond;
  runs("a8", "a", 1, 0, 8).costs.restart_us = 12 * kSecond;
  s_.queues[0].quotas[0].guarantee = 0;
  waits("b0", "b", 8);
  EXPECT_EQ(displaced(), "a8");
  s_.jobs[8].costs.restart_us = 61 * kSecond;
  EXPECT_EQ(displaced(), "a0 a1 a2 a3 a4 a5 a6 a7");
  s_.jobs[8].costs.restart_us = 60 * kSecond;
  EXPECT_EQ(displaced(), "a8") << "of the same cost the fewer jobs";
  s_.jobs[3].priority = 1;
  s_.jobs[8].costs.restart_us = 61 * kSecond;
  EXPECT_EQ(displaced(), "a8") << "a lower priority comes before the cost";
}

// Without costs the fewest leave. Of as many the youngest do, wherever they run.
TEST_F(QuotaOrderTest, TheFewestVictimsLeaveThenTheYoungest) {
  runs("a0", "a", 0, 0, 4);
  runs("a1", "a", 0, 4, 4);
  runs("a2", "a", 1, 0, 8);
  s_.queues[0].quotas[0].guarantee = 0;
  waits("b0", "b", 8);
  EXPECT_EQ(displaced(), "a2");
  s_.jobs.back().shapes[0].gpus = 4;
  EXPECT_EQ(displaced(), "a2") << "the youngest of one each";
  s_.jobs[2].last_assignment_us = 0;
  EXPECT_EQ(displaced(), "a1");
}

// Each restart so far counts as another one.
TEST_F(QuotaOrderTest, AJobIsNotDisplacedAgainAndAgain) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 8).costs.restart_us = 30 * kSecond;
  runs("a1", "a", 1, 0, 8).costs.restart_us = 20 * kSecond;
  waits("b0", "b", 8);
  EXPECT_EQ(displaced(), "a1");
  s_.jobs[1].progress.restarts = 1;
  EXPECT_EQ(displaced(), "a0") << "30 s, not 2 x 20 s";
  s_.jobs[0].costs.restart_us = s_.jobs[1].costs.restart_us = 0;
  EXPECT_EQ(displaced(), "a0") << "the fewest restarts";
}

// a1 may not be displaced, so no node becomes free for b0. The validator counts again.
TEST_F(QuotaOrderTest, AnEntitledJobForWhichNoJobsMakeRoomSaysSo) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 7);
  runs("a1", "a", 0, 7, 1).preemption.preemptible = false;
  runs("a2", "a", 1, 0, 8).preemption.guaranteed_until_us = s_.now_us + 60 * kSecond;
  waits("b0", "b", 8);
  const auto reason = [&](const Plan& plan) { return plan.decisions.back().reason; };
  Plan plan = decide();
  EXPECT_EQ(reason(plan).queue, 1);
  EXPECT_EQ(render_reason(state_, reason(plan), plan.decisions.back().job),
            "needs 8 GPUs; 0 free after this plan; queue b is entitled to it, but no jobs that may be displaced make room");
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
  // Smaller by one, it has room.
  s_.jobs.back().shapes[0].gpus = 7;
  EXPECT_EQ(displaced(), "a0");
  request_.params.emplace_back("quotas", "limits");
  plan = decide();
  EXPECT_EQ(reason(plan).queue, -1);
  plan.params.clear();
  plan.decisions.back().reason.queue = 1;
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{"job b0: waits although jobs that may be displaced would make room"});
  plan.decisions.back().reason.queue = 0;
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{"job b0: waits for GPUs of a queue that it does not stand in"});
  // Larger than the guarantee it is not entitled.
  s_.jobs.back().shapes[0].gpus = 9;
  plan = decide();
  plan.decisions.back().reason.queue = 1;
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{"job b0: waits as one that its queue is entitled to; it is not"});
}

// b0 comes before a0, which it displaces, in the order of jobs. a0's GPUs are not free for b1 then.
TEST_F(QuotaOrderTest, WhatAVictimLeftIsTakenByTheOneThatStarts) {
  s_.queues = {queue_of("a", 0), queue_of("b", 16)};
  waits("b0", "b", 8);
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8).preemption.preemptible = false;
  waits("b1", "b", 8);
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(plan.decisions.back().reason.queue, 1);
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
}

// No jobs make room for b0. So b1 and b2 get what the queue is entitled to.
TEST_F(QuotaOrderTest, AJobWithoutRoomDoesNotHoldUpItsQueue) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 1).preemption.preemptible = false;
  runs("a1", "a", 0, 1, 7);
  runs("a2", "a", 1, 0, 8).preemption.preemptible = false;
  waits("b0", "b", 8);
  waits("b1", "b", 5);
  waits("b2", "b", 2);
  Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b1 b2");
  EXPECT_EQ(with(plan, Action::kPreempt), "a1");
  EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
  // b0 takes none of it, so b1 and b2 have all.
  s_.jobs[4].shapes[0].gpus = 7;
  plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b1") << "with b2 it would be 9 of 8";
}

// b0 must have one node, and has room on n1, where no victim runs. It takes 8 of the 8 GPUs, so b1 borrows.
TEST_F(QuotaOrderTest, AJobWithRoomOnANodeWithoutVictimsTakesItsGuarantee) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 4);
  runs("a1", "a", 0, 4, 4).preemption.preemptible = false;
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = 2;
  group.gpus_per_member = 4;
  group.require = LevelRef{TopologyKind::kSwitch, "node"};
  waits("b0", "b", 8).shapes[0].groups = {group};
  waits("b1", "b", 4);
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(with(plan, Action::kPreempt), "");
}

// a0 runs on 8 GPUs, and may run on 4. b0 gets 4 of them.
TEST_F(QuotaOrderTest, AnElasticVictimShrinks) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 8).shapes.push_back({});
  s_.jobs[0].shapes[1].id = "half";
  s_.jobs[0].shapes[1].gpus = 4;
  runs("a1", "a", 1, 0, 8).preemption.preemptible = false;
  waits("b0", "b", 4);
  for (const char* policy : {"fifo", "sjf", "price", "sia"}) {
    request_.policy = policy;
    request_.params.clear();
    if (std::string(policy) == "fifo" || std::string(policy) == "sjf") request_.params = {{"shape", "largest"}};
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kResize), "a0") << policy;
    EXPECT_EQ(with(plan, Action::kStart), "b0") << policy;
  }
}

// A gang must fit one rack. Which jobs leave is chosen for the whole rack.
TEST_F(QuotaOrderTest, VictimsAreOfOneRack) {
  add_racks();
  for (std::int32_t n = 0; n < 4; ++n) {
    s_.nodes[static_cast<std::size_t>(n)].domain[0] = n < 2 ? "r0" : "r1";
    Job& job = runs("a" + std::to_string(n), "a", n, 0, 8);
    job.costs.restart_us = (n == 0 ? 1 : n == 1 ? 40 : 20) * kSecond;
  }
  s_.queues = {queue_of("a", 0), queue_of("b", 32)};
  Job& gang = waits("b0", "b", 16);
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = 2;
  group.gpus_per_member = 8;
  group.require = LevelRef{TopologyKind::kSwitch, "rack"};
  gang.shapes[0].groups = {group};
  EXPECT_EQ(displaced(), "a2 a3") << "40 s together; 41 s in the other rack";
  s_.jobs[1].costs.restart_us = 38 * kSecond;
  EXPECT_EQ(displaced(), "a0 a1");
}

TEST_F(QuotaOrderTest, TheReasonSaysWhatTheQueueIsEntitledTo) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  waits("b0", "b", 8);
  const Plan plan = decide();
  const Reason& reason = plan.decisions[1].reason;
  EXPECT_EQ(reason.code, ReasonCode::kLostPriority);
  EXPECT_EQ(s_.queues[static_cast<std::size_t>(reason.queue)].id, "b");
  EXPECT_EQ(reason.asked, 8);
  EXPECT_EQ(reason.best, 0);
}

TEST_F(QuotaOrderTest, MoreThanAGuaranteeDisplacesNone) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 4);
  runs("b0", "b", 1, 4, 4);
  waits("b1", "b", 8);
  EXPECT_EQ(displaced(), "") << "b would have 12";
  waits("b2", "b", 4);
  EXPECT_EQ(displaced(), "a1") << "b2 brings it to 8";
}

TEST_F(QuotaOrderTest, WhoIsWithinItsGuaranteeStays) {
  s_.queues[1].quotas[0].guarantee = 16;
  runs("a0", "a", 0, 0, 8);
  runs("b0", "b", 1, 0, 8);
  waits("b1", "b", 8);
  EXPECT_EQ(displaced(), "") << "together the guarantees are more than there is";
}

// By priority, then cost, then number, then age; of the queue that is furthest above what it is entitled to.
TEST_F(QuotaOrderTest, VictimsAreFewAndTheLeast) {
  s_.queues.push_back(queue_of("c", 0));
  s_.queues[0].quotas[0].guarantee = 2;
  runs("a0", "a", 0, 0, 2).priority = 9;
  runs("a1", "a", 0, 2, 2).priority = 1;
  runs("a2", "a", 0, 4, 2);
  runs("a3", "a", 0, 6, 2);
  runs("c0", "c", 1, 0, 4);
  runs("c1", "c", 1, 4, 2);
  runs("c2", "c", 1, 6, 2);
  Job& starts = waits("b0", "b", 2);
  // a is 6 above, c 8.
  EXPECT_EQ(displaced(), "c2") << "the youngest of c";
  starts.shapes[0].gpus = 4;
  EXPECT_EQ(displaced(), "c0") << "one rather than two";
  s_.queues[2].weight_ppm = 4'000'000;
  starts.shapes[0].gpus = 2;
  EXPECT_EQ(displaced(), "a3") << "c is 8 above with a weight of 4";
  s_.jobs[3].costs.restart_us = 100 * kSecond;
  EXPECT_EQ(displaced(), "a2") << "it costs less";
  s_.jobs[2].preemption.preemptible = false;
  EXPECT_EQ(displaced(), "a3");
}

// b0 needs a whole node. The youngest victims are on two nodes; those that are not needed keep their GPUs.
TEST_F(QuotaOrderTest, NothingIsFreedInVain) {
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 4);
  runs("a1", "a", 1, 0, 4);
  runs("a2", "a", 0, 4, 4);
  runs("a3", "a", 1, 4, 4);
  Job& gang = waits("b0", "b", 8);
  gang.shapes[0].groups.resize(1);
  gang.shapes[0].groups[0].name = "g";
  gang.shapes[0].groups[0].members_min = gang.shapes[0].groups[0].members_want = gang.shapes[0].groups[0].members_max = 1;
  gang.shapes[0].groups[0].gpus_per_member = 8;
  EXPECT_EQ(displaced(), "a1 a3");
}

TEST_F(QuotaOrderTest, AJobThatMayNotBeDisplacedYetWakesTheDecision) {
  runs("a0", "a", 0, 0, 8).preemption.minimum_run_us = 600 * kSecond;
  runs("a1", "a", 1, 0, 8).preemption.guaranteed_until_us = 1300 * kSecond;
  waits("b0", "b", 8);
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kPreempt), "");
  EXPECT_EQ(plan.order_until_us, 1300 * kSecond) << "a0 is within the guarantee of a";
  s_.now_us = 1300 * kSecond;
  EXPECT_EQ(displaced(), "a1");
}

// A job that waits is entitled by its queue's place in the tree: what a1 leaves of a's guarantee is a2's.
TEST_F(QuotaOrderTest, GuaranteesAreHandedDown) {
  s_.queues = {queue_of("a", 12), queue_of("a1", 4, "a"), queue_of("a2", 4, "a"), queue_of("b", 4)};
  runs("b0", "b", 0, 0, 4);
  runs("b1", "b", 0, 4, 4);
  runs("b2", "b", 1, 0, 4);
  runs("y", "a1", 1, 4, 4);
  waits("x", "a2", 8);
  EXPECT_EQ(displaced(), "b1 b2");
}

// 16 GPUs, no guarantees: 8 each by fair share.
TEST_F(QuotaOrderTest, FairSharesAreGivenBackWhereAskedFor) {
  for (Queue& queue : s_.queues) queue.quotas.clear();
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  waits("b0", "b", 8);
  EXPECT_EQ(displaced(), "");
  request_.params.emplace_back("quotas", "fair");
  EXPECT_EQ(displaced(), "a1");
  s_.queues[0].weight_ppm = 3'000'000;  // 12 and 4
  EXPECT_EQ(displaced(), "");
}

// A queue of types: the guarantee of H says nothing about A.
TEST_F(QuotaOrderTest, AGuaranteeOfATypeIsOfThatType) {
  s_.gpu_types.resize(2);
  s_.gpu_types[1].id = "A";
  add_node();
  s_.nodes[2].gpu_type = "A";
  s_.queues[1].quotas = {{"H", 8, kUnlimited, kUnlimited}};
  s_.queues[0].quotas[0].guarantee = 0;
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  runs("a2", "a", 2, 0, 8);
  waits("b0", "b", 8).shapes[0].gpu_type = "A";
  EXPECT_EQ(displaced(), "");
  waits("b1", "b", 8).shapes[0].gpu_type = "H";
  EXPECT_EQ(displaced(), "a1");
}

// b0 may run on both types. On H c is within its guarantee, on A a0 borrows.
TEST_F(QuotaOrderTest, AJobOfAnyTypeTakesTheTypeThatIsBorrowed) {
  s_.gpu_types.resize(2);
  s_.gpu_types[1].id = "A";
  s_.nodes[1].gpu_type = "A";
  s_.queues = {queue_of("a", 0), queue_of("b", 8), queue_of("c", 8)};
  runs("c0", "c", 0, 0, 8);
  runs("a0", "a", 1, 0, 8);
  waits("b0", "b", 8);
  for (const char* policy : {"fifo", "srtf", "price", "optimus", "gavel-las", "gavel-makespan", "ones", "sia", "pop", "afs"}) {
    request_.policy = policy;
    request_.params.clear();
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0") << policy;
    EXPECT_EQ(with(plan, Action::kPreempt), "a0") << policy;
  }
}

class QuotaTypesTest : public QuotaOrderTest {
 protected:
  // Node 0 and 1 of H, 2 and 3 of A. Both queues have a guarantee of 8 of each type, and none of all types.
  QuotaTypesTest() {
    s_.gpu_types.resize(2);
    s_.gpu_types[1].id = "A";
    add_node();
    add_node();
    s_.nodes[2].gpu_type = s_.nodes[3].gpu_type = "A";
    for (Queue& queue : s_.queues) queue.quotas = {{"H", 8, kUnlimited, kUnlimited}, {"A", 8, kUnlimited, kUnlimited}};
  }
  static constexpr const char* kPolicies[] = {"fifo",   "sjf",   "srtf",      "srsf", "las",    "priority",
                                              "themis", "price", "gavel-las", "sia",  "optimus"};
};

// Jobs of any type count in the type that they hold, or in those that they might get.
TEST_F(QuotaTypesTest, AJobOfAnyTypeGetsAGuaranteeOfATypeBack) {
  for (std::int32_t n = 0; n < 4; ++n) runs("a" + std::to_string(n), "a", n, 0, 8);
  waits("b0", "b", 8);
  for (const char* policy : kPolicies) {
    request_.policy = policy;
    request_.params.clear();
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0") << policy;
    EXPECT_EQ(plan.totals.preempts, 1) << policy;
    EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{}) << policy;
  }
}

// b has one of its guarantees, and gets the other back. Policies that do not displace jobs count b0 in A, where it runs, and take H.
TEST_F(QuotaTypesTest, JobsAreDisplacedOnlyOfATypeWithRoomInTheGuarantee) {
  runs("a0", "a", 0, 0, 8).preemption.preemptible = false;
  runs("a1", "a", 1, 0, 8);
  runs("b0", "b", 2, 0, 8);
  runs("a2", "a", 3, 0, 8);
  waits("b1", "b", 8);
  for (const char* policy : kPolicies) {
    request_.policy = policy;
    request_.params.clear();
    const Plan plan = decide();
    // Policies that displace jobs let a1 claim A, which it may use as well, and take a2.
    const std::string victim = with(plan, Action::kPreempt);
    EXPECT_TRUE(victim == "a1" || victim == "a2") << policy << ": " << victim;
    EXPECT_EQ(with(plan, Action::kStart), "b1") << policy;
  }
  s_.queues[0].quotas[1].guarantee = 0;  // a borrows on A, too
  s_.jobs[1].preemption.preemptible = false;
  for (const char* policy : {"fifo", "price", "gavel-las"}) {
    request_.policy = policy;
    request_.params.clear();
    EXPECT_EQ(displaced(), "") << policy;
  }
}

// Free GPUs of another type are taken first, borrowed.
TEST_F(QuotaTypesTest, FreeGpusAreTakenBeforeJobsAreDisplaced) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  s_.queues[1].quotas[1].guarantee = 0;
  waits("b0", "b", 8);
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kPreempt), "");
  EXPECT_EQ(with(plan, Action::kStart), "b0");
}

// b0 may start on either type, so that the others are judged once it has.
TEST_F(QuotaTypesTest, AGuaranteeIsGivenBackOnce) {
  for (std::int32_t n = 0; n < 4; ++n) runs("a" + std::to_string(n), "a", n, 0, 8);
  waits("b0", "b", 8);
  waits("b1", "b", 8);
  waits("b2", "b", 8);
  Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(plan.totals.preempts, 1);
  for (const Decision& d : plan.decisions) {
    if (d.action != Action::kPreempt) continue;
    const std::int32_t node = state_.find_node("n" + state_.job(d.job)->id.substr(1));
    EXPECT_EQ(d.reason.gpu_type, node < 2 ? 1 : 0) << "A, then H";
  }
  commit(state_, plan);
  plan = Engine().decide(state_, request_);
  EXPECT_EQ(with(plan, Action::kStart), "b1");
  EXPECT_EQ(plan.totals.preempts, 1);
  commit(state_, plan);
  EXPECT_EQ(Engine().decide(state_, request_).totals.preempts, 0);
}

// b0 starts on free GPUs of A. b1 is not within with it, and displaces no job of A.
TEST_F(QuotaTypesTest, AQueueGetsNoMoreThanItsGuaranteeBack) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  runs("a2", "a", 2, 0, 8);
  s_.queues[0].quotas[1].guarantee = 0;
  waits("b0", "b", 8);
  waits("b1", "b", 8).shapes[0].gpu_type = "A";
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "b0");
  EXPECT_EQ(with(plan, Action::kPreempt), "");
}

// What a job asks for of each type is what it is entitled to of it.
TEST_F(QuotaTypesTest, AShapeThatIsTriedFirstDoesNotBoundTheOthers) {
  runs("a0", "a", 2, 0, 8);
  runs("a1", "a", 3, 0, 8);
  runs("a2", "a", 0, 0, 8).preemption.preemptible = false;
  runs("a3", "a", 1, 0, 8).preemption.preemptible = false;
  s_.queues[0].quotas.clear();
  s_.queues[1].quotas = {{"A", 8, kUnlimited, kUnlimited}};
  Job& job = waits("b0", "b", 2);
  job.shapes[0].gpu_type = "H";
  job.shapes.push_back(job.shapes[0]);
  job.shapes[1].id = "t";
  job.shapes[1].gpus = 8;
  job.shapes[1].gpu_type = "A";
  request_.params.emplace_back("shape", "least_gpu_time");
  EXPECT_EQ(displaced(), "a1");
}

TEST_F(QuotaOrderTest, AJobThatCanNeverRunAsksForNothing) {
  runs("a0", "a", 0, 0, 4);
  waits("b0", "b", 2);
  waits("b1", "b", 64);
  const Plan plan = decide();
  const std::vector<QueueStanding> before = queue_standings(state_), after = queue_standings(state_, &plan);
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(before[1].waiting, 2 * kWholeGpu);
  EXPECT_EQ(before[1].entitled, 2 * kWholeGpu);
  EXPECT_EQ(after[1].waiting, 0);
  EXPECT_EQ(after[1].entitled, 2 * kWholeGpu);
}

// It ran until then, however long ago it was submitted.
TEST_F(QuotaOrderTest, AQueueWhoseJobThePlanDisplacesStarvesFromThatInstant) {
  runs("a0", "a", 0, 0, 8);
  runs("x", "", 1, 0, 8).preemption.preemptible = false;
  Job& urgent = waits("urgent", "", 8);
  urgent.priority = urgent.preemption.preemption_class = 9;
  request_.policy = "priority";
  request_.params = {{"quotas", "limits"}};
  const Plan plan = decide();
  ASSERT_EQ(with(plan, Action::kPreempt), "a0");
  EXPECT_EQ(queue_standings(state_).at(0).starved_since, kNever);
  EXPECT_EQ(queue_standings(state_, &plan).at(0).starved_since, s_.now_us);
  // Once it waits, it is that instant still.
  commit(state_, plan);
  EXPECT_EQ(queue_standings(state_).at(0).starved_since, s_.now_us);
}

TEST_F(QuotaOrderTest, EveryPolicyWakesWhenAJobMayBeDisplaced) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8).preemption.guaranteed_until_us = 1300 * kSecond;
  s_.jobs[0].preemption.preemptible = false;
  waits("b0", "b", 8);
  for (const char* policy : {"fifo", "priority", "price", "sia"}) {
    request_.policy = policy;
    request_.params.clear();
    EXPECT_EQ(decide().order_until_us, 1300 * kSecond) << policy;
  }
}

}  // namespace berth::test::quota_order_test
