// Plans of changes list how reservations differ from those of the engine's last plan: Plan::reservations_since.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/state/state_names.hpp"
#include "host/report/explain.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::test::plan_reservations_test {
namespace {

Job waiting(const std::string& id, TimeUs submit, TimeUs run, std::int32_t gpus = 8) {
  Snapshot s;
  Job job = add_job(s, id, gpus);
  job.submit_us = submit * kSecond;
  job.estimate.run_us = run * kSecond;
  return job;
}

// n0 has 8 GPUs. `runs` has all of them until 150 s; then b, c and d come, in this order, for 10 s each.
class PlanReservations : public ::testing::Test {
 protected:
  PlanReservations() : state_(cluster()) {
    request_.policy = "fifo";
    request_.params = {{"discipline", "conservative"}};
    request_.changes_only = true;
  }
  static Snapshot cluster() {
    Snapshot s = two_racks();
    s.nodes.resize(1);
    run_on(add_job(s, "runs", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7}).estimate.run_us = 50 * kSecond;
    s.jobs[0].submit_us = 0;
    s.jobs.push_back(waiting("b", 1, 10));
    s.jobs.push_back(waiting("c", 2, 10));
    s.jobs.push_back(waiting("d", 3, 10));
    return s;
  }
  Plan decide() { return decide(request_); }
  Plan decide(const Request& request) {
    Plan plan = engine_.decide(state_, request);
    EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{});
    return plan;
  }
  // "b reserve 150; -c": what is listed, then what is dropped.
  std::string text(const Plan& plan) const {
    std::string text;
    for (const Decision& d : plan.decisions) {
      text += state_.job(d.job)->id + " " + std::string(to_string(d.action));
      if (d.action == Action::kReserve) text += " " + std::to_string(d.start_us / kSecond);
      text += "; ";
    }
    for (const std::int32_t job : plan.reservations_dropped) text += "-" + state_.job(job)->id + "; ";
    return text;
  }
  // The next plan of changes lists all reservations, or none.
  void expect_all(const std::string& why) {
    const Plan plan = decide();
    EXPECT_EQ(plan.reservations_since, 0U) << why;
    EXPECT_EQ(text(plan), "b reserve 150; c reserve 160; d reserve 170; ") << why;
  }
  void expect_none(std::uint64_t since, const std::string& why) {
    const Plan plan = decide();
    EXPECT_EQ(plan.reservations_since, since) << why;
    EXPECT_EQ(text(plan), "") << why;
    EXPECT_EQ(plan.totals.reserves, 3) << why;
  }
  // The first violation of a plan of changes.
  std::string violation(const Plan& base, const std::function<void(Plan&)>& tamper) const {
    Plan plan = base;
    tamper(plan);
    const std::vector<std::string> found = validate_plan(state_, plan);
    return found.empty() ? "" : found.front();
  }

  ClusterState state_;
  Request request_;
  Engine engine_;
};

TEST_F(PlanReservations, TheFirstPlanListsAllAndTheNextOnesWhatDiffers) {
  expect_all("the first plan");
  expect_none(state_.revision(), "the same revision: a plan counts, though it was not committed");
  const std::uint64_t first = state_.revision();

  state_.apply(delta::PutJob{waiting("c", 2, 20)});
  const Plan longer = decide();
  EXPECT_EQ(longer.reservations_since, first);
  EXPECT_EQ(text(longer), "c reserve 160; d reserve 180; ") << "b stands";
  EXPECT_EQ(longer.totals.reserves, 3);
  EXPECT_EQ(longer.entries.size(), 2U);
}

TEST_F(PlanReservations, AWholePlanListsAllAndIsTheBaseOfTheNext) {
  Request whole = request_;
  whole.changes_only = false;
  for (int i = 0; i < 2; ++i) {
    const Plan plan = decide(whole);
    EXPECT_EQ(plan.reservations_since, 0U);
    EXPECT_EQ(text(plan), "runs keep; b reserve 150; c reserve 160; d reserve 170; ");
  }
  expect_none(state_.revision(), "after a whole plan");
}

