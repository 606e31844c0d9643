#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/slurm/squeue.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/io/slurm/slurm.hpp"

/// From the output of Slurm to a plan: import, state, decision with its validation.
namespace berth::bench {
namespace {

const std::vector<io::SlurmInput>& inputs_of(std::int64_t nodes) {
  static std::vector<io::SlurmInput> inputs;
  static std::int64_t of_nodes = 0;
  if (of_nodes == nodes) return inputs;
  of_nodes = nodes;
  inputs = {{"squeue", squeue_json(nodes, slurm_jobs(nodes))}, {"sinfo", sinfo_json(nodes)}, {"topology", show_topology(nodes)}};
  return inputs;
}

void import_and_plan(benchmark::State& bench, const char* policy) {
  const std::int64_t nodes = bench.range(0);
  const std::vector<io::SlurmInput>& inputs = inputs_of(nodes);
  Request request;
  request.policy = policy;
  double import_s = 0, state_s = 0, decide_s = 0;
  std::int64_t bytes = 0;
  for (const io::SlurmInput& input : inputs) bytes += static_cast<std::int64_t>(input.text.size());
  for (auto _ : bench) {
    Lap lap;
    io::SlurmImport imported = io::import_slurm(inputs);
    import_s = lap.seconds();
    const ClusterState state(std::move(imported.snapshot));
    state_s = lap.seconds();
    Engine engine;
    PolicyState memory;
    Plan plan;
    engine.decide(state, memory, request, plan);
    decide_s = lap.seconds();
    bench.SetIterationTime(import_s + state_s + decide_s);
    require(state.job_count() == slurm_jobs(nodes), "the import lost jobs: " + (imported.notes.empty() ? "" : imported.notes.front()));
    require(plan.totals.starts > 0, "none starts");
  }
  bench.counters["import_ms"] = import_s * 1e3;
  bench.counters["state_ms"] = state_s * 1e3;
  bench.counters["decide_ms"] = decide_s * 1e3;
  bench.counters["jobs"] = static_cast<double>(slurm_jobs(nodes));
  bench.counters["json_bytes"] = static_cast<double>(bytes);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t nodes : slurm_nodes()) b->Arg(nodes);
}

BENCHMARK_CAPTURE(import_and_plan, fifo, "fifo")->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply(sizes);
BENCHMARK_CAPTURE(import_and_plan, priority, "priority")->ArgNames({"nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply(sizes);

}  // namespace
}  // namespace berth::bench
