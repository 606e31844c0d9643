#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "bench/support/memory.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/turnover.hpp"

/// Consecutive decisions, as by a scheduler: jobs end and as many arrive, the engine decides, the plan is applied. By whole
/// plans, and by plans that list only changes. Where nodes fail, one on which a job runs fails at each step, and the one that
/// failed before is ready again. Where nodes come, one is added at each step; where they are
/// reserved, a reservation of one of them for an hour later takes the place of the one before. Before a maintenance 200 nodes
/// are reserved from two days later on, all of them or 10 an hour, and the reservations stand.
/// The latency of a decision counts from the deltas to the validated plan.
namespace berth::bench {
namespace {

/// What happens to nodes between two decisions.
enum class Nodes { kStay, kFail, kCome, kReserved, kMaintenance, kRolling };

/// Jobs are in 16 queues by their ids. Half of the GPUs are guaranteed.
Snapshot with_guarantees(Snapshot s) {
  constexpr std::size_t kQueues = 16;
  std::int64_t gpus = 0;
  for (const Node& node : s.nodes) gpus += node.gpus;
  s.queues.clear();
  for (std::size_t q = 0; q < kQueues; ++q) {
    Queue queue;
    queue.id = "q" + std::to_string(q);
    queue.quotas = {{"*", gpus / 2 / static_cast<std::int64_t>(kQueues)}};
    s.queues.push_back(std::move(queue));
  }
  for (std::size_t i = 0; i < s.jobs.size(); ++i) s.jobs[i].queue = s.queues[i * 7 % kQueues].id;
  return s;
}

class Stream {
 public:
  Stream(Snapshot snapshot, bool changes_only, int jobs, Nodes nodes, const char* policy,
         std::vector<std::pair<std::string, std::string>> params)
      : snapshot_(std::move(snapshot)), state_(snapshot_), turnover_(snapshot_, kSeed, jobs), nodes_(nodes), random_(kSeed) {
    request_.policy = policy;
    request_.params = std::move(params);
    request_.changes_only = changes_only;
    if (nodes_ == Nodes::kMaintenance) reserve_from(0, kMaintained, state_.now() + kNotice);
    for (std::int32_t first = 0; nodes_ == Nodes::kRolling && first < std::min(kMaintained, state_.node_count()); first += kEachHour) {
      reserve_from(first, kEachHour, state_.now() + kNotice + first / kEachHour * 3'600 * kSecond);
    }
  }

  void step() {
    std::vector<Delta> deltas = turnover_.next(state_);
    if (nodes_ == Nodes::kFail) fail_another(deltas);
    if (nodes_ == Nodes::kCome) add_node(deltas);
    if (nodes_ == Nodes::kReserved) reserve_another(deltas);
    Lap lap;
    state_.apply(deltas);
    apply.push_back(lap.seconds());
    engine_.decide(state_, memory_, request_, plan_);
    decide.push_back(lap.seconds());
    compile.push_back(plan_.timing.compile_s);
    order.push_back(plan_.timing.order_s);
    place.push_back(plan_.timing.place_s);
    reasons.push_back(plan_.timing.reasons_s);
    validate.push_back(plan_.timing.validate_s);
    commit(state_, plan_);
    carry_out.push_back(lap.seconds());
    total.push_back(apply.back() + decide.back());
  }

  void check() {
    step();
    Request whole = request_;
    whole.changes_only = false;
    const Plan plan = engine_.decide(state_, whole);
    require_valid(state_, plan);
    if (state_.node_count() <= kReferenceNodes) require_equal_to_reference(state_, whole, plan);
    for (auto* column : {&apply, &decide, &carry_out, &total, &compile, &order, &place, &reasons, &validate}) column->clear();
  }

  std::vector<double> apply, decide, carry_out, total;
  std::vector<double> compile, order, place, reasons, validate;  // parts of `decide`

 private:
  // The node of a job drawn at random.
  void fail_another(std::vector<Delta>& deltas) {
    if (!failed_.empty()) deltas.emplace_back(delta::SetNodeState{failed_, NodeState::kReady, 0});
    failed_.clear();
    const std::int32_t jobs = state_.job_index_end();
    const auto start = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(jobs));
    for (std::int32_t i = 0; i < jobs && failed_.empty(); ++i) {
      const Job* job = state_.job((start + i) % jobs);
      if (job != nullptr && job->state == JobState::kRunning) failed_ = job->allocation.entries.front().node;
    }
    if (!failed_.empty()) deltas.emplace_back(delta::SetNodeState{failed_, NodeState::kFailed, 0});
  }