TEST_F(PlanReservations, JobsThatAreNotReservedAnyMoreAreDropped) {
  decide();
  const std::uint64_t first = state_.revision();
  state_.apply(delta::SetNodeState{"n0", NodeState::kDrain, 0});
  const Plan plan = decide();
  EXPECT_EQ(plan.reservations_since, first);
  EXPECT_EQ(text(plan), "-b; -c; -d; ");
  EXPECT_EQ(plan.totals.reserves, 0);

  const std::string json = io::to_json(plan, state_, false);
  EXPECT_NE(json.find(R"("reservations_dropped":["b","c","d"])"), std::string::npos) << json;
  EXPECT_TRUE(same_plan(io::parse_plan(json, state_), plan));
  const core::StateNames names(state_.impl());
  EXPECT_NE(report::explain_plan(names, plan).find("not reserved any more since revision 1: b, c, d\n"), std::string::npos);
  EXPECT_EQ(report::explain_job(names, plan, state_.find_job("c")),
            "job c: keeps its GPUs or waits; not reserved any more since revision 1; this plan lists only changes\n");

  state_.apply(delta::SetNodeState{"n0", NodeState::kReady, 0});
  expect_all("the last plan reserved nothing");
}

TEST_F(PlanReservations, AJobWithAnotherDecisionIsNotDropped) {
  decide();
  state_.apply(std::vector<Delta>{delta::RemoveJob{"runs", "completed"}, delta::PutJob{waiting("c", 2, 10, 16)}});
  const Plan plan = decide();
  EXPECT_EQ(text(plan), "b start; c reject; d reserve 110; ");
  commit(state_, plan);
  EXPECT_EQ(text(decide()), "c reject; ") << "d stands";
}

TEST_F(PlanReservations, AJobThatTheSchedulerStartedItselfIsDropped) {
  decide();
  Allocation allocation;
  allocation.shape = state_.job(state_.find_job("c"))->shapes[0].id;
  allocation.entries.push_back({"", 0, "n0", {0, 1, 2, 3, 4, 5, 6, 7}});
  state_.apply(std::vector<Delta>{delta::RemoveJob{"runs", "completed"}, delta::StartJob{"c", allocation}});
  EXPECT_EQ(text(decide()), "b reserve 110; d reserve 120; -c; ");
}

TEST_F(PlanReservations, AJobThatLeftIsNotListedAndWhoeverHasItsIndexIsNotDropped) {
  decide();
  const std::int32_t index = state_.find_job("d");
  state_.apply(delta::RemoveJob{"d", ""});
  EXPECT_EQ(text(decide()), "");

  state_.apply(delta::PutJob{waiting("d", 3, 10)});
  ASSERT_EQ(state_.find_job("d"), index);
  EXPECT_EQ(text(decide()), "d reserve 170; ");
  state_.apply(delta::RemoveJob{"d", ""});
  Job unknown = waiting("x", 3, 10, 16);
  state_.apply(delta::PutJob{unknown});
  ASSERT_EQ(state_.find_job("x"), index);
  EXPECT_EQ(text(decide()), "x reject; ");
}

// It left with its reservation, whatever the scheduler holds of it: the new one is listed, though it is equal.
TEST_F(PlanReservations, AJobThatIsSubmittedAgainIsListedAgain) {
  decide();
  state_.apply(std::vector<Delta>{delta::RemoveJob{"d", ""}, delta::PutJob{waiting("d", 3, 10)}});
  EXPECT_EQ(text(decide()), "d reserve 170; ");
}

// x has the index that d had.
TEST_F(PlanReservations, AJobWithAnotherIndexIsTheSameById) {
  for (const std::int32_t gpus : {8, 16}) {
    state_ = ClusterState(cluster());
    decide();
    const std::int32_t index = state_.find_job("d");
    state_.apply(delta::RemoveJob{"d", ""});
    state_.apply(std::vector<Delta>{delta::PutJob{waiting("x", 4, 10, gpus)}, delta::PutJob{waiting("d", 3, 10, gpus)},
                                    delta::SetNodeState{"n0", NodeState::kDrain, 0}});
    ASSERT_EQ(state_.find_job("x"), index);
    EXPECT_EQ(text(decide()), gpus == 8 ? "-b; -c; -d; " : "d reject; x reject; -b; -c; ");
  }
}

TEST_F(PlanReservations, OnlyTheLastPlanOfTheSamePolicyOnTheSameStateIsABase) {
  Request other = request_;
  const auto expect_all_after = [&](const std::string& why) {
    expect_none(state_.revision(), "before: " + why);
    EXPECT_EQ(decide(other).reservations_since, 0U) << why;
    expect_all(why);
    other = request_;
  };
  decide();
  other.policy = "sjf";
  expect_all_after("another policy");
  other.params[0].second = "easy";
  expect_all_after("other parameters");
  other.params.clear();
  expect_all_after("no reservations");
  other.seed = 7;
  expect_all_after("another seed");
  other.max_iterations = 100;
  expect_all_after("another limit");

  EXPECT_EQ(Engine().decide(state_, request_).reservations_since, 0U);
  expect_none(state_.revision(), "another engine");
  const ClusterState like(state_.snapshot());
  EXPECT_EQ(engine_.decide(like, request_).reservations_since, 0U);
  expect_all("another state");
}

