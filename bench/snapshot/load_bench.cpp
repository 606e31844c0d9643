#include <benchmark/benchmark.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "bench/support/memory.hpp"
#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"

/// From the text of a snapshot to a state that is ready for decisions: parse (with every check of values), validate and
/// compile, columns included.
namespace berth::bench {
namespace {

struct Text {
  std::int64_t nodes = 0;
  std::string json;
  std::int64_t resident = 0;  // bytes that one state of it keeps
  std::int64_t decided = 0;   // the same with an engine, its memory and a plan, once the engine keeps the queue
};

const Text& text_of(std::int64_t nodes) {
  static Text text;
  if (text.nodes == nodes) return text;
  text = {};
  Snapshot made = busy_cluster(nodes, snapshot_jobs(nodes));
  text.json = io::to_json(made);
  Snapshot parsed = io::parse_snapshot(text.json);
  require(parsed == made, "the snapshot read back is not the one written");
  made = {};
  parsed = {};
  const std::int64_t before = resident_bytes();
  ClusterState state = io::parse_state(text.json);
  require(state.impl().problem().n_nodes == nodes, "the state lacks nodes");
  text.resident = resident_bytes() - before;
  Engine engine;
  PolicyState memory;
  Request request;
  request.policy = "srsf";
  request.changes_only = true;
  Plan plan;
  // The queue is kept where a decision changes little: the first ones start many jobs. What they needed is given back later.
  for (int decision = 0; decision < 32; ++decision) {
    engine.decide(state, memory, request, plan);
    commit(state, plan);
    state.apply(delta::SetTime{state.now() + kSecond});
  }
  text.decided = resident_bytes() - before;
  text.nodes = nodes;
  return text;
}

void load(benchmark::State& bench) {
  const Text& text = text_of(bench.range(0));
  for (auto _ : bench) {
    Lap lap;
    std::optional<ClusterState> state(io::parse_state(text.json));
    benchmark::DoNotOptimize(state->impl().problem().n_jobs);
    bench.SetIterationTime(lap.seconds());
    state.reset();
  }
  bench.counters["jobs"] = static_cast<double>(snapshot_jobs(bench.range(0)));
  bench.counters["json_bytes"] = static_cast<double>(text.json.size());
  bench.counters["resident_bytes"] = static_cast<double>(text.resident);
  bench.counters["decided_bytes"] = static_cast<double>(text.decided);
}

BENCHMARK(load)->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : snapshot_nodes()) b->Arg(nodes);
});

}  // namespace
}  // namespace berth::bench
