// Plans that list only what changes: Request::changes_only.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/plans/reservation_view.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::test::plan_changes_test {
namespace {

Request asking_for_changes(const std::string& policy) {
  Request request;
  request.policy = policy;
  request.changes_only = true;
  return request;
}

// Has decided twice. From the third decision on the queue is kept.
class Settled {
 public:
  Settled(const ClusterState& state, const std::string& policy) : request_(asking_for_changes(policy)) {
    decide(state);
    decide(state);
  }
  Plan decide(const ClusterState& state) {
    Plan plan;
    engine_.decide(state, kept_, request_, plan);
    return plan;
  }

 private:
  Request request_;
  Engine engine_;
  PolicyState kept_;
};

TEST(PlanChanges, EveryPolicyGivesTheSamePlanWithoutTheUnchanged) {
  sim::GenerateOptions options;
  options.nodes = 6;
  options.jobs = 40;
  options.elastic = true;
  std::int64_t left_out = 0;
  for (const PolicyInfo& policy : policies()) {
    ClusterState state(sim::generate(options));
    Engine engine;
    PolicyState kept;
    ReservationView view;
    Request request = asking_for_changes(policy.name);
    request.max_iterations = 20;
    for (int i = 0; i < 3; ++i) {
      PolicyState kept_whole = kept;
      Request whole = request;
      whole.changes_only = false;
      Plan expected, plan;
      Engine().decide(state, kept_whole, whole, expected);
      engine.decide(state, kept, request, plan);
      EXPECT_TRUE(same_plan(plan, without_unchanged(expected, state, plan, state))) << policy.name << " " << i;
      EXPECT_TRUE(view.follow(plan, state)) << policy.name << " " << i;
      EXPECT_EQ(view.rows(), reservations_of(expected, state)) << policy.name << " " << i;
      EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << policy.name;
      EXPECT_EQ(kept, kept_whole) << policy.name;
      left_out += static_cast<std::int64_t>(expected.decisions.size() - plan.decisions.size());
      commit(state, plan);
    }
  }
  EXPECT_GT(left_out, 1'000);
}

// a runs on all of n0, b on half of n1. c starts, d waits, e can never run.
class ChangesOfPlan : public ::testing::Test {
 protected:
  ChangesOfPlan() : state_(cluster()) { plan_ = Settled(state_, "srsf").decide(state_); }
  static Snapshot cluster() {
    Snapshot s = two_racks();
    s.nodes.resize(2);
    s.nodes[1].cpu_milli = 8'000;
    Queue queue;
    queue.id = "q";
    queue.quotas.push_back({"*", 0, 100, kUnlimited});
    s.queues = {queue};
    run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
    run_on(add_job(s, "b", 4), "n1", {0, 1, 2, 3});
    add_job(s, "c", 2).constraints.cpu_milli_per_gpu = 1'000;
    add_job(s, "d", 8);
    add_job(s, "e", 64);
    for (Job& job : s.jobs) {
      job.shapes[0].gpu_type = "a100";
      job.queue = "q";
      job.preemption.preemptible = false;
    }
    return s;
  }
  std::vector<std::string> check(const Plan& plan) {
    const StateImpl& s = impl_of(StateView(state_));
    return validator_.check_changes(s.facts(), {s.node.held, s.node.cpu_held, s.node.memory_held, s.queue_used, s.broken_nodes()}, plan);
  }
  // The first violation that each of the two checks finds.
  void expect_both(const std::function<void(Plan&)>& tamper, const std::string& quick, const std::string& whole) {
    Plan plan = plan_;
    tamper(plan);
    const std::vector<std::string> here = check(plan), there = validate_plan(state_, plan);
    ASSERT_FALSE(here.empty());
    ASSERT_FALSE(there.empty());
    EXPECT_NE(here.front().find(quick), std::string::npos) << here.front();
    EXPECT_NE(there.front().find(whole), std::string::npos) << there.front();
  }

  ClusterState state_;
  Plan plan_;
  core::PlanValidator validator_;
};

TEST_F(ChangesOfPlan, ListsStartsAndRejectionsAndCountsAll) {
  EXPECT_EQ(check(plan_), std::vector<std::string>{});
  ASSERT_EQ(plan_.decisions.size(), 2U);
  EXPECT_EQ(state_.job(plan_.decisions[0].job)->id, "c");
  EXPECT_EQ(plan_.decisions[0].action, Action::kStart);
  EXPECT_EQ(plan_.decisions[1].action, Action::kReject);
  EXPECT_TRUE(plan_.decisions[1].reason.certified);
  EXPECT_EQ(plan_.totals.keeps, 2);
  EXPECT_EQ(plan_.totals.waits, 1);
  EXPECT_EQ(plan_.totals.gpus, 16);
  EXPECT_EQ(plan_.totals.gpus_used, 14);
}

TEST_F(ChangesOfPlan, GpusOfAJobThatIsNotListedAreTaken) {
  expect_both([](Plan& plan) { plan.entries[0].gpus = 0b11; }, "takes GPU 0 of node n1", "takes GPU 0 of node n1, which job b has");
}

TEST_F(ChangesOfPlan, AJobThatIsKeptIsNotListed) {
  expect_both(
      [](Plan& plan) {
        Decision kept;
        kept.job = 0;
        kept.action = Action::kKeep;
        plan.decisions.insert(plan.decisions.begin(), kept);
      },
      "has the action keep, which a plan of changes does not list", "is kept with other GPUs");
}

TEST_F(ChangesOfPlan, JobsAreInOrderAndListedOnce) {
  expect_both([](Plan& plan) { std::swap(plan.decisions[0], plan.decisions[1]); }, "which is not before it by job rank", "by job rank");
  expect_both([](Plan& plan) { plan.decisions.push_back(plan.decisions[1]); }, "which is not before it by job rank", "by job rank");
  expect_both([](Plan& plan) { plan.decisions[0].job = 77; }, "unused job index 77", "job index 77");
}

TEST_F(ChangesOfPlan, TotalsCountTheJobsThatAreNotListed) {
  expect_both([](Plan& plan) { plan.decisions.pop_back(); }, "rejects is 1; the decisions have 0", "totals");
  expect_both([](Plan& plan) { plan.totals.keeps = 3; }, "jobs wait or are kept", "keeps is 3");
  expect_both([](Plan& plan) { plan.totals.keeps = 1; }, "jobs wait or are kept", "keeps is 1");
}

TEST_F(ChangesOfPlan, CoresAndQuotasCountWithThoseInUse) {
  Snapshot s = cluster();
  s.nodes[1].cpu_milli = 1'000;
  s.queues[0].quotas[0].limit = 13;
  state_ = ClusterState(s);
  plan_.revision = state_.revision();
  const std::vector<std::string> found = check(plan_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].find("node n1: its jobs need 2 cores; it has 1"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("queue q: its jobs hold 14"), std::string::npos) << found[1];
}

TEST_F(ChangesOfPlan, AJobThatLostGpusIsListed) {
  state_.apply(delta::SetNodeState{"n1", NodeState::kFailed, 0});
  plan_ = Engine().decide(state_, asking_for_changes("srsf"));
  EXPECT_EQ(check(plan_), std::vector<std::string>{});
  expect_both(
      [](Plan& plan) {
        ASSERT_EQ(plan.decisions[0].action, Action::kPreempt);
        plan.decisions.erase(plan.decisions.begin());
        --plan.totals.preempts;
        ++plan.totals.keeps;
      },
      "GPU 0 of node n1 does not work, and the plan of changes does not list the job that holds it",
      "is kept on GPU 0 of node n1, which does not work");
}

TEST_F(ChangesOfPlan, ItIsCommittedAsAWholePlanIs) {
  ClusterState other = ClusterState(cluster());
  Request request = asking_for_changes("srsf");
  request.changes_only = false;
  const Plan whole = Engine().decide(other, request);
  commit(state_, plan_);
  commit(other, whole);
  EXPECT_EQ(io::to_json(state_.snapshot()), io::to_json(other.snapshot()));
}

TEST_F(ChangesOfPlan, ItIsWrittenAndReadBack) {
  const std::string text = io::to_json(plan_, state_, false);
  EXPECT_NE(text.find("\"changes_only\":true"), std::string::npos) << text;
  EXPECT_TRUE(same_plan(io::parse_plan(text, state_), plan_));
}

// x takes the core of a, which leaves; y takes the GPUs of f, and leaves cores. Then a is back on its GPUs.
TEST(PlanChanges, AJobThatFindsItsGpusAgainIsKept) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].cpu_milli = 4'000;
  const auto add = [&](const std::string& id, std::int32_t gpus, std::int64_t cpu_milli, TimeUs run) -> Job& {
    Job& job = add_job(s, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.constraints.cpu_milli_per_gpu = cpu_milli;
    job.estimate.run_us = run * kSecond;
    return job;
  };
  run_on(add("a", 2, 500, 2'000), "n0", {6, 7});
  run_on(add("f", 4, 750, 1'000), "n0", {0, 1, 2, 3});
  ClusterState state(s);
  Settled settled(state, "srtf");
  state.apply(delta::PutJob{add("x", 1, 1'000, 10)});
  state.apply(delta::PutJob{add("y", 5, 200, 20)});
  const Plan plan = settled.decide(state);
  std::string text;
  for (const Decision& d : plan.decisions) text += state.job(d.job)->id + " " + std::string(to_string(d.action)) + "; ";
  EXPECT_EQ(text, "f preempt; x start; y start; ");
  EXPECT_EQ(plan.totals.keeps, 1);
  EXPECT_EQ(plan.totals.gpus_used, 8);
}

std::string actions(const ClusterState& state, const Plan& plan) {
  std::string text;
  for (const Decision& d : plan.decisions) {
    text += state.job(d.job)->id + " " + std::string(to_string(d.action));
    if (d.reason.code != ReasonCode::kNone) text += " " + std::string(to_string(d.reason.code));
    text += "; ";
  }
  return text;
}

// n0 fails under a and b. The GPUs that are free on n1 are enough for a only. Then n0 is ready again.
TEST(PlanChanges, OfTwoJobsOnANodeThatFailsOneIsRepairedAndOneWaits) {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  const auto add = [&](const std::string& id, std::int32_t gpus) -> Job& {
    Job& job = add_job(s, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.estimate.run_us = 1'000 * kSecond;
    return job;
  };
  run_on(add("a", 2), "n0", {0, 1});
  run_on(add("b", 6), "n0", {2, 3, 4, 5, 6, 7});
  run_on(add("c", 4), "n1", {0, 1, 2, 3}).preemption.preemptible = false;
  add("d", 8);
  for (const bool applied : {true, false}) {
    ClusterState state(s);
    Settled settled(state, "srsf");
    const auto decide = [&] {
      Request whole = asking_for_changes("srsf");
      whole.changes_only = false;
      const Plan plan = settled.decide(state), expected = without_unchanged(Engine().decide(state, whole));
      EXPECT_TRUE(same_plan(plan, expected)) << actions(state, plan) << "but " << actions(state, expected);
      EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
      return plan;
    };
    state.apply(delta::SetNodeState{"n0", NodeState::kFailed, 0});
    const Plan plan = decide();
    EXPECT_EQ(actions(state, plan), "a replace; b preempt node_failed; ");
    EXPECT_EQ(plan.totals.keeps, 1);
    EXPECT_EQ(plan.totals.waits, 1);
    EXPECT_EQ(plan.totals.gpus, 8);
    EXPECT_EQ(plan.totals.gpus_used, 6);
    if (applied) commit(state, plan);
    state.apply(delta::SetNodeState{"n0", NodeState::kReady, 0});
    EXPECT_EQ(actions(state, decide()), applied ? "b start; " : "");
  }
}

// The job that ends ran on nodes that the waiting one may not use.
TEST(PlanChanges, AJobThatLackedQuotaStartsWhenOneElsewhereEnds) {
  Snapshot s = two_types();
  Queue queue;
  queue.id = "q";
  queue.quotas.push_back({"*", 0, 8, kUnlimited});
  s.queues = {queue};
  s.jobs.clear();
  for (const auto& [id, type] : {std::pair("a", "h100"), std::pair("b", "a100")}) {
    Job& job = add_job(s, id, 8);
    job.shapes[0].gpu_type = type;
    job.queue = "q";
    job.preemption.preemptible = false;
  }
  run_on(s.jobs[0], "n1", {0, 1, 2, 3, 4, 5, 6, 7});
  ClusterState state(s);
  Settled settled(state, "srsf");
  state.apply(delta::RemoveJob{"a", ""});
  const Plan plan = settled.decide(state);
  ASSERT_EQ(plan.decisions.size(), 1U);
  EXPECT_EQ(plan.decisions[0].action, Action::kStart);
}

// b and c displace a. The plan with b is not applied, and b leaves.
TEST(PlanChanges, AJobDisplacesWhatAPlanThatWasNotAppliedDisplaced) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  const auto add = [](Snapshot& to, const std::string& id, TimeUs run, std::int64_t memory) -> Job& {
    Job& job = add_job(to, id, 8);
    job.shapes[0].gpu_type = "a100";
    job.constraints.memory_bytes_per_gpu = memory;
    job.estimate.run_us = run * kSecond;
    return job;
  };
  run_on(add(s, "a", 9'000, 1), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot others;
  state.apply(delta::PutJob{add(others, "b", 100, 1)});
  state.apply(delta::PutJob{add(others, "c", 200, 2)});
  EXPECT_EQ(settled.decide(state).totals.starts, 1);
  state.apply(delta::RemoveJob{"b", ""});
  const Plan plan = settled.decide(state);
  ASSERT_EQ(plan.decisions.size(), 2U);
  EXPECT_EQ(plan.decisions[0].action, Action::kPreempt);
  EXPECT_EQ(plan.decisions[1].action, Action::kStart);
}

// On n0 and n1 each half is free. a would run there for 1800 s in place of 900, and n0 ends in 1000. So a waits, but c and d do
// not get its place. b does not fit.
TEST(PlanChanges, AJobThatWouldOutstayANodeWaitsInItsPlace) {
  Snapshot s = two_racks();
  s.nodes[0].available_until_us = 1'100 * kSecond;
  const auto add = [](Snapshot& to, const std::string& id, std::int32_t gpus, TimeUs run) -> Job& {
    Job& job = add_job(to, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.estimate.run_us = run * kSecond;
    job.preemption.preemptible = false;
    return job;
  };
  run_on(add(s, "0", 4, 5'000), "n0", {0, 1, 2, 3});
  run_on(add(s, "1", 4, 5'000), "n1", {0, 1, 2, 3});
  run_on(add(s, "2", 8, 5'000), "n2", {0, 1, 2, 3, 4, 5, 6, 7});
  run_on(add(s, "3", 8, 5'000), "n3", {0, 1, 2, 3, 4, 5, 6, 7});
  Job& a = add(s, "a", 8, 900);
  a.profile.kind = ProfileKind::kTable;
  a.profile.points = {{"", 8, 0, "node", 8 * kSecond}, {"", 8, 0, "", 4 * kSecond}};
  add(s, "b", 16, 100);
  add(s, "c", 4, 100);
  add(s, "d", 4, 100);
  for (const std::string discipline : {"greedy", "strict"}) {
    ClusterState state(s);
    Engine engine;
    PolicyState kept;
    for (int i = 0; i < 6; ++i) {
      if (i == 5) state.apply(delta::RemoveJob{"a", ""});
      Request request;
      request.policy = "fifo";
      request.params = {{"discipline", discipline}};
      Plan plan, expected = Engine().decide(state, request);
      request.changes_only = i % 2 == 0;
      if (request.changes_only) expected = without_unchanged(std::move(expected));
      engine.decide(state, kept, request, plan);
      EXPECT_TRUE(same_plan(plan, expected)) << io::to_json(plan, state, false) << "\nbut\n" << io::to_json(expected, state, false);
      EXPECT_EQ(plan.totals.starts, i == 5 && discipline == "greedy" ? 2 : 0) << discipline << ", " << i;
    }
  }
}

// x stands before k, which starts, and lacks the cores of m. Then k has what m had, and m may not be displaced.
TEST(PlanChanges, AJobDisplacesOneThatNowHoldsTheCoresOfAnother) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].cpu_milli = 16'000;
  const auto add = [](Snapshot& to, const std::string& id, std::int32_t gpus, std::int64_t cpu_milli, TimeUs run) -> Job& {
    Job& job = add_job(to, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.constraints.cpu_milli_per_gpu = cpu_milli;
    job.estimate.run_us = run * kSecond;
    return job;
  };
  run_on(add(s, "m", 1, 10'000, 9'000), "n0", {0}).preemption.preemptible = false;
  add(s, "x", 1, 14'000, 10);
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot others;
  state.apply(delta::PutJob{add(others, "k", 4, 1'000, 1'000)});
  commit(state, settled.decide(state));
  Job k = *state.job(state.find_job("k")), m = *state.job(state.find_job("m"));
  ASSERT_EQ(k.state, JobState::kRunning);
  m.constraints.cpu_milli_per_gpu = 0;
  k.constraints.cpu_milli_per_gpu = 3'500;
  state.apply(std::vector<Delta>{delta::PutJob{m}, delta::PutJob{k}});
  EXPECT_EQ(actions(state, settled.decide(state)), "k preempt lost_priority; x start; ");
}

// The same with memory.
TEST(PlanChanges, AJobDisplacesOneThatNowHoldsTheMemoryOfAnother) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].memory_bytes = 16;
  const auto add = [](Snapshot& to, const std::string& id, std::int32_t gpus, std::int64_t bytes, TimeUs run) -> Job& {
    Job& job = add_job(to, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.constraints.memory_bytes_per_gpu = bytes;
    job.estimate.run_us = run * kSecond;
    return job;
  };
  run_on(add(s, "m", 1, 10, 9'000), "n0", {0}).preemption.preemptible = false;
  add(s, "x", 1, 13, 10);
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot others;
  state.apply(delta::PutJob{add(others, "k", 4, 1, 1'000)});
  commit(state, settled.decide(state));
  Job k = *state.job(state.find_job("k")), m = *state.job(state.find_job("m"));
  ASSERT_EQ(k.state, JobState::kRunning);
  m.constraints.memory_bytes_per_gpu = 2;
  k.constraints.memory_bytes_per_gpu = 3;
  state.apply(std::vector<Delta>{delta::PutJob{m}, delta::PutJob{k}});
  EXPECT_EQ(actions(state, settled.decide(state)), "k preempt lost_priority; x start; ");
}

// x stands before k, which starts, and lacks the quota that m uses. Then k and m change queues.
TEST(PlanChanges, AJobDisplacesOneThatNowUsesTheQuotaOfAnother) {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  for (const char* id : {"many", "few"}) {
    Queue queue;
    queue.id = id;
    queue.quotas.push_back({"*", 0, queue.id == "many" ? 16 : 8, kUnlimited});
    s.queues.push_back(queue);
  }
  const auto add = [](Snapshot& to, const std::string& id, const std::string& queue, TimeUs run) -> Job& {
    Job& job = add_job(to, id, 8);
    job.shapes[0].gpu_type = "a100";
    job.queue = queue;
    job.estimate.run_us = run * kSecond;
    return job;
  };
  run_on(add(s, "m", "few", 9'000), "n0", {0, 1, 2, 3, 4, 5, 6, 7}).preemption.preemptible = false;
  add(s, "x", "few", 10);
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot others;
  state.apply(delta::PutJob{add(others, "k", "many", 1'000)});
  commit(state, settled.decide(state));
  Job k = *state.job(state.find_job("k")), m = *state.job(state.find_job("m"));
  ASSERT_EQ(k.state, JobState::kRunning);
  m.queue = "many";
  k.queue = "few";
  state.apply(std::vector<Delta>{delta::PutJob{m}, delta::PutJob{k}});
  EXPECT_EQ(actions(state, settled.decide(state)), "k preempt lost_priority; x start; ");
}

// A plan is applied but for a, which left before it started. x lacks what b took.
TEST(PlanChanges, WhatAJobDidNotTakeIsFreeWhereTheOthersStarted) {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  const auto add = [](Snapshot& to, const std::string& id, std::int32_t gpus, TimeUs run) -> Job& {
    Job& job = add_job(to, id, gpus);
    job.shapes[0].gpu_type = "a100";
    job.estimate.run_us = run * kSecond;
    job.preemption.preemptible = false;
    return job;
  };
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot others;
  for (const char* id : {"a", "b"}) state.apply(delta::PutJob{add(others, id, 8, 10)});
  state.apply(delta::PutJob{add(others, "x", 8, 100)});
  state.apply(delta::PutJob{add(others, "y", 1, 1'000)});
  const Plan plan = settled.decide(state);
  ASSERT_EQ(actions(state, plan), "a start; b start; ");
  const PlanEntry& on = plan.entries[static_cast<std::size_t>(plan.decisions[1].entry_begin)];
  state.apply(
      std::vector<Delta>{delta::RemoveJob{"a", ""},
                         delta::StartJob{"b", {"s", {{"", 0, state.node(on.node).id, {0, 1, 2, 3, 4, 5, 6, 7}, kWholeGpu, false}}}}});
  EXPECT_EQ(actions(state, settled.decide(state)), "x start; ");
}

// At some instant of the decision, or after it. Such a plan is whole or says that it was stopped; the next ones are whole.
TEST(PlanChanges, ACancellationMayComeAtAnyInstantOfADecision) {
  sim::GenerateOptions options;
  options.nodes = 6;
  options.jobs = 60;
  ClusterState state(sim::generate(options));
  Engine engine;
  const Request request = asking_for_changes("srsf");
  const auto decide = [&] {
    Plan plan;
    PolicyState kept;
    engine.decide(state, kept, request, plan);
    return plan;
  };
  const auto expect_whole = [&](const Plan& plan) {
    Request whole = request;
    whole.changes_only = false;
    EXPECT_TRUE(same_plan(plan, without_unchanged(Engine().decide(state, whole))));
  };
  Snapshot others;
  for (int round = 0; round < 300; ++round) {
    state.apply(delta::PutJob{add_job(others, "came" + std::to_string(round), 1)});
    for (int i = 0; i < 3; ++i) expect_whole(decide());  // from now on the queue is kept
    state.apply(delta::RemoveJob{"came" + std::to_string(round), ""});
    std::atomic<bool> begun{false};
    std::jthread other([&] {
      while (!begun) {
      }
      for (int spins = 0; spins < round * 50 && begun; ++spins) {
      }
      engine.cancel();
    });
    begun = true;
    const Plan plan = decide();
    other.join();
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    if (plan.stopped_by == "done") {
      expect_whole(plan);
    } else {
      EXPECT_EQ(plan.stopped_by, "cancel");
    }
    decide();  // it may be the one that is cancelled
  }
}

// Jobs of equal keys stand in the order of submission. After its start, a is described again as the later one.
TEST(PlanChanges, AJobThatNowStandsBehindAnotherMayBeDisplaced) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  ClusterState state(s);
  Settled settled(state, "srsf");
  Snapshot described;
  for (const char* id : {"a", "b"}) {
    Job& job = add_job(described, id, 8);
    job.shapes[0].gpu_type = "a100";
    job.estimate.run_us = 1'000 * kSecond;
    job.submit_us = *id == 'a' ? 0 : kSecond;
    state.apply(delta::PutJob{job});
  }
  commit(state, settled.decide(state));
  Job later = *state.job(state.find_job("a"));
  ASSERT_EQ(later.state, JobState::kRunning);
  later.submit_us = 2 * kSecond;
  state.apply(delta::PutJob{later});
  const Plan plan = settled.decide(state);
  ASSERT_EQ(plan.decisions.size(), 2U);
  EXPECT_EQ(plan.decisions[0].action, Action::kStart);
  EXPECT_EQ(plan.decisions[1].action, Action::kPreempt);
}

// Memory that only passes over all jobs need is given back in quiet times, and is there again when one comes.
TEST(PlanChanges, APassOverAllJobsFollowsQuietDecisions) {
  sim::GenerateOptions options;
  options.nodes = 6;
  options.jobs = 40;
  for (const char* policy : {"srsf", "fifo"}) {
    ClusterState state(sim::generate(options));
    Engine engine;
    PolicyState kept;
    Request request = asking_for_changes(policy);
    request.params.emplace_back("quotas", "limits");  // guarantees need passes over all jobs
    Request whole = request;
    whole.changes_only = false;
    Plan plan;
    for (int i = 0; i < 60; ++i) {
      const std::string what = std::string(policy) + " " + std::to_string(i);
      if (i % 20 == 19) {  // all is read again
        Node node = state.node(0);
        node.id = "came" + std::to_string(i);
        state.apply(delta::PutNode{node});
      }
      PolicyState kept_whole = kept;
      Plan expected;
      Engine().decide(state, kept_whole, whole, expected);
      engine.decide(state, kept, request, plan);
      ASSERT_TRUE(same_plan(plan, without_unchanged(expected))) << what;
      if (i % 20 > 3) {
        EXPECT_LE(plan.decisions.size(), 8U) << what;  // it is quiet
      }
      if (i % 20 == 18) {
        EXPECT_LE(plan.decisions.capacity(), 8U) << what;
      }
      commit(state, plan);
      state.apply(delta::SetTime{state.now() + 1});
    }
  }
}

}  // namespace
}  // namespace berth::test::plan_changes_test