  void add_node(std::vector<Delta>& deltas) {
    Node node = state_.node(0);
    node.id = "came" + std::to_string(++came_);
    deltas.emplace_back(delta::PutNode{node});
  }

  void reserve_another(std::vector<Delta>& deltas) {
    Reservation reservation;
    reservation.id = "maintenance";
    reservation.nodes = {state_.node(static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(state_.node_count()))).id};
    reservation.from_us = state_.now() + 3'600 * kSecond;
    reservation.to_us = reservation.from_us + 3'600 * kSecond;
    deltas.emplace_back(delta::PutReservation{std::move(reservation)});
  }

  /// Nodes from rank `first` on.
  void reserve_from(std::int32_t first, std::int32_t nodes, TimeUs from) {
    Reservation reservation;
    reservation.id = "maintenance of " + std::to_string(first);
    for (std::int32_t n = first; n < std::min(first + nodes, state_.node_count()); ++n) reservation.nodes.push_back(state_.node(n).id);
    reservation.from_us = from;
    reservation.to_us = from + 3'600 * kSecond;
    state_.apply(delta::PutReservation{std::move(reservation)});
  }

  static constexpr std::int32_t kMaintained = 200, kEachHour = 10;
  static constexpr TimeUs kNotice = 48 * 3'600 * kSecond;

