// Scenarios computed by hand. tests/property/what_if_test.cpp checks that they equal the engine's decisions.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/placement.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::what_if_test {
namespace {

using test::add_job;
using test::run_on;

/// "a start n0:ff, b wait"
std::string told(const ClusterState& state, const ScenarioOutcome& outcome) {
  static const char* const kNames[] = {"start", "keep", "resize", "migrate", "preempt", "wait", "reject", "replace", "reserve"};
  std::string text;
  for (std::size_t i = 0; i < outcome.job.size(); ++i) {
    text += (i == 0 ? "" : ", ") + state.job(outcome.job[i])->id + " " + kNames[static_cast<std::size_t>(outcome.action[i])];
    for (const PlanEntry& e : outcome.entries_of(i)) text += fmt::format(" {}:{:x}", state.node(e.node).id, e.gpus);
  }
  return text;
}

std::string told(const ClusterState& state, const Scenario& scenario) {
  return told(state, Placement().place(state, std::span(&scenario, 1)).at(0));
}

/// Two nodes of 8 GPUs; `run` holds half of n0, `a` requests a node, `b` a half, `c` two GPUs.
Snapshot two_nodes() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  add_job(s, "a", 8).estimate.run_us = 500 * kSecond;
  add_job(s, "b", 4).estimate.run_us = 100 * kSecond;
  add_job(s, "c", 2).estimate.run_us = 10 * kSecond;
  run_on(add_job(s, "run", 4), "n0", {0, 1, 2, 3}).estimate.run_us = 1'000 * kSecond;
  return s;
}

TEST(WhatIf, NothingIsChanged) {
  const ClusterState state(two_nodes());

  EXPECT_EQ(told(state, Scenario{}), "a start n1:ff, b start n0:f0, c wait, run keep n0:f");
}

TEST(WhatIf, JobsThatLostGpusAreRepairedInEachScenario) {
  ClusterState state(two_nodes());
  state.apply(delta::SetNodeState{"n0", NodeState::kFailed, 0});
  Placement placement;
  std::vector<Scenario> scenarios(2);
  scenarios[1].taken = {{"n1", 0x0F}};
  const std::vector<ScenarioOutcome> outcomes = placement.place(state, scenarios);
  EXPECT_EQ(told(state, outcomes[0]), "a wait, b wait, c wait, run replace n1:f");
  EXPECT_EQ(told(state, outcomes[1]), "a wait, b wait, c wait, run replace n1:f0");
}

TEST(WhatIf, NodesAreTaken) {
  const ClusterState state(two_nodes());
  Scenario scenario;
  scenario.params = {{"discipline", "greedy"}};
  scenario.taken = {{"n1"}};
  EXPECT_EQ(told(state, scenario), "a wait, b start n0:f0, c wait, run keep n0:f");
  scenario.taken = {{"n1", 0x0F}, {"n1", 0x30}, {"n0", 0xFF}};

  EXPECT_EQ(told(state, scenario), "a wait, b wait, c start n1:c0, run keep n0:f");
}

TEST(WhatIf, QueueIsOrderedAnotherWay) {
  const ClusterState state(two_nodes());
  Scenario scenario;
  scenario.order = {"c", "b", "a"};
  EXPECT_EQ(told(state, scenario), "a wait, b start n1:f, c start n0:30, run keep n0:f");
  scenario.order = {"run", "c"};

  EXPECT_EQ(told(state, scenario), "a wait, b wait, c start n0:30, run keep n0:f") << "who is not named waits";
}

TEST(WhatIf, SomeAreLeftOut) {
  const ClusterState state(two_nodes());
  Scenario scenario;
  scenario.leave_out = {"a"};
  EXPECT_EQ(told(state, scenario), "a wait, b start n0:f0, c start n1:3, run keep n0:f");
  scenario.policy = "srsf";
  scenario.leave_out = {};
  scenario.taken = {{"n1"}};
  EXPECT_EQ(told(state, scenario), "a wait, b start n0:f, c start n0:30, run preempt");
  scenario.leave_out = {"run"};

  EXPECT_EQ(told(state, scenario), "a wait, b wait, c start n0:30, run keep n0:f") << "nor is it displaced";
}

TEST(WhatIf, PreemptionIsAllowedOrNot) {
  const ClusterState state(two_nodes());
  Scenario scenario;
  scenario.taken = {{"n1"}};
  scenario.order = {"a", "run"};
  EXPECT_EQ(told(state, scenario), "a wait, b wait, c wait, run keep n0:f");
  scenario.preemptive = true;
  EXPECT_EQ(told(state, scenario), "a start n0:ff, b wait, c wait, run preempt");
  scenario.order = {"run", "a"};
  EXPECT_EQ(told(state, scenario), "a wait, b wait, c wait, run keep n0:f");
  scenario.order = {"a"};
  EXPECT_EQ(told(state, scenario), "a wait, b wait, c wait, run keep n0:f") << "who is not named is not displaced";
}

