#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "host/core/choice/share_search.hpp"
#include "host/sim/base/random.hpp"

/// Shares of the time by Gavel's max-min program (docs/shares.md) on one core.
namespace berth::bench {
namespace {

// A quarter as many GPUs of each type as jobs, as in Gavel's own scaling study. Each type is faster than the previous
// one for most jobs; each job compares itself with an equal part of the cluster.
core::ShareProblem share_instance(std::int32_t jobs, std::int32_t types, std::uint64_t seed) {
  sim::ItemDraws random(seed, sim::RandomStream::kJob, 1);
  constexpr std::int32_t kGpus[] = {1, 1, 1, 1, 1, 1, 2, 2, 4, 8};
  core::ShareProblem p;
  p.n_jobs = jobs;
  p.n_types = types;
  p.capacity.assign(static_cast<std::size_t>(types), jobs / 4);
  for (std::int32_t j = 0; j < jobs; ++j) {
    const double gpus = kGpus[random.below(10)], speed = static_cast<double>(100 + random.below(900)) / 1000;
    double equal = 0;
    for (std::int32_t t = 0; t < types; ++t) {
      p.gpus.push_back(gpus);
      p.speed.push_back(speed * static_cast<double>((t + 1) * (500 + random.below(1000))) / 1000);
      equal += p.speed.back() * p.capacity[static_cast<std::size_t>(t)] / jobs;
    }
    p.need.push_back(equal / gpus);
    p.waited.push_back(0);
  }
  return p;
}

void shares(benchmark::State& bench) {
  const core::ShareProblem p = share_instance(static_cast<std::int32_t>(bench.range(0)), static_cast<std::int32_t>(bench.range(1)), kSeed);
  core::ShareSearch search;
  core::Shares best;
  for (auto _ : bench) {
    best = search.solve(p, 0.001, 1'000);
    benchmark::DoNotOptimize(best.level);
  }
  require(best.bound <= best.level * 1.001, "the gap is not closed");
  bench.counters["gap_percent"] = 100 * (best.bound / best.level - 1);
  bench.counters["tries"] = best.rounds;
}
BENCHMARK(shares)->ArgNames({"jobs", "types"})->Unit(benchmark::kMillisecond)->Apply([](benchmark::internal::Benchmark* b) {
  for (const std::int64_t jobs : share_sizes()) {
    for (const std::int64_t types : {3, 8}) b->Args({jobs, types});
  }
});

}  // namespace
}  // namespace berth::bench
