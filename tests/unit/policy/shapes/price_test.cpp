// Options by prices, computed by hand: one node of 8 GPUs, objective throughput (the speed over that on one GPU).

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/placement.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/objective.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::price_test {
namespace {

using test::add_job;
using test::elastic;
using test::fate;
using test::one_node;
using test::run_on;
using test::runs;

Plan plan_of(const ClusterState& state, std::vector<std::pair<std::string, std::string>> params = {}) {
  params.emplace_back("objective", "throughput");
  return test::valid_plan(state, test::asking("price", std::move(params)));
}

TEST(PricePolicy, EqualJobsShareTheNode) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
  EXPECT_EQ(plan.bound.objective, "throughput");
  EXPECT_EQ(plan.bound.value, 6'800'000);
  EXPECT_EQ(plan.bound.bound, 6'800'000);
}

TEST(PricePolicy, AJobThatPaysTooLittleIsOutbid) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b");
  add_job(s, "c", 8).shapes[0].rate = 1'000'000;
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "c"), "wait");
  const Reason& reason = plan.decisions[2].reason;
  EXPECT_EQ(reason.code, ReasonCode::kOutbid);
  EXPECT_EQ(reason.members, 8);
  EXPECT_EQ(reason.best, 1'000'000);
  EXPECT_EQ(reason.asked, 8 * plan.bound.prices[0].second);
  EXPECT_EQ(render_reason(state, reason, 2), "8 a100 GPUs add 77 % less objective value to this job than to other jobs");
  EXPECT_EQ(render_would_start_if(state, reason, 2), "");
}

TEST(PricePolicy, AJobThatIsNotOutbidMayNotBeSaidToBe) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b");
  add_job(s, "c", 8).shapes[0].rate = 1'000'000;
  const ClusterState state(s);
  Plan plan = plan_of(state);
  plan.decisions[2].reason.asked -= 1;
  EXPECT_EQ(validate_plan(state, plan).size(), 1u);
  plan.decisions[2].reason.asked = plan.decisions[2].reason.best - 1;
  EXPECT_EQ(validate_plan(state, plan).size(), 1u);

  Plan other = Engine().decide(state, test::asking("fifo"));
  other.decisions[2].reason = plan_of(state).decisions[2].reason;
  EXPECT_EQ(validate_plan(state, other), std::vector<std::string>{"job c: has the reason outbid; the plan has no prices"});
}

TEST(PricePolicy, ARunningJobMakesRoomWhereTheChangePays) {
  Snapshot s = one_node();
  Job& a = runs(elastic(s, "a"), 8);
  a.costs.scale_us = 60 * kSecond;
  elastic(s, "b");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "resize 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
  // The change takes a minute of the hour: 3.4 x 59 / 60 and 3.4.
  EXPECT_EQ(plan.bound.value, 3'343'333 + 3'400'000);
}