TEST(WhatIf, FirstBlockedJobHasAReservation) {
  const ClusterState state(two_nodes());
  Scenario scenario;
  scenario.params = {{"discipline", "easy"}};
  scenario.taken = {{"n1"}};

  const std::vector<ScenarioOutcome> outcomes = Placement().place(state, std::span(&scenario, 1));

  EXPECT_EQ(told(state, outcomes[0]), "a reserve n0:ff, b start n0:f0, c wait, run keep n0:f");
  EXPECT_EQ(outcomes[0].reserve_at_us, (std::vector<TimeUs>{1'100 * kSecond, kNever, kNever, kNever}));
  EXPECT_EQ(outcomes[0].totals.reserves, 1);
  EXPECT_EQ(outcomes[0].totals.gpus_used, 8) << "what is reserved is not used";
  EXPECT_EQ(outcomes[0].totals.gpus, 16);
}

// Of 16 GPUs c has 2 by count, b 4 and a 8; that leaves 2, too few for run. a finds no free node, and still run leaves.
TEST(WhatIf, AdmissionByCountsKnowsWhatIsTaken) {
  const ClusterState state(two_nodes());
  std::vector<Scenario> scenarios(2);
  for (Scenario& scenario : scenarios) {
    scenario.policy = "srtf";
    scenario.params = {{"admission", "count"}, {"packing", "consolidate"}};
  }
  scenarios[1].taken = {{"n1", 0xF0}};

  const std::vector<ScenarioOutcome> outcomes = Placement().place(state, scenarios);

  EXPECT_EQ(told(state, outcomes[0]), "a wait, b start n1:f, c start n0:30, run preempt");
  // Of 12 GPUs 6 are left for a: it is not admitted, and run is.
  EXPECT_EQ(told(state, outcomes[1]), "a wait, b start n1:f, c start n0:30, run keep n0:f");
}

TEST(WhatIf, EachScenarioIsByItself) {
  const ClusterState state(two_nodes());
  std::vector<Scenario> scenarios(4);
  scenarios[1].taken = {{"n0"}, {"n1"}};
  scenarios[2].params = {{"packing", "consolidate"}};
  Placement placement;

  const std::vector<ScenarioOutcome> outcomes = placement.place(state, scenarios);

  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes[0], outcomes[3]);
  EXPECT_EQ(told(state, outcomes[1]), "a wait, b wait, c wait, run keep n0:f");
  EXPECT_EQ(told(state, outcomes[0]), told(state, Scenario{}));
  EXPECT_EQ(placement.backend(), "cpu");
  EXPECT_TRUE(placement.place(state, {}).empty());
}

TEST(WhatIf, KeepsNothingOfAnotherState) {
  Snapshot s = two_nodes();
  add_job(s, "wide", 16);
  s.history = {{"old", "", "", 8, 0, 100 * kSecond, "completed"}};
  const ClusterState large(s);
  s.nodes.resize(1);
  s.history = {{"old", "", "", 1, 0, kSecond, "completed"}};
  const ClusterState small(s);
  std::vector<Scenario> scenarios(2);
  scenarios[1].policy = "gittins";
  Placement both;

  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(both.place(large, scenarios), Placement().place(large, scenarios));
    EXPECT_EQ(both.place(small, scenarios), Placement().place(small, scenarios));
  }
  EXPECT_EQ(both.place(small, scenarios)[0].action.back(), Action::kReject);
  EXPECT_EQ(both.place(large, scenarios)[0].action.back(), Action::kWait);
}

TEST(WhatIf, GpusThatFailedAreKeptByNoJob) {
  ClusterState state(two_nodes());
  state.apply(delta::SetNodeState{"n0", NodeState::kFailed, 0});
  Scenario scenario;
  scenario.order = {"b"};
  EXPECT_EQ(told(state, scenario), "a wait, b start n1:f0, c wait, run replace n1:f") << "mended first";
  scenario.taken = {{"n1", 0x1F}};

  EXPECT_EQ(told(state, scenario), "a wait, b wait, c wait, run preempt") << "three GPUs mend nothing, and it is not named";
}

TEST(WhatIf, ReadsWhatThePolicyRemembers) {
  Snapshot s = test::two_racks();
  s.nodes.resize(1);
  add_job(s, "a", 8).estimate.run_us = 10 * kSecond;
  add_job(s, "b", 8).estimate.run_us = 20 * kSecond;
  ClusterState state(s);
  PolicyState memory;
  Request request;
  request.policy = "qssf";
  Plan plan;
  Engine().decide(state, memory, request, plan);
  Job later = *state.job(state.find_job("a"));
  later.estimate.run_us = 90 * kSecond;
  state.apply(delta::PutJob{later});
  Scenario scenario;
  scenario.policy = "qssf";
  EXPECT_EQ(told(state, scenario), "a wait, b start n0:ff");
  scenario.policy_state = &memory;
  const PolicyState before = memory;

  EXPECT_EQ(told(state, scenario), "a start n0:ff, b wait") << "the key is fixed at arrival";
  EXPECT_EQ(memory, before);
}

TEST(WhatIf, RefusesWhatItDoesNotKnowAndSaysWhere) {
  const ClusterState state(two_nodes());
  Placement placement;
  const auto say = [&](auto change) -> std::string {
    std::vector<Scenario> scenarios(2);
    change(scenarios[1]);
    try {
      placement.place(state, scenarios);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  PolicyState of_las;
  of_las.policy = "las";

  EXPECT_EQ(say([](Scenario& s) { s.policy = "fastest"; }).substr(0, 36), "scenario 1: unknown policy 'fastest'");
  EXPECT_NE(say([](Scenario& s) { s.params = {{"packing", "tight"}}; }).find("'tight'"), std::string::npos);
  EXPECT_EQ(say([](Scenario& s) { s.order = {"a", "missing"}; }), "scenario 1: unknown job 'missing'");
  EXPECT_EQ(say([](Scenario& s) { s.order = {"a", "b", "a"}; }), "scenario 1: the order names job 'a' twice");
  EXPECT_EQ(say([](Scenario& s) { s.leave_out = {"who"}; }), "scenario 1: unknown job 'who'");
  EXPECT_EQ(say([](Scenario& s) { s.taken = {{"n7"}}; }), "scenario 1: unknown node 'n7'");
  EXPECT_EQ(say([&](Scenario& s) { s.policy_state = &of_las; }), "scenario 1: the policy state is of 'las', not of 'fifo'");
  EXPECT_EQ(say([](Scenario&) {}), "") << "still of use";
}

}  // namespace
}  // namespace berth::what_if_test