TEST_F(PlanReservations, NothingIsLeftOutAfterAnotherCluster) {
  decide();
  state_.apply(delta::Load{state_.snapshot()});
  expect_all("a snapshot was loaded");
  Node node = state_.node(0);
  node.id = "a-node-before";
  node.state = NodeState::kDrain;
  state_.apply(delta::PutNode{node});
  expect_all("ranks of nodes are others");
  state_.apply(delta::SetTime{state_.now() + 5 * kSecond});
  expect_none(state_.revision() - 1, "time passed");
}

TEST_F(PlanReservations, APlanThatWasCutShortIsNoBase) {
  decide();
  engine_.cancel();
  ASSERT_EQ(decide().stopped_by, "cancel");
  expect_all("cancelled before it reserved anything");
  request_.max_iterations = 100;
  expect_all("another limit");
  expect_none(state_.revision(), "the same limit, which repeats the plan");
}

TEST_F(PlanReservations, APlanThatWasCutShortBehindSomeReservationsIsNoBaseEither) {
  for (int i = 0; i < 200; ++i) state_.apply(delta::PutJob{waiting("j" + std::to_string(i), 4, 10)});
  Request stopped = request_;
  stopped.progress = [](std::int64_t done, std::int64_t) { return done == 0; };
  const Plan cut = decide(stopped);
  ASSERT_EQ(cut.stopped_by, "cancel");
  ASSERT_GT(cut.totals.reserves, 0);
  const Plan plan = decide();
  EXPECT_EQ(plan.reservations_since, 0U);
  EXPECT_EQ(plan.decisions.size(), 203U);
}

TEST_F(PlanReservations, ADecisionThatFailsIsNoBase) {
  decide();
  Request wrong = request_;
  wrong.params = {{"no such", "parameter"}};
  EXPECT_THROW(engine_.decide(state_, wrong), InvalidArgument);
  expect_all("after a failure");
}

TEST_F(PlanReservations, TheValidatorChecksWhatIsListed) {
  decide();
  state_.apply(delta::PutJob{waiting("c", 2, 20)});
  const Plan plan = decide();
  ASSERT_EQ(text(plan), "c reserve 160; d reserve 180; ");
  EXPECT_NE(violation(plan, [](Plan& p) { p.decisions[0].start_us = 149 * kSecond; }), "");
  EXPECT_NE(violation(plan, [](Plan& p) { p.decisions[1].start_us = p.decisions[0].start_us; }), "");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.totals.reserves = 1; }), "totals: waits is 0; the decisions have 1");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.totals.reserves = 4; }), "totals: waits is 2; the decisions have 1");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.reservations_since = 0; }), "totals: waits is 0; the decisions have 1");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.reservations_since = p.revision + 1; }),
            "the plan of revision 2 lists reservations since revision 3");
}

TEST_F(PlanReservations, TheValidatorChecksWhatIsDropped) {
  decide();
  state_.apply(delta::SetNodeState{"n0", NodeState::kDrain, 0});
  const Plan plan = decide();
  ASSERT_EQ(text(plan), "-b; -c; -d; ");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.reservations_since = 0; }), "the plan lists all reservations, and 3 that were dropped");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.reservations_dropped[1] = 99; }), "the plan drops the reservation of the unused job index 99");
  EXPECT_EQ(violation(plan, [](Plan& p) { std::swap(p.reservations_dropped[0], p.reservations_dropped[1]); }),
            "job b: has a dropped reservation that is not in its place by job rank");
  EXPECT_EQ(violation(plan, [](Plan& p) { p.reservations_dropped.push_back(p.reservations_dropped.back()); }),
            "job d: has a dropped reservation that is not in its place by job rank");
  EXPECT_EQ(violation(plan,
                      [](Plan& p) {
                        Decision waits;
                        waits.job = p.reservations_dropped[1];
                        p.decisions.push_back(waits);
                      }),
            "job c: has a dropped reservation and the action wait");
  Request whole = request_;
  whole.changes_only = false;
  const Plan all = decide(whole);
  EXPECT_EQ(violation(all, [](Plan& p) { p.reservations_since = 1; }),
            "the plan lists every job, and yet differences between reservations");
  EXPECT_EQ(violation(all, [](Plan& p) { p.reservations_dropped = {0}; }),
            "the plan lists every job, and yet differences between reservations");
}

}  // namespace
}  // namespace berth::test::plan_reservations_test
