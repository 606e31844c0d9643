// An engine that decides again and again answers as a new one on a state loaded from the snapshot, whatever came between.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "tests/property/live_loop.hpp"
#include "tests/property/odd_clusters.hpp"
#include "tests/property/partial_plans.hpp"
#include "tests/support/params.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/random.hpp"

namespace berth::interrupted_loops_test {
namespace {

using test::apply_plans_in_part;
using test::exchange_what_two_jobs_need;
using test::kDay;
using test::Loop;
using test::OddClusters;
using test::Random;

constexpr std::int32_t kJobs = 40;

bool is_on(const Snapshot& s, const Job& job) {
  return std::all_of(job.allocation.entries.begin(), job.allocation.entries.end(), [&](const AllocationEntry& entry) {
    return std::any_of(s.nodes.begin(), s.nodes.end(), [&](const Node& node) { return node.id == entry.node; });
  });
}

Loop plain_loop(const std::string& policy, std::uint64_t seed) {
  Random random(seed);
  Request request = test::plain_request(policy, seed, random);
  Snapshot s = test::plain_cluster(seed, kJobs);
  s.nodes.resize(std::min<std::size_t>(s.nodes.size(), 6));
  std::erase_if(s.jobs, [&](const Job& job) { return job.state == JobState::kRunning && !is_on(s, job); });
  return {std::move(random), std::move(request), s, test::plain_newcomers(seed)};
}

/// What comes between two decisions of a loop. It may decide, too.
using Interruption = void (*)(Loop& loop, const std::string& where);

constexpr std::uint64_t kSeeds = 3;
constexpr std::int32_t kRounds = 12, kUndisturbed = 3;  // a queue is kept from the third decision on

void follow(const std::string& policy, Interruption interrupt) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Loop loop = plain_loop(policy, seed);
    for (std::int32_t round = 0; round < kRounds; ++round) {
      const std::string where = policy + ", seed " + std::to_string(seed) + ", round " + std::to_string(round);
      loop.go_on();
      if (round >= kUndisturbed) interrupt(loop, where + ", interruption");
      if (::testing::Test::HasFatalFailure()) return;
      loop.request.changes_only = loop.random.percent(70);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) return;
      if (loop.random.percent(75)) commit(loop.state, loop.plan);
    }
  }
}

// ---- events ----

void undo_in_one_apply(Loop& loop, const std::string&) {
  auto [deltas, back] = loop.change_and_back();
  deltas.insert(deltas.end(), back.begin(), back.end());
  loop.apply(deltas);
}

void undo_after_a_decision(Loop& loop, const std::string& where) {
  const auto [there, back] = loop.change_and_back();
  if (!loop.apply(there)) return;
  loop.decide(where);
  loop.apply(back);
}

// Later ones are refused, and take the earlier ones with them.
void refuse_a_batch(Loop& loop, const std::string& where) {
  auto [deltas, back] = loop.change_and_back();
  deltas.insert(deltas.begin(), delta::SetTime{loop.state.now() + 900 * kSecond});
  deltas.emplace_back(delta::RemoveJob{"no such job", ""});
  const Snapshot before = loop.state.snapshot();
  ASSERT_FALSE(loop.apply(deltas)) << where;
  ASSERT_TRUE(loop.state.snapshot() == before) << where;
}

Delta of_one_node(Random& random, const Node& node) {
  if (random.percent(50)) {
    const auto state = random.of<NodeState>({NodeState::kReady, NodeState::kReady, NodeState::kDrain, NodeState::kFailed});
    return delta::SetNodeState{node.id, state, 0};
  }
  const auto state = random.of<GpuState>({GpuState::kOk, GpuState::kOk, GpuState::kOk, GpuState::kReleasing, GpuState::kFailed});
  return delta::SetGpuState{node.id, random.below(node.gpus), state, kNever};
}

