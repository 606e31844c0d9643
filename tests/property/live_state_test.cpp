// A live state after many batches of changes answers like a state loaded from its snapshot.
// What is compiled incrementally equals what is compiled from scratch.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/params.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/random.hpp"

namespace berth::live_state_test {
namespace {

using test::parting;
using test::text_of;

struct Ask {
  std::string policy;
  std::string discipline;  // empty: that of the policy
  bool easy;
};

/// Every policy with its own discipline, and more disciplines of two policies.
const std::vector<Ask>& asks() {
  static const std::vector<Ask> all = [] {
    std::vector<Ask> made{
        {"fifo", "greedy", false}, {"fifo", "easy", true}, {"fifo", "conservative", true}, {"priority", "conservative", true}};
    for (const PolicyInfo& info : policies()) made.push_back({info.name, "", info.discipline == "easy"});
    return made;
  }();
  return all;
}

Request request_of(const Ask& ask, Backend backend, int threads) {
  Request request;
  request.policy = ask.policy;
  request.params = test::short_search(ask.policy);
  if (!ask.discipline.empty()) request.params.emplace_back("discipline", ask.discipline);
  request.backend = backend;
  request.threads = threads;
  return request;
}

sim::GenerateOptions options_of(sim::Workload workload, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 20;
  o.jobs = 40;
  o.workload = workload;
  o.seed = seed;
  o.nodes_per_rack = 4;
  o.racks_per_pod = 2;
  o.spare_ppm = 100'000;
  return o;
}

class Changes {
 public:
  Changes(test::Random& random, std::vector<Job> newcomers) : random_(random), newcomers_(std::move(newcomers)) {}

  std::vector<Delta> batch(const Snapshot& s) {
    std::vector<Delta> deltas;
    const std::int32_t n = random_.within(1, 4);
    for (std::int32_t i = 0; i < n; ++i) deltas.push_back(one(s));
    return deltas;
  }

