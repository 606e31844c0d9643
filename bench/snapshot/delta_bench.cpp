#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/snapshot/changes.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"

/// A batch of 100 changes on a loaded state: the time of `apply`, and the additional time of the first access to the
/// columns after it.
namespace berth::bench {
namespace {

struct Prepared {
  std::int64_t nodes = 0;
  std::unique_ptr<ClusterState> state;
  Changes changes;
};

/// Applying both batches restores the state, and a changed state decides like a freshly loaded one.
void check(ClusterState& state, const Changes& changes) {
  Engine engine;
  Request request;
  request.policy = "srsf";
  for (const std::vector<Delta>& batch : changes.batch) {
    state.apply(batch);
    ClusterState fresh(state.snapshot());
    Plan a = engine.decide(state, request);
    const Plan b = engine.decide(fresh, request);
    require(a.totals == b.totals && a.decisions.size() == b.decisions.size(), "a changed state decides otherwise than one loaded afresh");
  }
}

Prepared& prepared(std::int64_t nodes) {
  static Prepared p;
  if (p.nodes == nodes) return p;
  p = {};
  const Snapshot snapshot = busy_cluster(nodes, snapshot_jobs(nodes));
  p.changes = make_changes(snapshot, kChanges);
  p.state = std::make_unique<ClusterState>(snapshot);
  p.state->apply(p.changes.first);
  check(*p.state, p.changes);
  p.nodes = nodes;
  return p;
}

void changes(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0));
  require(p.changes.batch[0].size() == kChanges && p.changes.batch[1].size() == kChanges, "a batch has another size");
  std::vector<double> apply;
  double columns = 0;
  std::size_t turn = 0;
  // Two batches per iteration, because they are not equally long.
  for (auto _ : bench) {
    double both = 0;
    for (const std::vector<Delta>& batch : p.changes.batch) {
      Lap lap;
      p.state->apply(batch);
      apply.push_back(lap.seconds());
      both += apply.back();
      benchmark::DoNotOptimize(p.state->impl().problem().n_jobs);
      columns += lap.seconds();
      ++turn;
    }
    bench.SetIterationTime(both / 2);
  }
  report_percentiles(bench, "apply", apply);
  bench.counters["columns_ms"] = 1e3 * columns / static_cast<double>(turn);
  bench.counters["changes"] = kChanges;
  bench.counters["jobs"] = static_cast<double>(snapshot_jobs(bench.range(0)));
}

BENCHMARK(changes)->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  // Enough jobs to draw the changes from.
  for (const std::int64_t nodes : snapshot_nodes()) b->Arg(smoke() ? 4 * nodes : nodes);
  b->MinTime(smoke() ? 0.001 : 0.2);
});

}  // namespace
}  // namespace berth::bench