void change_one_node_a_thousand_times(Loop& loop, const std::string& where) {
  if (loop.state.node_count() == 0) return;
  const Node node = loop.state.node(loop.random.below(loop.state.node_count()));
  std::vector<Delta> deltas;
  for (std::int32_t i = 0; i < 1'000; ++i) deltas.push_back(of_one_node(loop.random, node));
  if (loop.random.percent(50)) {
    ASSERT_TRUE(loop.apply(deltas)) << where;
  } else {
    for (const Delta& one : deltas) ASSERT_TRUE(loop.apply(one)) << where;
  }
}

// ---- clocks ----

void stand_still(Loop& loop, const std::string& where) {
  for (int i = 0; i < 3; ++i) {
    loop.apply(delta::SetTime{loop.state.now()});
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    commit(loop.state, loop.plan);
  }
}

void jump_around_the_next_order(Loop& loop, const std::string& where) {
  const TimeUs until = loop.plan.order_until_us;
  if (until == kNever || until <= loop.state.now() || until >= kMaxTimeUs) return;
  for (const TimeUs at : {until - 1, until, until + 1}) {
    loop.apply(delta::SetTime{at});
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void jump_far_ahead(Loop& loop, const std::string&) {
  loop.pass_time(loop.random.of<TimeUs>({kDay, 1'000 * kDay, 1'000'000 * kDay}));
  if (loop.random.percent(10)) loop.pass_time(kMaxTimeUs);
}

void turn_the_clock_back(Loop& loop, const std::string& where) {
  const Snapshot before = loop.state.snapshot();
  const std::uint64_t revision = loop.state.revision();
  for (const TimeUs at : {loop.state.now() - 1, TimeUs{-1}, kMaxTimeUs + 1}) ASSERT_FALSE(loop.apply(delta::SetTime{at})) << where;
  const std::array<Delta, 2> there_and_back{delta::SetTime{loop.state.now() + kDay}, delta::SetTime{loop.state.now()}};
  ASSERT_FALSE(loop.apply(there_and_back)) << where;
  ASSERT_TRUE(loop.state.snapshot() == before) << where;
  ASSERT_EQ(loop.state.revision(), revision) << where;
}

// ---- plans ----

// Jobs that these plans start, and for which others make room, may leave.
void leave_plans_uncommitted(Loop& loop, const std::string& where) {
  for (std::int32_t i = loop.random.within(2, 4); i > 0; --i) {
    if (loop.random.percent(50)) loop.go_on();
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    for (const Decision& d : Plan(loop.plan).decisions) {
      if (d.action == Action::kStart && loop.random.percent(30)) loop.apply(delta::RemoveJob{loop.state.job(d.job)->id, ""});
    }
  }
}

/// The earlier or the later half of the changes.
Plan half_of(const Plan& plan, bool later) {
  Plan half = plan;
  std::erase_if(half.decisions, [](const Decision& d) { return d.action == Action::kKeep || d.action == Action::kWait; });
  const auto middle = half.decisions.begin() + static_cast<std::ptrdiff_t>(half.decisions.size() / 2);
  later ? half.decisions.erase(half.decisions.begin(), middle) : half.decisions.erase(middle, half.decisions.end());
  return half;
}

/// A part of a plan is refused, and nothing of it is applied.
void expect_refused(Loop& loop, const Plan& part, const std::string& where) {
  const Snapshot before = loop.state.snapshot();
  const std::uint64_t revision = loop.state.revision();
  EXPECT_THROW(commit(loop.state, part), InvalidArgument) << where;
  ASSERT_TRUE(loop.state.snapshot() == before) << where;
  ASSERT_EQ(loop.state.revision(), revision) << where;
}

void commit_half_a_plan(Loop& loop, const std::string& where) {
  loop.decide(where);
  if (::testing::Test::HasFatalFailure()) return;
  const auto changes = [](const Plan& plan) {
    return std::count_if(plan.decisions.begin(), plan.decisions.end(), [](const Decision& d) {
      return d.action == Action::kStart || d.action == Action::kPreempt || d.action == Action::kMigrate || d.action == Action::kResize;
    });
  };
  const Plan half = half_of(loop.plan, loop.random.percent(50));
  if (changes(half) == changes(loop.plan)) return;
  expect_refused(loop, half, where);
}

void commit_starts_without_stops(Loop& loop, const std::string& where) {
  loop.decide(where);
  if (::testing::Test::HasFatalFailure()) return;
  Plan starts = loop.plan;
  if (std::erase_if(starts.decisions, [](const Decision& d) { return d.action == Action::kPreempt; }) == 0) return;
  expect_refused(loop, starts, where);
}

void take_whole_plans_and_changes_in_turn(Loop& loop, const std::string& where) {
  for (int i = 0; i < 4; ++i) {
    loop.request.changes_only = i % 2 == 0;
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    if (i == 1) commit(loop.state, loop.plan);
  }
}

// ---- engines, states and policies ----

/// Both orders: this state or the other one first.
void take_two_states_in_turn(Loop& loop, const std::string& where) {
  ClusterState other(loop.state.snapshot());
  for (int i = 0; i < 4; ++i) {
    std::swap(loop.state, other);
    loop.go_on();
    loop.decide(where + ", two states");
    if (::testing::Test::HasFatalFailure()) return;
    if (loop.random.percent(50)) commit(loop.state, loop.plan);
  }
}

void load_the_snapshot(Loop& loop, const std::string&) {
  Snapshot s = loop.state.snapshot();
  if (loop.random.percent(50)) {
    loop.state = ClusterState(std::move(s));
  } else {
    loop.apply(delta::Load{std::move(s)});
  }
}

/// Of the same policy.
Request with_other_params(const Loop& loop, Random& random) {
  Request other = loop.request;
  for (auto& [name, value] : other.params) {
    if (name == "discipline") value = random.of<const char*>({"strict", "greedy", "easy"});
    if (name == "packing") value = random.of<const char*>({"topology", "count", "emptiest"});
    if (name == "thresholds_gpu_s") value = random.of<const char*>({"1,10", "600,6000", "100000,900000"});
  }
  return other;
}

// The engine makes each policy again, and forgets what it kept of the earlier one.
void change_the_parameters(Loop& loop, const std::string& where) {
  const Request own = loop.request;
  for (int i = 0; i < 3; ++i) {
    loop.request = with_other_params(loop, loop.random);
    loop.decide(where + ", other parameters");
    if (::testing::Test::HasFatalFailure()) return;
    if (loop.random.percent(30)) commit(loop.state, loop.plan);
  }
  if (loop.random.percent(50)) loop.request = own;
}

/// A decision that is not compared.
void decide_aside(Loop& loop, const Request& request) {
  PolicyState aside;
  Plan plan;
  loop.engine->decide(loop.state, aside, request, plan);
}

void change_the_policy(Loop& loop, const std::string&) {
  Request other;
  other.policy = loop.random.of<std::string>({"fifo", "las", "srsf", "priority", "themis", "price"});
  other.changes_only = loop.random.percent(50);
  if (loop.random.percent(30)) other.backend = Backend::kReference;
  decide_aside(loop, other);
  loop.request = with_other_params(loop, loop.random);
}

void stop_decisions(Loop& loop, const std::string&) {
  for (int i = 0; i < 2; ++i) {
    Request stopped = loop.request;
    stopped.changes_only = loop.random.percent(50);
    switch (loop.random.below(4)) {
      case 0:
        stopped.max_iterations = loop.random.within(1, 10);
        break;
      case 1:
        stopped.budget_us = 1;
        break;
      case 2:
        stopped.progress = [](std::int64_t, std::int64_t) { return false; };
        break;
      default:
        loop.engine->cancel();
    }
    PolicyState aside = loop.policy_state;
    Plan plan;
    loop.engine->decide(loop.state, aside, stopped, plan);
    if (loop.random.percent(30)) commit(loop.state, plan);
    loop.go_on();
  }
}

// After an exception the engine knows nothing of the decisions before.
void ask_what_makes_no_sense(Loop& loop, const std::string& where) {
  Request request = loop.request;
  PolicyState aside = loop.policy_state;
  switch (loop.random.below(3)) {
    case 0:
      request.policy = "none";
      break;
    case 1:
      request.params.emplace_back("none", "1");
      break;
    default:
      aside.policy = "none";
  }
  const PolicyState before = aside;
  Plan plan;
  ASSERT_THROW(loop.engine->decide(loop.state, aside, request, plan), InvalidArgument) << where;
  ASSERT_EQ(aside, before) << where;
}

void replace_the_policy_state(Loop& loop, const std::string& where) {
  const PolicyState earlier = loop.policy_state;
  loop.policy_state = {};
  loop.decide(where + ", without a policy state");
  if (::testing::Test::HasFatalFailure()) return;
  loop.go_on();
  loop.policy_state = earlier;
}

void move_the_engine(Loop& loop, const std::string&) {
  auto moved = std::make_unique<Engine>();  // at another address
  *moved = std::move(*loop.engine);
  loop.engine = std::move(moved);
  ClusterState state = std::move(loop.state);
  loop.state = std::move(state);
}

// ---- clusters ----

void change_the_nodes(Loop& loop, const std::string&) {
  const Snapshot s = loop.state.snapshot();
  if (s.nodes.empty()) return;
  Node node = loop.random.of(s.nodes);
  switch (loop.random.below(5)) {
    case 0:
      loop.apply(
          delta::SetNodeState{node.id, static_cast<NodeState>(loop.random.below(3)), loop.random.percent(30) ? s.now_us + kSecond : 0});
      break;
    case 1:
      node.id += "+";
      loop.apply(delta::PutNode{node});
      break;
    case 2:
      loop.apply(delta::RemoveNode{node.id});
      break;
    case 3: {
      Reservation r;
      r.id = "r" + std::to_string(loop.random.below(2));
      r.nodes = {node.id};
      r.from_us = s.now_us + loop.random.within(0, 1) * 1'000 * kSecond;
      r.to_us = r.from_us + loop.random.within(1, 6) * 1'000 * kSecond;
      loop.apply(delta::PutReservation{r});
      break;
    }
    default:
      for (const Reservation& r : s.reservations) loop.apply(delta::RemoveReservation{r.id});
      for (const Node& each : s.nodes) loop.apply(delta::SetNodeState{each.id, NodeState::kReady, 0});
  }
}

/// The node of a job that runs; empty: none does.
std::string node_in_use(Loop& loop) {
  const Snapshot s = loop.state.snapshot();
  std::vector<std::string> nodes;
  for (const Job& job : s.jobs) {
    for (const AllocationEntry& entry : job.allocation.entries) nodes.push_back(entry.node);
  }
  return nodes.empty() ? "" : loop.random.of(nodes);
}

// Plans that repair gangs, or place jobs again, are applied or not. The nodes and GPUs fail for a while.
void break_what_jobs_run_on(Loop& loop, const std::string& where) {
  std::vector<Delta> back;
  for (std::int32_t i = loop.random.within(2, 5); i > 0; --i) {
    if (const std::string node = node_in_use(loop); !node.empty()) {
      const std::int32_t gpu = loop.random.below(8);
      const bool all = loop.random.percent(50);
      if (all ? loop.apply(delta::SetNodeState{node, NodeState::kFailed, 0})
              : loop.apply(delta::SetGpuState{node, gpu, GpuState::kFailed, kNever})) {
        back.emplace_back(all ? Delta{delta::SetNodeState{node, NodeState::kReady, 0}}
                              : Delta{delta::SetGpuState{node, gpu, GpuState::kOk, kNever}});
      }
    }
    if (loop.random.percent(20) && loop.state.node_count() > 0) {
      const std::string spare = loop.state.node(loop.random.below(loop.state.node_count())).id;
      if (loop.apply(delta::SetNodeState{spare, NodeState::kSpare, 0})) back.emplace_back(delta::SetNodeState{spare, NodeState::kReady, 0});
    }
    if (loop.random.percent(40)) loop.go_on();
    loop.request.changes_only = loop.random.percent(70);
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    if (loop.random.percent(50)) commit(loop.state, loop.plan);
    if (loop.random.percent(40) && !back.empty()) {
      loop.apply(back.back());
      back.pop_back();
    }
  }
  if (loop.random.percent(80)) {
    for (const Delta& one : back) loop.apply(one);
  }
}

// Jobs that ran there leave, and time alone gives the node to others.
void reserve_a_node_for_a_while(Loop& loop, const std::string& where) {
  if (loop.state.node_count() == 0) return;
  Reservation r;
  r.id = "while";
  r.nodes = {loop.state.node(loop.random.below(loop.state.node_count())).id};
  r.to_us = loop.state.now() + 500 * kSecond;
  loop.apply(delta::PutReservation{r});
  for (const Job& job : loop.state.snapshot().jobs) {
    const std::vector<AllocationEntry>& entries = job.allocation.entries;
    const bool runs_there = std::any_of(entries.begin(), entries.end(), [&](const AllocationEntry& e) { return e.node == r.nodes[0]; });
    if (runs_there) loop.apply(delta::RemoveJob{job.id, ""});
  }
  for (int i = 0; i < 3; ++i) {
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    commit(loop.state, loop.plan);
  }
  loop.pass_time(500 * kSecond);
  loop.decide(where + ", after the reservation");
  loop.apply(delta::RemoveReservation{"while"});
}

// They fall, and most rise again.
void change_the_quotas(Loop& loop, const std::string& where) {
  const std::vector<Queue> queues = loop.state.snapshot().queues;
  for (const Queue& queue : queues) {
    if (loop.random.percent(50)) loop.apply(delta::PutQueue{loop.with_limits(queue)});
  }
  for (int i = 0; i < 4; ++i) {
    loop.go_on();  // GPUs become free that no queue may use
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    commit(loop.state, loop.plan);
  }
  for (const Queue& queue : queues) {
    if (loop.random.percent(80)) loop.apply(delta::PutQueue{queue});
  }
}

// A job that is held has left, and comes back.
void change_the_jobs(Loop& loop, const std::string& where) {
  const Snapshot s = loop.state.snapshot();
  std::vector<Job> held;
  for (std::int32_t i = loop.random.within(1, 4); i > 0 && !s.jobs.empty(); --i) {
    const Job& job = loop.random.of(s.jobs);
    if (loop.random.percent(25) && loop.apply(delta::RemoveJob{job.id, ""})) {
      held.push_back(job);
    } else if (loop.state.find_job(job.id) >= 0) {
      loop.apply(delta::PutJob{loop.described_again(job)});
    }
  }
  loop.decide(where);
  if (::testing::Test::HasFatalFailure()) return;
  for (const Job& job : held) loop.apply(delta::PutJob{test::as_newcomer(job, job.id, job.submit_us)});
}

// Each between the one before it and the same third one: labels of jobs run out (StateImpl::job_label).
void squeeze_jobs_between_two(Loop& loop, const std::string& where) {
  const Snapshot s = loop.state.snapshot();
  if (s.jobs.empty()) return;
  const Job& last = loop.random.of(s.jobs);
  for (std::int32_t i = 0; i < 30; ++i) {
    loop.apply(delta::PutJob{test::as_newcomer(loop.newcomer(), "squeezed" + std::to_string(100 + i), last.submit_us - 1)});
    if (i % 10 == 0) loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (std::int32_t i = 0; i < 30; ++i) loop.apply(delta::RemoveJob{"squeezed" + std::to_string(100 + i), ""});
}

constexpr std::array<Interruption, 28> kAll{undo_in_one_apply,
                                            undo_after_a_decision,
                                            refuse_a_batch,
                                            change_one_node_a_thousand_times,
                                            stand_still,
                                            jump_around_the_next_order,
                                            jump_far_ahead,
                                            turn_the_clock_back,
                                            leave_plans_uncommitted,
                                            apply_plans_in_part,
                                            exchange_what_two_jobs_need,
                                            commit_half_a_plan,
                                            commit_starts_without_stops,
                                            take_whole_plans_and_changes_in_turn,
                                            take_two_states_in_turn,
                                            load_the_snapshot,
                                            change_the_parameters,
                                            change_the_policy,
                                            stop_decisions,
                                            ask_what_makes_no_sense,
                                            replace_the_policy_state,
                                            move_the_engine,
                                            change_the_nodes,
                                            break_what_jobs_run_on,
                                            reserve_a_node_for_a_while,
                                            change_the_quotas,
                                            change_the_jobs,
                                            squeeze_jobs_between_two};

void interrupt_by_anything(Loop& loop, const std::string& where) {
  for (std::int32_t i = loop.random.within(1, 3); i > 0; --i) {
    kAll[static_cast<std::size_t>(loop.random.below(static_cast<std::int32_t>(kAll.size())))](loop, where);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// ---- clusters of few nodes, and jobs that differ in everything ----

Loop odd_loop(const std::string& policy, std::uint64_t seed) {
  Random random(seed);
  Request request = test::plain_request(policy, seed, random);
  for (auto& [name, value] : request.params) {
    if (name == "thresholds_gpu_s") value = "400,8000";
  }
  if (random.percent(20)) request.params.emplace_back("max_tries", "1");
  OddClusters odd(random);
  const Snapshot s = odd.cluster();
  std::vector<Job> jobs = odd.jobs(12, seed % 3 == 0);
  Loop loop(std::move(random), std::move(request), s, std::move(jobs));
  for (int i = 0; i < 25; ++i) loop.apply(delta::PutJob{loop.newcomer()});
  return loop;
}

void happen(Loop& loop, const std::string& where) {
  switch (loop.random.below(14)) {
    case 13:
      exchange_what_two_jobs_need(loop, where);
      break;
    case 12:
      if (loop.state.node_count() > 0) {
        loop.apply(of_one_node(loop.random, loop.state.node(loop.random.below(loop.state.node_count()))));
      }
      break;
    case 0:
    case 1:
      loop.pass_time(loop.random.of<TimeUs>({kSecond, 50 * kSecond, 100 * kSecond, 1'000 * kSecond}));
      break;
    case 2:
      change_the_nodes(loop, where);
      break;
    case 3:
      for (const Reservation& r : loop.state.snapshot().reservations) loop.apply(delta::RemoveReservation{r.id});
      break;
    case 4:
      change_the_quotas(loop, where);
      break;
    case 5:
      loop.apply(loop.change_and_back().there);
      break;
    case 6:
      undo_after_a_decision(loop, where);
      break;
    case 7:
    case 8: {
      const Snapshot s = loop.state.snapshot();
      if (!s.jobs.empty()) loop.apply(delta::RemoveJob{loop.random.of(s.jobs).id, ""});
      break;
    }
    default:
      loop.apply(delta::PutJob{loop.newcomer()});
      loop.apply(delta::PutJob{loop.newcomer()});
  }
}

void follow_odd(const std::string& policy, std::uint64_t seed, std::int32_t rounds) {
  Loop loop = odd_loop(policy, seed);
  for (std::int32_t round = 0; round < rounds; ++round) {
    const std::string where = policy + ", odd cluster " + std::to_string(seed) + ", round " + std::to_string(round);
    for (std::int32_t i = loop.random.below(4); i > 0; --i) happen(loop, where + ", event");
    if (loop.random.percent(5)) interrupt_by_anything(loop, where + ", interruption");
    if (::testing::Test::HasFatalFailure()) return;
    loop.request.changes_only = loop.random.percent(70);
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    if (loop.random.percent(80)) commit(loop.state, loop.plan);
  }
}

class InterruptedLoops : public ::testing::TestWithParam<std::string> {};

TEST_P(InterruptedLoops, DeltasOfOneApplyUndoEachOther) { follow(GetParam(), undo_in_one_apply); }
TEST_P(InterruptedLoops, DeltasUndoThoseBeforeADecision) { follow(GetParam(), undo_after_a_decision); }
TEST_P(InterruptedLoops, ARefusedBatchLeavesNoTrace) { follow(GetParam(), refuse_a_batch); }
TEST_P(InterruptedLoops, AThousandDeltasAreOfOneNode) { follow(GetParam(), change_one_node_a_thousand_times); }
TEST_P(InterruptedLoops, TheClockStandsStill) { follow(GetParam(), stand_still); }
TEST_P(InterruptedLoops, TheClockJumpsToTheNextOrderAndBehindIt) { follow(GetParam(), jump_around_the_next_order); }
TEST_P(InterruptedLoops, TheClockJumpsFarAhead) { follow(GetParam(), jump_far_ahead); }
TEST_P(InterruptedLoops, TheClockIsNotTurnedBack) { follow(GetParam(), turn_the_clock_back); }
TEST_P(InterruptedLoops, PlansAreNotCommitted) { follow(GetParam(), leave_plans_uncommitted); }
TEST_P(InterruptedLoops, PlansAreAppliedInPart) { follow(GetParam(), apply_plans_in_part); }
TEST_P(InterruptedLoops, JobsExchangeWhatTheyNeed) { follow(GetParam(), exchange_what_two_jobs_need); }
TEST_P(InterruptedLoops, HalfAPlanIsCommitted) { follow(GetParam(), commit_half_a_plan); }
TEST_P(InterruptedLoops, StartsAreCommittedWithoutStops) { follow(GetParam(), commit_starts_without_stops); }
TEST_P(InterruptedLoops, WholePlansAndChangesComeInTurn) { follow(GetParam(), take_whole_plans_and_changes_in_turn); }
TEST_P(InterruptedLoops, TwoStatesComeInTurn) { follow(GetParam(), take_two_states_in_turn); }
TEST_P(InterruptedLoops, TheSnapshotIsLoaded) { follow(GetParam(), load_the_snapshot); }
TEST_P(InterruptedLoops, ParametersChange) { follow(GetParam(), change_the_parameters); }
TEST_P(InterruptedLoops, PoliciesChange) { follow(GetParam(), change_the_policy); }
TEST_P(InterruptedLoops, DecisionsAreStopped) { follow(GetParam(), stop_decisions); }
TEST_P(InterruptedLoops, RequestsAreRefused) { follow(GetParam(), ask_what_makes_no_sense); }
TEST_P(InterruptedLoops, ThePolicyStateIsReplaced) { follow(GetParam(), replace_the_policy_state); }
TEST_P(InterruptedLoops, EngineAndStateAreMoved) { follow(GetParam(), move_the_engine); }
TEST_P(InterruptedLoops, NodesComeAndGo) { follow(GetParam(), change_the_nodes); }
TEST_P(InterruptedLoops, NodesAndGpusFailUnderJobs) { follow(GetParam(), break_what_jobs_run_on); }
TEST_P(InterruptedLoops, AReservationEnds) { follow(GetParam(), reserve_a_node_for_a_while); }
TEST_P(InterruptedLoops, QuotasChange) { follow(GetParam(), change_the_quotas); }
TEST_P(InterruptedLoops, JobsAreHeldAndDescribedAgain) { follow(GetParam(), change_the_jobs); }
TEST_P(InterruptedLoops, JobsComeBetweenTwoOthers) { follow(GetParam(), squeeze_jobs_between_two); }
TEST_P(InterruptedLoops, AnythingComesBetween) { follow(GetParam(), interrupt_by_anything); }

// BERTH_LOOPS: how many for each policy.
TEST_P(InterruptedLoops, ClustersAndJobsAreOdd) {
  const char* const wanted = std::getenv("BERTH_LOOPS");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::uint64_t loops = wanted == nullptr ? 4 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= loops; ++seed) {
    follow_odd(GetParam(), seed, 60);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, InterruptedLoops, ::testing::ValuesIn(test::queue_policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::interrupted_loops_test