// Resizing costs what the job states, be that less than a restart.
TEST(PricePolicy, AResizeMayCostLessThanARestart) {
  Snapshot s = one_node();
  Job& a = runs(elastic(s, "a"), 8);
  a.costs.restart_us = 120 * kSecond;
  elastic(s, "b");
  for (const TimeUs scale : {0, 60}) {
    s.jobs[0].costs.scale_us = scale * kSecond;
    const ClusterState state(s);

    const Plan plan = plan_of(state);

    EXPECT_EQ(fate(state, plan, "a"), "resize 4");
    EXPECT_EQ(plan.decisions[0].cost_us, (scale == 0 ? 120 : 60) * kSecond);
    // 3.4 x 58 / 60 or 59 / 60, and 3.4; being displaced would lose 5 x 2 / 60, and counts as the least that a can have.
    EXPECT_EQ(plan.bound.value, (scale == 0 ? 3'286'666 : 3'343'333) + 3'400'000 + 166'667);
    Plan wrong = plan;
    wrong.decisions[0].cost_us = 90 * kSecond;
    EXPECT_EQ(validate_plan(state, wrong),
              std::vector<std::string>{scale == 0 ? "job a: has the action resize at a cost of 90 s; it is 120 s"
                                                  : "job a: has the action resize at a cost of 90 s; it is 60 s"});
  }
}

TEST(PricePolicy, AChangeThatCostsMoreThanTheHorizonIsNotMade) {
  Snapshot s = one_node();
  Job& a = runs(elastic(s, "a"), 8);
  a.costs.scale_us = 60 * kSecond;
  elastic(s, "b");
  const ClusterState state(s);

  const Plan plan = plan_of(state, {{"horizon_s", "60"}});

  EXPECT_EQ(fate(state, plan, "a"), "keep 8");
  EXPECT_EQ(fate(state, plan, "b"), "wait");
}

TEST(PricePolicy, DisplacingCostsWhatStartingAgainCosts) {
  Snapshot s = one_node();
  Job& a = runs(elastic(s, "a"), 8);
  a.shapes = {a.shapes[3]};  // it runs on eight, or not at all
  a.costs.restart_us = 360 * kSecond;
  add_job(s, "b", 8).shapes[0].rate = 1'000'000;
  s.jobs.back().weight_ppm = 1'050'000;  // a has the value 1 and loses a tenth
  const ClusterState state(s);
  EXPECT_EQ(fate(state, plan_of(state), "a"), "keep 8");
  s.jobs.back().weight_ppm = 1'150'000;
  const ClusterState dearer(s);
  EXPECT_EQ(fate(dearer, plan_of(dearer), "a"), "preempt");
}

TEST(PricePolicy, JobsThatMayNotBeDisplacedAreLeftOutOfTheChoice) {
  Snapshot s = one_node();
  Job& a = runs(elastic(s, "a"), 4);
  a.preemption.preemptible = false;
  elastic(s, "b");
  elastic(s, "c");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "keep 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 2");
  EXPECT_EQ(plan.bound.bound, 3'800'000);
}

TEST(PricePolicy, AGangInAFormThatNoShapeHasStays) {
  Snapshot s = one_node();
  Job& a = add_job(s, "a", 4);
  a.shapes[0].groups = {test::group_of("workers", 4, 1)};
  a.shapes[0].groups[0].members_min = 2;
  a.shapes[0].rate = 4'000'000;
  run_on(a, "n0", {0, 1, 2});  // neither 4 nor 2: repaired
  elastic(s, "b");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "keep s");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
  EXPECT_EQ(plan.bound.value, 3'400'000);  // of the five GPUs that are left
  EXPECT_EQ(plan.bound.bound, 5'000'000);  // another policy could displace it
}

TEST(PricePolicy, MoreGpuTypesThanPricesAreRefused) {
  Snapshot s = one_node();
  for (int t = 0; t < 32; ++t) {
    GpuType type;
    type.id = "t" + std::to_string(t);
    s.gpu_types.push_back(type);
  }
  const ClusterState state(s);
  EXPECT_THROW(Engine().decide(state, test::asking("price")), InvalidArgument);
}

TEST(PricePolicy, ADrainingNodeKeepsItsJobs) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  s.nodes[0].state = NodeState::kDrain;
  runs(elastic(s, "a"), 1);
  elastic(s, "b");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "keep 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 8");
  EXPECT_EQ(plan.bound.bound, 5'000'000);
}

TEST(PricePolicy, AQuotaShowsWhenJobsArePlaced) {
  Snapshot s = one_node(14);
  elastic(s, "a");
  const ClusterState state(test::with_two_left_of_a_cap(s));

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");  // 8 were chosen for it
  EXPECT_EQ(plan.bound.value, 1'900'000);
  EXPECT_EQ(plan.bound.bound, 5'000'000);
}

