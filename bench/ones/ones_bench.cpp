#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "berth/engine.hpp"
#include "host/sim/generate/generate.hpp"

/// Generations of ONES, K = 16 as published, on one core, on the cluster of
///
///     berth generate --nodes GPUS/4 --gpus-per-node 4 --workload helios --elastic --jobs JOBS --seed 1
///
/// with an epoch each minute. The time is that of a decision divided by its `generations`. It includes a part of the
/// decision's other costs: preparing the jobs, and the bound.
namespace berth::bench {
namespace {

void ones(benchmark::State& bench) {
  sim::GenerateOptions options;
  options.nodes = static_cast<std::int32_t>(bench.range(0) / 4);
  options.gpus_per_node = 4;
  options.jobs = static_cast<std::int32_t>(bench.range(1));
  options.workload = sim::Workload::kHelios;
  options.elastic = true;
  options.seed = kSeed;
  const ClusterState state(sim::generate(options));
  Request request;
  request.policy = "ones";
  request.params = {{"epoch_s", "60"}, {"generations", std::to_string(ones_generations())}};
  Engine engine;
  Plan plan;
  for (auto _ : bench) {
    PolicyState nothing_kept;
    engine.decide(state, nothing_kept, request, plan);
    bench.SetIterationTime(plan.timing.order_s / static_cast<double>(plan.iterations));
  }
  require_valid(state, plan);
  if (bench.range(0) <= 64) require_equal_to_reference(state, request, plan);
  bench.counters["generations"] = static_cast<double>(plan.iterations);
  bench.counters["gpus_used"] = static_cast<double>(plan.totals.gpus_used);
}
BENCHMARK(ones)->ArgNames({"gpus", "jobs"})->UseManualTime()->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  for (const PriceSize& size : ones_sizes()) b->Args({size.gpus, size.jobs});
});

}  // namespace
}  // namespace berth::bench
