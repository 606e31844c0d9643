#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"

/// A whole decision over all jobs of a busy cluster: order, place, validate, reasons. The state is loaded, the engine
/// is warm and nothing has changed since its last decision; `stream_bench.cpp` has changes between decisions.
/// `settled:0` is the cluster as generated, where srsf changes much (thousands of starts and preemptions in one
/// decision); `settled:1` is the same after that plan was applied. `decide_dally` is by dally.
namespace berth::bench {
namespace {

struct Prepared {
  std::int64_t nodes = 0, settled = 0;
  std::string policy;
  std::unique_ptr<ClusterState> state;
  std::unique_ptr<Engine> engine;
  Request request;
  Plan plan;
};

Prepared& prepared(std::int64_t nodes, std::int64_t settled, const std::string& policy) {
  static Prepared p;
  if (p.nodes == nodes && p.settled == settled && p.policy == policy) return p;
  p = {};
  p.state = std::make_unique<ClusterState>(busy_cluster(nodes, decide_jobs(nodes)));
  p.engine = std::make_unique<Engine>();
  p.request.policy = policy;
  PolicyState memory;
  p.engine->decide(*p.state, memory, p.request, p.plan);
  if (settled != 0) {
    commit(*p.state, p.plan);
    p.engine->decide(*p.state, memory, p.request, p.plan);
  }
  require_valid(*p.state, p.plan);
  if (nodes <= kReferenceNodes) require_equal_to_reference(*p.state, p.request, p.plan);
  p.nodes = nodes;
  p.settled = settled;
  p.policy = policy;
  return p;
}

void add(const Timing& t, Timing& sum) {
  sum.compile_s += t.compile_s;
  sum.order_s += t.order_s;
  sum.place_s += t.place_s;
  sum.reasons_s += t.reasons_s;
  sum.validate_s += t.validate_s;
}

void report(benchmark::State& bench, const Plan& plan, const Timing& sum) {
  const auto mean = benchmark::Counter::kAvgIterations;
  bench.counters["compile_ms"] = {1e3 * sum.compile_s, mean};
  bench.counters["order_ms"] = {1e3 * sum.order_s, mean};
  bench.counters["place_ms"] = {1e3 * sum.place_s, mean};
  bench.counters["reasons_ms"] = {1e3 * sum.reasons_s, mean};
  bench.counters["validate_ms"] = {1e3 * sum.validate_s, mean};
  bench.counters["jobs"] = static_cast<double>(plan.decisions.size());
  bench.counters["starts"] = static_cast<double>(plan.totals.starts);
  bench.counters["preempts"] = static_cast<double>(plan.totals.preempts);
  bench.counters["waits"] = static_cast<double>(plan.totals.waits);
}

void decide_by(benchmark::State& bench, const char* policy) {
  Prepared& p = prepared(bench.range(0), bench.range(1), policy);
  Timing sum;
  for (auto _ : bench) {
    PolicyState memory;
    Lap lap;
    p.engine->decide(*p.state, memory, p.request, p.plan);
    bench.SetIterationTime(lap.seconds());
    add(p.plan.timing, sum);
  }
  report(bench, p.plan, sum);
}

void decide(benchmark::State& bench) { decide_by(bench, "srsf"); }
void decide_dally(benchmark::State& bench) { decide_by(bench, "dally"); }

/// The first decision of a process, on a state that was just loaded. Loading is not timed.
void first(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0), 1, "srsf");
  const Snapshot snapshot = p.state->snapshot();
  Timing sum;
  for (auto _ : bench) {
    const ClusterState state(snapshot);
    PolicyState memory;
    Plan plan;
    Lap lap;
    Engine().decide(state, memory, p.request, plan);
    bench.SetIterationTime(lap.seconds());
    add(plan.timing, sum);
  }
  report(bench, p.plan, sum);
}

BENCHMARK(decide)
    ->ArgNames({"nodes", "settled"})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Apply([](benchmark::internal::Benchmark* b) {
      for (const std::int64_t nodes : decide_nodes()) b->Args({nodes, 0})->Args({nodes, 1});
    });
// On 16,384 GPUs.
BENCHMARK(decide_dally)->ArgNames({"nodes", "settled"})->UseManualTime()->Unit(benchmark::kMillisecond)->Args({2048, 1});
BENCHMARK(first)->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : decide_nodes()) b->Arg(nodes);
});

}  // namespace
}  // namespace berth::bench