 private:
  Delta one(const Snapshot& s) {
    const Node& node = random_.of(s.nodes);
    if (s.jobs.empty()) return newcomer(s);
    const Job& job = random_.of(s.jobs);
    switch (random_.below(17)) {
      case 0:
        return delta::SetTime{s.now_us + random_.below(3'000) * kSecond + random_.below(1'000'000)};
      case 1:
        return delta::RemoveJob{job.id, random_.percent(50) ? "completed" : ""};
      case 2:
        return delta::StopJob{job.id};
      case 3:
        return delta::SetNodeState{node.id, static_cast<NodeState>(random_.below(4)), random_.percent(20) ? s.now_us + kSecond : 0};
      case 4:
        return delta::SetGpuState{node.id, random_.below(9), static_cast<GpuState>(random_.below(3)),
                                  s.now_us + random_.below(900) * kSecond};
      case 5:
        return put_node(node);
      case 6:
        return delta::RemoveNode{node.id};
      case 7:
        return random_.percent(50) && !s.queues.empty() ? put_queue(s) : newcomer(s);
      case 8:
        return reservation(s, node, job);
      case 9:
        return delta::RemoveReservation{"r" + std::to_string(random_.below(3))};
      case 10:
        return progress(job);
      case 11:
        return replaced(job);
      case 12:
        return delta::SetTime{s.now_us - random_.below(2)};
      case 13:
      case 14:
      case 15:
        return lost(s);
      default:
        return newcomer(s);
    }
  }

  Delta lost(const Snapshot& s) {
    const std::vector<Delta> losses = test::random_losses(random_, s);
    return losses.empty() ? delta::SetTime{s.now_us} : losses.front();
  }
  Delta newcomer(const Snapshot& s) {
    Job job = random_.of(newcomers_);
    job.id = "new" + std::to_string(random_.below(60));
    job.submit_us = s.now_us - random_.below(100) * kSecond;
    if (job.submit_us < 0) job.submit_us = 0;
    job.state = JobState::kWaiting;
    job.allocation = {};
    job.progress = {};
    job.waiting_since_us = kNever;
    return delta::PutJob{std::move(job)};
  }
  Delta put_node(Node node) {
    if (random_.percent(50)) node.id += "x";
    if (random_.percent(30)) node.available_until_us = random_.below(100'000) * kSecond;
    if (random_.percent(30)) node.labels.clear();
    if (random_.percent(40)) node.nics = random_.below(9);
    if (random_.percent(40)) node.nic_bytes_per_s = random_.within(1, 50) * std::int64_t{1'000'000'000};
    return delta::PutNode{std::move(node)};
  }
  Delta put_queue(const Snapshot& s) {
    Queue queue = random_.of(s.queues);
    for (Quota& quota : queue.quotas) quota.limit = random_.below(200);
    return delta::PutQueue{std::move(queue)};
  }
  Delta reservation(const Snapshot& s, const Node& node, const Job& job) {
    Reservation r;
    r.id = "r" + std::to_string(random_.below(3));
    r.nodes = {node.id};
    r.from_us = s.now_us + random_.within(-500, 2'000) * kSecond;
    if (r.from_us < 0) r.from_us = 0;
    r.to_us = r.from_us + 2'000 * kSecond;
    r.jobs = {job.id};
    return delta::PutReservation{std::move(r)};
  }
  Delta progress(const Job& job) {
    Progress p = job.progress;
    if (random_.percent(50)) p.grad_sqr_micro = p.grad_var_micro = random_.below(1'000'000);
    p.run_us += random_.below(100) * kSecond;
    p.attained_gpu_us += random_.below(5'000) * kSecond;
    return delta::SetProgress{job.id, std::move(p)};
  }
  Delta replaced(Job job) {
    job.priority += random_.below(3) - 1;
    if (random_.percent(30)) job.estimate.run_us = kNever;
    return delta::PutJob{std::move(job)};
  }

  test::Random& random_;
  std::vector<Job> newcomers_;
};

/// Every policy gives the same answer on both states, on both backends and thread counts, and the same changes. Returns
/// one of these plans.
/// @param kept  [asks()] engines that decided on the live state before, and keep their buffers
Plan same_answers(const ClusterState& live, const ClusterState& fresh, std::vector<Engine>& kept, std::int32_t chosen,
                  const std::string& where, bool easy_too) {
  Plan plan;
  std::int32_t i = 0;
  for (const Ask& ask : asks()) {
    Engine& engine = kept[static_cast<std::size_t>(i)];
    const Plan reference = engine.decide(live, request_of(ask, Backend::kReference, 1));
    const std::string expected = text_of(reference, live);
    EXPECT_EQ(validate_plan(live, reference), std::vector<std::string>{}) << where << ask.policy;
    for (const int threads : {1, 2}) {
      const std::string cpu = text_of(engine.decide(live, request_of(ask, Backend::kCpu, threads)), live);
      EXPECT_TRUE(cpu == expected) << where << ask.policy << ", " << threads << " threads:\n" << parting(expected, cpu);
    }
    Request of_changes = request_of(ask, Backend::kAuto, 1);
    of_changes.changes_only = true;
    const Plan changes = engine.decide(live, of_changes);
    const Plan expected_changes = test::without_unchanged(reference, live, changes, live);
    EXPECT_TRUE(same_plan(changes, expected_changes)) << where << ask.policy << ", changes only";
    // The engine has just made the same plan.
    EXPECT_EQ(changes.reservations_since, reference.totals.reserves > 0 ? live.revision() : 0) << where << ask.policy;
    EXPECT_EQ(changes.reservations_dropped, std::vector<std::int32_t>{}) << where << ask.policy;
    for (const Decision& d : changes.decisions) EXPECT_NE(d.action, Action::kReserve) << where << ask.policy;
    EXPECT_EQ(validate_plan(live, changes), std::vector<std::string>{}) << where << ask.policy << ", changes only";
    if (i++ == chosen) plan = reference;
    if (ask.easy && !easy_too) continue;
    const std::string from_scratch = text_of(Engine{}.decide(fresh, request_of(ask, Backend::kCpu, 1)), fresh);
    EXPECT_TRUE(from_scratch == expected) << where << ask.policy << ", live and fresh:\n" << parting(expected, from_scratch);
  }
  return plan;
}

/// Compares rates and remaining work, even where no plan shows them.
void same_columns(const ClusterState& live, const ClusterState& fresh, const std::string& where) {
  const StateImpl& a = live.impl();
  const StateImpl& b = fresh.impl();
  EXPECT_EQ(a.tables_hash(), b.tables_hash()) << where;
  for (const std::int32_t job : a.job_order) {
    const std::string& id = live.job(job)->id;
    const std::int32_t other_job = fresh.find_job(id);
    EXPECT_EQ(a.job.rate[static_cast<std::size_t>(job)], b.job.rate[static_cast<std::size_t>(other_job)]) << where << id;
    EXPECT_EQ(a.work_left_now(job), b.work_left_now(other_job)) << where << id;
    EXPECT_EQ(a.remaining(job), b.remaining(other_job)) << where << id;
    EXPECT_EQ(a.attained_now(job), b.attained_now(other_job)) << where << id;
  }
}

void live(sim::Workload workload, std::uint64_t seed, bool easy_too = false) {
  test::Random random(seed);
  ClusterState state(sim::generate(options_of(workload, seed)));
  Changes changes(random, sim::generate(options_of(workload, seed + 100)).jobs);
  std::vector<Engine> kept(asks().size());
  std::int32_t refused = 0;
  std::int32_t applied = 0;
  for (std::int32_t round = 0; round < 12 && !::testing::Test::HasFailure(); ++round) {
    const std::string where = "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": ";
    const Snapshot before = state.snapshot();
    const std::uint64_t revision = state.revision();
    try {
      state.apply(changes.batch(before));
      ++applied;
    } catch (const InputError& error) {
      ++refused;
      EXPECT_TRUE(state.snapshot() == before) << where << error.what();
      EXPECT_EQ(state.revision(), revision) << where;
    }
    const Snapshot now = state.snapshot();
    ClusterState fresh(now);
    EXPECT_TRUE(fresh.snapshot() == now) << where;
    same_columns(state, fresh, where);
    const Plan plan = same_answers(state, fresh, kept, random.below(static_cast<std::int32_t>(asks().size())), where, easy_too);
    commit(state, plan);
    state.apply(delta::SetTime{state.now() + random.below(600) * kSecond});
  }
  EXPECT_GT(applied, 0);
  EXPECT_LT(refused, 12);
}

TEST(LiveState, AnswersAsOneLoadedFromItsSnapshotOnPhillyJobs) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) live(sim::Workload::kPhilly, seed);
}
TEST(LiveState, AnswersAsOneLoadedFromItsSnapshotOnHeliosJobs) {
  for (const std::uint64_t seed : {4U, 5U, 6U}) live(sim::Workload::kHelios, seed);
}
TEST(LiveState, AnswersAsOneLoadedFromItsSnapshotOnGroupTrees) {
  for (const std::uint64_t seed : {7U, 8U, 9U}) live(sim::Workload::kLlm, seed);
}

// Indices depend on the order in which jobs arrived; no reservation may depend on them.
TEST(LiveState, ReservesAsOneLoadedFromItsSnapshot) {
  for (const std::uint64_t seed : {4U, 5U, 6U}) live(sim::Workload::kHelios, seed, true);
  live(sim::Workload::kLlm, 7, true);
}

}  // namespace
}  // namespace berth::live_state_test