TEST(PricePolicy, PricesAreKeptForTheNextDecision) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b");
  const ClusterState state(s);
  Engine engine;
  PolicyState memory;
  Plan first, second;

  engine.decide(state, memory, test::asking("price"), first);
  engine.decide(state, memory, test::asking("price"), second);

  EXPECT_EQ(memory.scalars.at("price/a100"), second.bound.prices[0].second);
  EXPECT_LT(second.iterations, first.iterations);
  EXPECT_EQ(second.bound.value, first.bound.value);
}

TEST(PricePolicy, PricesOfTypesThatLeftAreForgottenAndWhatElseIsKeptStays) {
  Snapshot s = one_node();
  elastic(s, "a");
  const ClusterState state(s);
  PolicyState memory;
  memory.scalars = {{"price/v100", 5}, {"rounds", 7}};

  const Plan plan = test::valid_plan(state, test::asking("price"), memory);

  EXPECT_EQ(memory.scalars, (std::map<std::string, std::int64_t>{{"price/a100", plan.bound.prices[0].second}, {"rounds", 7}}));
}

TEST(PricePolicy, NothingToChooseIsAPlanToo) {
  const ClusterState empty(one_node());
  EXPECT_EQ(plan_of(empty).bound.bound, 0);
  Snapshot s;
  elastic(s, "a");
  const ClusterState nowhere(s);
  EXPECT_EQ(fate(nowhere, plan_of(nowhere), "a"), "reject");
}

TEST(PricePolicy, AJobThatNoShapeSpeedsUpIsGivenTheLeast) {
  Snapshot s = one_node();
  for (Shape& shape : elastic(s, "a").shapes) shape.rate = 1'000'000;
  const ClusterState state(s);
  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 1");
}

TEST(PricePolicy, IsNoOrderForScenarios) {
  Snapshot s = one_node();
  elastic(s, "a");
  const ClusterState state(s);
  Scenario scenario;
  scenario.policy = "price";
  Placement placement;
  EXPECT_THROW(placement.place(state, std::vector<Scenario>{scenario}), InvalidArgument);
}

// Value `weight` on 8 GPUs of one node and almost none on 6.
void large_job(Snapshot& s, const std::string& id, const char* type, std::int64_t weight_ppm) {
  Job& job = elastic(s, id, {{8, 30'000'000}, {6, 7'000'000}});
  job.weight_ppm = weight_ppm;
  for (Shape& shape : job.shapes) {
    shape.gpu_type = type;
    shape.groups = {test::group_of("g", 1, shape.gpus)};
  }
}

// 6 GPUs are left on each of two nodes. Of the 12, one job would take 8 on one node for a value of 3. The option that
// fits has a lower value than the jobs that then find no room.
Snapshot two_holes() {
  Snapshot s = test::two_racks();
  s.nodes[2].gpu_type = s.nodes[3].gpu_type = "h100";
  for (const char* node : {"n0", "n1", "n2", "n3"})
    run_on(add_job(s, std::string("held-") + node, 2), node, {0, 1}).preemption.preemptible = false;
  large_job(s, "large", "a100", 3'000'000);
  for (const char* id : {"x", "y"}) add_job(s, id, 6).shapes[0].gpu_type = "a100";
  return s;
}

TEST(PricePolicy, WhatFindsNoPlaceIsLeftOutAndTheChoiceMadeAgain) {
  const ClusterState state(two_holes());

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "large"), "wait");
  EXPECT_EQ(fate(state, plan, "x"), "start s");
  EXPECT_EQ(fate(state, plan, "y"), "start s");
  EXPECT_EQ(plan.bound.value, 2'000'000);
  EXPECT_GE(plan.bound.bound, 3'000'000);  // of all options
}

// A second type, where the next best finds no place either: both must stay left out.
TEST(PricePolicy, WhatFoundNoPlaceStaysLeftOut) {
  Snapshot s = two_holes();
  large_job(s, "first", "h100", 3'000'000);
  large_job(s, "next", "h100", 2'900'000);
  for (const char* id : {"v", "w"}) add_job(s, id, 6).shapes[0].gpu_type = "h100";
  const ClusterState state(std::move(s));

  const Plan plan = plan_of(state);

  for (const char* id : {"v", "w", "x", "y"}) EXPECT_EQ(fate(state, plan, id), "start s") << id;
  EXPECT_EQ(plan.bound.value, 4'000'000);
}

