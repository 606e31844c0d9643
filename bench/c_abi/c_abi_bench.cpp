#include <benchmark/benchmark.h>
#include <berth.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/c_abi/delta_arrays.hpp"
#include "bench/defaults.hpp"
#include "bench/snapshot/changes.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/io.hpp"

/// Cost of the C ABI: a batch of changes by arrays, and a decision read back by columns, compared with the same from
/// C++.
namespace berth::bench {
namespace {

void ok(berth_status status) { require(status == BERTH_OK, std::string("the C ABI: ") + berth_last_error()); }

berth_state* load(const Snapshot& snapshot) {
  const std::string json = io::to_json(snapshot);
  berth_state* state = nullptr;
  ok(berth_state_from_json(json.data(), json.size(), nullptr, &state, nullptr));
  return state;
}

void c_changes(benchmark::State& bench) {
  const std::int64_t nodes = bench.range(0);
  const Snapshot snapshot = busy_cluster(nodes, snapshot_jobs(nodes));
  const Changes changes = make_changes(snapshot, kChanges);
  berth_state* state = load(snapshot);
  ok(berth_state_apply(state, DeltaArrays(changes.first).view(), nullptr, nullptr));
  DeltaArrays batches[] = {DeltaArrays(changes.batch[0]), DeltaArrays(changes.batch[1])};
  std::vector<double> apply;
  for (auto _ : bench) {
    double both = 0;
    for (DeltaArrays& batch : batches) {
      const berth_deltas* deltas = batch.view();
      Lap lap;
      ok(berth_state_apply(state, deltas, nullptr, nullptr));
      apply.push_back(lap.seconds());
      both += apply.back();
    }
    bench.SetIterationTime(both / 2);
  }
  report_percentiles(bench, "apply", apply);
  bench.counters["changes"] = static_cast<double>(batches[0].size() + batches[1].size()) / 2;
  ok(berth_state_destroy(&state, nullptr));
}
BENCHMARK(c_changes)->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : snapshot_nodes()) b->Arg(smoke() ? 4 * nodes : nodes);
  b->MinTime(smoke() ? 0.001 : 0.2);
});

/// Reads all columns of a plan that a scheduler needs to act.
struct Columns {
  explicit Columns(std::size_t n)
      : job(n), action(n), shape(n), reason(n), node(8 * n), begin(n), end(n), gpus(8 * n), rate(n), start(n), finish(n), ids(n + 1) {
    decisions.struct_size = sizeof decisions;
    decisions.job = job.data();
    decisions.action = action.data();
    decisions.shape = shape.data();
    decisions.reason = reason.data();
    decisions.entry_begin = begin.data();
    decisions.entry_end = end.data();
    decisions.rate = rate.data();
    decisions.start_us = start.data();
    decisions.finish_us = finish.data();
    entries.struct_size = sizeof entries;
    entries.node = node.data();
    entries.gpus = gpus.data();
  }
  std::vector<std::int32_t> job, action, shape, reason, node;
  std::vector<std::uint64_t> begin, end, gpus;
  std::vector<std::int64_t> rate, start, finish;
  std::vector<std::uint64_t> ids;
  berth_decisions decisions{};
  berth_plan_entries entries{};
};

/// The same columns from C++.
void read(const Plan& plan, Columns& to) {
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const Decision& d = plan.decisions[i];
    to.job[i] = d.job;
    to.action[i] = static_cast<std::int32_t>(d.action);
    to.shape[i] = d.shape;
    to.reason[i] = static_cast<std::int32_t>(d.reason.code);
    to.begin[i] = static_cast<std::uint64_t>(d.entry_begin);
    to.end[i] = static_cast<std::uint64_t>(d.entry_end);
    to.rate[i] = d.rate;
    to.start[i] = d.start_us;
    to.finish[i] = d.finish_us;
  }
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    to.node[i] = plan.entries[i].node;
    to.gpus[i] = plan.entries[i].gpus;
  }
}

double median(std::vector<double>& all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

// Alternating, so that a slow moment of the machine affects both.
void decide_and_read(benchmark::State& bench) {
  const std::int64_t jobs = bench.range(0);
  const Snapshot snapshot = busy_cluster(jobs / 4, jobs);
  // Both from the same document: a state built from a snapshot has another memory layout, and a decision on it is a
  // tenth faster.
  const ClusterState state = io::parse_state(io::to_json(snapshot));
  Engine engine;
  PolicyState memory;
  Request request;
  request.policy = "srsf";
  Plan plan;
  berth_state* c_state = load(snapshot);
  berth_engine* c_engine = nullptr;
  berth_policy_state* c_memory = nullptr;
  berth_plan* c_plan = nullptr;
  ok(berth_engine_create(&c_engine, nullptr));
  ok(berth_policy_state_create(&c_memory, nullptr));
  ok(berth_plan_create(&c_plan, nullptr));
  berth_request c_request{};
  c_request.struct_size = sizeof c_request;
  c_request.policy = "srsf";
  Columns mine(static_cast<std::size_t>(jobs)), yours(static_cast<std::size_t>(jobs));
  std::vector<double> cpp, c, with_ids;
  for (auto _ : bench) {
    Lap lap;
    engine.decide(state, memory, request, plan);
    read(plan, mine);
    cpp.push_back(lap.seconds());
    ok(berth_decide(c_engine, c_state, c_memory, &c_request, c_plan, nullptr));
    berth_plan_info info{};
    info.struct_size = sizeof info;
    ok(berth_plan_get_info(c_plan, &info, nullptr));
    ok(berth_plan_decisions(c_plan, 0, info.n_decisions, &yours.decisions, nullptr));
    ok(berth_plan_get_entries(c_plan, 0, info.n_entries, &yours.entries, nullptr));
    c.push_back(lap.seconds());
    char* ids = nullptr;
    ok(berth_plan_texts(c_plan, c_state, BERTH_TEXT_JOB, 0, info.n_decisions, &ids, yours.ids.data(), nullptr));
    berth_free(ids);
    with_ids.push_back(c.back() + lap.seconds());
    bench.SetIterationTime(c.back());
  }
  require(mine.action == yours.action && mine.node == yours.node && mine.gpus == yours.gpus && mine.finish == yours.finish,
          "the C ABI reports another plan");
  const double base = median(cpp);
  bench.counters["cpp_ms"] = 1e3 * base;
  bench.counters["c_ms"] = 1e3 * median(c);
  bench.counters["overhead_percent"] = 100 * (median(c) / base - 1);
  bench.counters["overhead_with_ids_percent"] = 100 * (median(with_ids) / base - 1);
  ok(berth_plan_destroy(&c_plan, nullptr));
  ok(berth_policy_state_destroy(&c_memory, nullptr));
  ok(berth_engine_destroy(&c_engine, nullptr));
  ok(berth_state_destroy(&c_state, nullptr));
}
BENCHMARK(decide_and_read)
    ->ArgNames({"jobs"})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Apply([](benchmark::internal::Benchmark* b) {
      for (const std::int64_t jobs : c_abi_jobs()) b->Arg(jobs);
      b->MinTime(smoke() ? 0.001 : 1);
    });

}  // namespace
}  // namespace berth::bench