  Snapshot snapshot_;
  ClusterState state_;
  Engine engine_;
  Request request_;
  PolicyState memory_;
  Plan plan_;
  sim::Turnover turnover_;
  Nodes nodes_;
  std::mt19937_64 random_;
  std::string failed_;     // node
  std::int64_t came_ = 0;  // nodes
};

Snapshot busy(std::int64_t nodes) { return busy_cluster(nodes, decide_jobs(nodes)); }

/// @param jobs  that end between two decisions, and that arrive
void decide_in_turn(benchmark::State& bench, Snapshot snapshot, bool changes_only, int jobs, Nodes nodes, const char* policy,
                    std::vector<std::pair<std::string, std::string>> params, std::int64_t decisions = stream_decisions()) {
  const std::int64_t before = resident_bytes();
  const auto n_nodes = static_cast<double>(snapshot.nodes.size());
  Stream s(std::move(snapshot), changes_only, jobs, nodes, policy, std::move(params));
  const std::int64_t loaded = resident_bytes();
  s.check();
  for (auto _ : bench) {
    double seconds = 0;
    for (std::int64_t i = 0; i < decisions; ++i) {
      s.step();
      seconds += s.total.back();
    }
    bench.SetIterationTime(seconds);
  }
  report_percentiles(bench, "total", s.total);
  report_percentiles(bench, "apply", s.apply);
  report_percentiles(bench, "decide", s.decide);
  report_percentiles(bench, "commit", s.carry_out);
  report_percentiles(bench, "compile", s.compile);
  report_percentiles(bench, "order", s.order);
  report_percentiles(bench, "place", s.place);
  report_percentiles(bench, "reasons", s.reasons);
  report_percentiles(bench, "validate", s.validate);
  // The snapshot, which is copied, counts in both.
  bench.counters["loaded_mb"] = static_cast<double>(loaded - before) * 1e-6;
  bench.counters["decided_mb"] = static_cast<double>(resident_bytes() - before) * 1e-6;
  bench.counters["decisions"] = static_cast<double>(decisions);
  bench.counters["nodes"] = n_nodes;
}

void stream(benchmark::State& bench, bool changes_only, int jobs, Nodes nodes) {
  decide_in_turn(bench, busy(stream_nodes()), changes_only, jobs, nodes, "srsf", {});
}

void reserving(benchmark::State& bench, bool changes_only, const char* discipline) {
  decide_in_turn(bench, busy(stream_nodes()), changes_only, 1, Nodes::kStay, "fifo", {{"discipline", discipline}});
}

/// With guarantees that are kept, and without.
void queues(benchmark::State& bench, bool changes_only, const char* quotas, const char* policy = "fifo") {
  decide_in_turn(bench, with_guarantees(busy(stream_nodes())), changes_only, 1, Nodes::kStay, policy,
                 {{"discipline", "greedy"}, {"quotas", quotas}});
}

/// Some 11,000 jobs wait for 16,384 GPUs under the leases of dally.
void leases(benchmark::State& bench, bool changes_only) {
  decide_in_turn(bench, busy_cluster(lease_nodes(), lease_jobs()), changes_only, 1, Nodes::kStay, "dally", {{"quotas", "limits"}},
                 lease_decisions());
}

/// As sizes double.
void one_job(benchmark::State& bench) { decide_in_turn(bench, busy(bench.range(0)), true, 1, Nodes::kStay, "srsf", {}); }

void once(benchmark::internal::Benchmark* bench) { bench->UseManualTime()->Unit(benchmark::kSecond)->Iterations(1)->Repetitions(1); }

BENCHMARK_CAPTURE(stream, plans, false, 4, Nodes::kStay)->Apply(once);
BENCHMARK_CAPTURE(stream, changes, true, 4, Nodes::kStay)->Apply(once);
BENCHMARK_CAPTURE(stream, one_job_plans, false, 1, Nodes::kStay)->Apply(once);
BENCHMARK_CAPTURE(stream, one_job_changes, true, 1, Nodes::kStay)->Apply(once);
BENCHMARK_CAPTURE(stream, failed_node_plans, false, 1, Nodes::kFail)->Apply(once);
BENCHMARK_CAPTURE(stream, failed_node_changes, true, 1, Nodes::kFail)->Apply(once);
BENCHMARK_CAPTURE(stream, new_node_changes, true, 1, Nodes::kCome)->Apply(once);
BENCHMARK_CAPTURE(stream, reservation_changes, true, 1, Nodes::kReserved)->Apply(once);
BENCHMARK_CAPTURE(stream, maintenance_plans, false, 1, Nodes::kMaintenance)->Apply(once);
BENCHMARK_CAPTURE(stream, maintenance_changes, true, 1, Nodes::kMaintenance)->Apply(once);
BENCHMARK_CAPTURE(stream, rolling_maintenance_changes, true, 1, Nodes::kRolling)->Apply(once);
BENCHMARK_CAPTURE(reserving, easy_plans, false, "easy")->Apply(once);
BENCHMARK_CAPTURE(reserving, easy_changes, true, "easy")->Apply(once);
BENCHMARK_CAPTURE(queues, limits_plans, false, "limits")->Apply(once);
BENCHMARK_CAPTURE(queues, guarantees_plans, false, "guarantees")->Apply(once);
BENCHMARK_CAPTURE(queues, limits_changes, true, "limits")->Apply(once);
BENCHMARK_CAPTURE(queues, guarantees_changes, true, "guarantees")->Apply(once);
BENCHMARK_CAPTURE(queues, srsf_limits_changes, true, "limits", "srsf")->Apply(once);
BENCHMARK_CAPTURE(queues, srsf_guarantees_changes, true, "guarantees", "srsf")->Apply(once);
BENCHMARK_CAPTURE(leases, plans, false)->Apply(once);
BENCHMARK_CAPTURE(leases, changes, true)->Apply(once);
BENCHMARK(one_job)->ArgName("nodes")->Apply(once)->Apply([](benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : decide_nodes()) b->Arg(nodes);
});

}  // namespace
}  // namespace berth::bench