TEST(PricePolicy, EvaluationsOfAllChoicesCountTogether) {
  const ClusterState state(two_holes());
  EXPECT_GT(plan_of(state).iterations, 1);
  EXPECT_EQ(plan_of(state, {{"evaluations", "1"}}).iterations, 1);
}

TEST(PricePolicy, WithoutWorkForAnotherChoiceTheFirstOneStands) {
  const ClusterState state(two_holes());
  Request request;
  request.policy = "price";
  request.params = {{"objective", "throughput"}};
  request.max_iterations = 1;

  const Plan plan = Engine().decide(state, request);

  EXPECT_EQ(fate(state, plan, "large"), "start 6");
  EXPECT_EQ(plan.iterations, 1);
  EXPECT_EQ(plan.stopped_by, "iterations");
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
}

// An hour on one a100, four on 8 h100: (horizon + 4 h - 1 h) / 1 h, whether or not another job has the h100 now.
TEST(PricePolicy, FinishTimeFairnessComparesWithShapesThatDoNotFitNow) {
  Snapshot s = test::two_types();
  s.jobs.resize(1);
  s.jobs[0].preemption.preemptible = false;
  run_on(s.jobs[0], "n1", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = "h";
  Job& job = test::lasting(elastic(s, "b", {{1, 1'000'000}, {8, 250'000}}), 3600);
  job.shapes[0].gpu_type = "a100";
  job.shapes[1].gpu_type = "h100";
  const Request request = test::asking("price", {{"objective", "finish_time_fairness"}});
  EXPECT_EQ(test::valid_plan(ClusterState(s), request).bound.value, 4'000'000);
  s.jobs.erase(s.jobs.begin());
  EXPECT_EQ(test::valid_plan(ClusterState(s), request).bound.value, 4'000'000);
}

// Without a price a GPU costs a thousandth, so speed 1 has the value 10^12.
TEST(PricePolicy, WeightsCountHoweverGreatTheValues) {
  Snapshot s = one_node(1);
  for (const auto& [id, weight] : {std::pair("a", 2), std::pair("b", 100)}) {
    add_job(s, id, 1).weight_ppm = weight * std::int64_t{1'000'000};
    s.jobs.back().shapes[0].rate = 1'000'000;
  }
  const ClusterState state(s);
  for (const char* objective : {"cost", "throughput", "goodput", "flow_time"}) {
    const Plan plan = test::valid_plan(state, test::asking("price", {{"objective", objective}}));
    EXPECT_EQ(fate(state, plan, "b"), "start s") << objective;
  }
}

TEST(PricePolicy, MoreGpusForTheSameMoneyHaveMoreValue) {
  Snapshot s = one_node(4);
  elastic(s, "a", {{1, 1'000'000}, {2, 4'000'000}});
  const ClusterState state(s);
  EXPECT_EQ(fate(state, test::valid_plan(state, test::asking("price", {{"objective", "cost"}})), "a"), "start 2");
}

// One job on all GPUs has a higher value than three, each of which is as fast on one GPU as on four.
TEST(PricePolicy, SeveralLeaveForOneThatNeedsManyGpus) {
  Snapshot s = one_node();
  const test::GpuRates rates{{1, 1'000'000}, {2, 1'000'000}, {4, 1'000'000}, {8, 5'000'000}};
  for (const char* id : {"a", "b", "c"}) elastic(s, id, rates);
  const ClusterState state(s);
  const Plan plan = plan_of(state);
  EXPECT_EQ(plan.bound.value, 5'000'000);
  EXPECT_EQ(plan.totals.starts, 1);
}

// Its value is rounded to 0 in the unit of the choice, or by its own weight.
TEST(PricePolicy, ALightJobRunsOnIdleGpus) {
  for (const std::int64_t heavy : {std::int64_t{1'000'000}, std::int64_t{4'000'000'000'000'000'000}}) {
    for (const core::ObjectiveInfo& objective : core::objectives()) {
      Snapshot s = one_node();
      test::lasting(elastic(s, "heavy", {{1, 1'000'000}, {4, 3'000'000}}), 1000).weight_ppm = heavy;
      test::lasting(elastic(s, "light", {{1, 1'000'000}, {2, 1'900'000}}), 1000).weight_ppm = 1;
      const ClusterState state(s);

      const Plan plan = test::valid_plan(state, test::asking("price", {{"objective", std::string(objective.name)}}));

      EXPECT_EQ(fate(state, plan, "heavy").substr(0, 5), "start") << objective.name;
      EXPECT_EQ(fate(state, plan, "light").substr(0, 5), "start") << objective.name << " beside " << heavy;
    }
  }
}

// Four times the batch makes a quarter of the progress: gradients have no noise, so more samples tell nothing new.
TEST(PricePolicy, FlowTimeCountsProgressWhereStatisticalEfficiencyIsKnown) {
  Snapshot s = one_node();
  Job& job = test::lasting(elastic(s, "a"), 1'000);
  for (Shape& shape : job.shapes) shape.local_batch = 32;
  const auto shape_of = [&] {
    const ClusterState state(s);
    return test::fate(state, test::valid_plan(state, test::asking("price")), "a");
  };
  EXPECT_EQ(shape_of(), "start 8");
  job.progress.grad_sqr_micro = 1'000'000;
  job.progress.grad_var_micro = 0;
  EXPECT_EQ(shape_of(), "start 1");
}

// A short and a long job, as fast as they have GPUs, and what a plan of `price` does with the short one.
class PriceStarts : public ::testing::Test {
 protected:
  PriceStarts() : s(one_node()) {
    const test::GpuRates linear{{1, 1'000'000}, {2, 2'000'000}, {4, 4'000'000}, {8, 8'000'000}};
    elastic(s, "short", linear).progress.work_total = 60'000'000;
    elastic(s, "long", linear).progress.work_total = 100'000'000'000;
  }
  std::string fate_of_short(const std::string& terms = "restart") const {
    const ClusterState state(s);
    return fate(state, test::valid_plan(state, test::asking("price", {{"terms", terms}})), "short");
  }
  Job& short_job() { return s.jobs[0]; }
  Snapshot s;
};

// A minute of work on eight GPUs takes 8 s, and its start half a minute in which they do no work.
TEST_F(PriceStarts, AShortJobStartsOnFewerGpusThanItCouldUse) {
  EXPECT_EQ(fate_of_short(), "start 8");
  for (Job& job : s.jobs) job.costs.restart_us = 30 * kSecond;
  EXPECT_EQ(fate_of_short(), "start 4");
  EXPECT_EQ(fate_of_short("none"), "start 8");
}

TEST_F(PriceStarts, RestoringCountsForAJobThatRanBefore) {
  short_job().costs.checkpoint_restore_us = 30 * kSecond;
  EXPECT_EQ(fate_of_short(), "start 8");
  short_job().progress.run_us = kSecond;
  EXPECT_EQ(fate_of_short(), "start 4");
}

// Half a minute of work is the median of both. The mean is 6.5 minutes where only the attained service is known.
TEST_F(PriceStarts, AStartCountsByTheMeanOfUnknownWork) {
  for (Job& job : s.jobs) job.costs.restart_us = 10 * kSecond;
  short_job().progress = {};
  short_job().progress.attained_gpu_us = 60 * kSecond;
  EXPECT_EQ(fate_of_short(), "start 8");
  short_job().progress = {};
  short_job().estimate.run_us = 30 * kSecond;
  EXPECT_EQ(fate_of_short(), "start 4");
}

}  // namespace
}  // namespace berth::price_test
