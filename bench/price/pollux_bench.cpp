#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/price/instances.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/price/objective.hpp"
#include "host/backend/backend.hpp"
#include "host/policy/search/pollux_search.hpp"

/// Pollux's search compared with prices, both by Pollux's fitness. Prices use values that add up to that fitness. Where
/// their choice is placed on nodes, Pollux's own repair removes what its rules do not allow. One search each, as the
/// large one takes long.
namespace berth::bench {
namespace {

using policy::PolluxProblem;
using policy::PolluxSearch;
using Rows = std::vector<std::uint8_t>;

/// One type, whole nodes. Each job has one GPU, may grow to any shape and loses nothing by a change. The search returns
/// to the current allocations often, so starting from nothing would leave many jobs without GPUs.
PolluxProblem pollux_problem(const PriceInstance& instance) {
  PolluxProblem p;
  p.n_jobs = static_cast<std::int32_t>(instance.option_begin.size()) - 1;
  p.n_types = 1;
  p.node_gpus.assign(static_cast<std::size_t>(instance.capacity[0] / kGpusPerNode), kGpusPerNode);
  p.n_nodes = static_cast<std::int32_t>(p.node_gpus.size());
  p.node_type.assign(p.node_gpus.size(), 0);
  p.most_gpus.assign(to_index(p.n_jobs), 64);
  p.most_nodes.assign(to_index(p.n_jobs), 16);
  p.kept.assign(to_index(p.n_jobs), 1);
  p.current.assign(p.cells(), 0);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) p.current[to_index(j) * to_index(p.n_nodes) + to_index(j % p.n_nodes)] = 1;
  p.shape_begin = instance.option_begin;
  p.shape_gpus = instance.gpus;
  for (const std::int64_t speed : instance.speed) {
    p.shape_speed.push_back(static_cast<double>(speed) / static_cast<double>(kernel::kSpeedUnit));
  }
  return p;
}

/// Values whose sum is minus the sum of 1 / (x + 0.001), in millionths: the same order as the fitness.
void set_values(const PolluxProblem& p, PolluxSearch& search, PriceInstance& instance) {
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    for (std::int32_t k = instance.option_begin[to_index(j)]; k < instance.option_begin[to_index(j + 1)]; ++k) {
      const double x = search.speed_up(p, j, 0, instance.gpus[to_index(k)]);
      instance.value[to_index(k)] = static_cast<std::int64_t>(std::ceil(1e6 * (1 / 0.001 - 1 / (x + 0.001))));
    }
  }
}

/// GPUs of each job on nodes, the largest job first: whole nodes, then the tightest sufficient rest, but never next to
/// another job on several nodes. Jobs without a place are left out, as under any rule with such separation.
Rows laid_out(const PolluxProblem& p, const std::vector<std::int32_t>& gpus) {
  Rows rows(p.cells(), 0);
  std::vector<std::int32_t> free = p.node_gpus, order(to_index(p.n_jobs));
  std::vector<bool> wide(to_index(p.n_nodes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return gpus[to_index(a)] > gpus[to_index(b)]; });
  for (const std::int32_t job : order) {
    const bool several = gpus[to_index(job)] > kGpusPerNode;
    for (std::int32_t left = gpus[to_index(job)]; left > 0;) {
      const std::int32_t piece = std::min(left, kGpusPerNode);
      std::int32_t best = -1;
      for (std::int32_t n = 0; n < p.n_nodes; ++n) {
        if (free[to_index(n)] < piece || (several && wide[to_index(n)])) continue;
        if (best < 0 || free[to_index(n)] < free[to_index(best)]) best = n;
      }
      if (best < 0) break;
      rows[to_index(job) * to_index(p.n_nodes) + to_index(best)] = static_cast<std::uint8_t>(piece);
      free[to_index(best)] -= piece;
      wide[to_index(best)] = wide[to_index(best)] || several;
      left -= piece;
    }
  }
  return rows;
}

void pollux(benchmark::State& bench) {
  PriceInstance instance = price_instance(bench.range(0), bench.range(1), 1, 0, kSeed);
  const PolluxProblem p = pollux_problem(instance);
  PolluxSearch search;
  bench.SetLabel(fmt::format("instance {:016x}", instance.hash()));
  set_values(p, search, instance);
  const auto cpu = core::make_cpu_backend(1);
  std::vector<std::int32_t> option(to_index(p.n_jobs)), gpus(to_index(p.n_jobs));
  std::int64_t price = 0, used = 0, value = 0, bound = 0;
  std::int32_t evaluations = 0;
  const core::PriceTask task{instance.view(), {100, 200, false, nullptr}, nullptr};
  const kernel::PriceResult result{option.data(), &price, &used, &value, &bound, &evaluations};
  Lap lap;
  cpu->price({&task, 1}, {&result, 1});
  const double price_s = lap.seconds();
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    gpus[to_index(j)] = option[to_index(j)] < 0 ? 0 : instance.gpus[to_index(instance.option_begin[to_index(j)] + option[to_index(j)])];
  }
  Rows by_price = laid_out(p, gpus);
  search.repair(p, by_price);
  const double price_fitness = search.fitness_of(p, by_price);

  double fitness = 0;
  for (auto _ : bench) {
    Lap next;
    const policy::ConstPolluxRows rows = search.solve(p, {}, kSeed);
    bench.SetIterationTime(next.seconds());
    Rows best(rows.begin(), rows.end()), again = best;
    search.repair(p, again);
    require(again == best, "the answer of the search is no allocation");
    fitness = search.fitness_of(p, best);
  }
  bench.counters["fitness"] = fitness;
  bench.counters["price_fitness"] = price_fitness;
  bench.counters["price_ms"] = 1e3 * price_s;
  // The power mean of the bound: no rows have a higher fitness.
  bench.counters["fitness_bound"] = 1 / (1 / 0.001 - static_cast<double>(bound) / 1e6 / p.n_jobs);
}
BENCHMARK(pollux)
    ->ArgNames({"gpus", "jobs"})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->Apply([](benchmark::internal::Benchmark* b) {
      for (const PriceSize& size : pollux_sizes()) b->Args({size.gpus, size.jobs});
    });

}  // namespace
}  // namespace berth::bench
