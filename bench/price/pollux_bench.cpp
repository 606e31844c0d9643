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
#include "berth/kernel/objective.hpp"
#include "host/core/at.hpp"
#include "host/core/backend.hpp"
#include "host/policy/pollux_search.hpp"

/// Pollux's search beside prices, both judged by Pollux's fitness. Prices choose by values that add up to that fitness; where their choice
/// is laid on nodes, Pollux's own repair takes from it what its rules do not allow. One search each, as the large one takes long.
namespace berth::bench {
namespace {

using policy::PolluxProblem;
using policy::PolluxSearch;
using Rows = std::vector<std::uint8_t>;

/// One type, whole nodes. Each job has one GPU, may grow to any shape and loses nothing by a change: the search goes back to what jobs have
/// again and again, so that from nothing it leaves many jobs with nothing.
PolluxProblem pollux_problem(const PriceInstance& instance) {
  PolluxProblem p;
  p.n_jobs = static_cast<std::int32_t>(instance.option_begin.size()) - 1;
  p.n_types = 1;
  p.node_gpus.assign(static_cast<std::size_t>(instance.capacity[0] / kGpusPerNode), kGpusPerNode);
  p.n_nodes = static_cast<std::int32_t>(p.node_gpus.size());
  p.node_type.assign(p.node_gpus.size(), 0);
  p.most_gpus.assign(at(p.n_jobs), 64);
  p.most_nodes.assign(at(p.n_jobs), 16);
  p.kept.assign(at(p.n_jobs), 1);
  p.current.assign(p.cells(), 0);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) p.current[at(j) * at(p.n_nodes) + at(j % p.n_nodes)] = 1;
  p.shape_begin = instance.option_begin;
  p.shape_gpus = instance.gpus;
  for (const std::int64_t speed : instance.speed) {
    p.shape_speed.push_back(static_cast<double>(speed) / static_cast<double>(kernel::kSpeedUnit));
  }
  return p;
}

/// What a shape adds to minus the sum of 1 / (x + 0.001), in millionths: the same order as the fitness.
void set_values(const PolluxProblem& p, PolluxSearch& search, PriceInstance& instance) {
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    for (std::int32_t k = instance.option_begin[at(j)]; k < instance.option_begin[at(j + 1)]; ++k) {
      const double x = search.speed_up(p, j, 0, instance.gpus[at(k)]);
      instance.value[at(k)] = static_cast<std::int64_t>(std::ceil(1e6 * (1 / 0.001 - 1 / (x + 0.001))));
    }
  }
}

/// GPUs of each job on nodes, the largest job first: whole nodes, and the rest where the least is left that suffices, but never beside
/// another job on several nodes. What finds no place is left out, as it would be by any rule that keeps jobs so apart.
Rows laid_out(const PolluxProblem& p, const std::vector<std::int32_t>& gpus) {
  Rows rows(p.cells(), 0);
  std::vector<std::int32_t> free = p.node_gpus, order(at(p.n_jobs));
  std::vector<bool> wide(at(p.n_nodes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return gpus[at(a)] > gpus[at(b)]; });
  for (const std::int32_t job : order) {
    const bool several = gpus[at(job)] > kGpusPerNode;
    for (std::int32_t left = gpus[at(job)]; left > 0;) {
      const std::int32_t piece = std::min(left, kGpusPerNode);
      std::int32_t best = -1;
      for (std::int32_t n = 0; n < p.n_nodes; ++n) {
        if (free[at(n)] < piece || (several && wide[at(n)])) continue;
        if (best < 0 || free[at(n)] < free[at(best)]) best = n;
      }
      if (best < 0) break;
      rows[at(job) * at(p.n_nodes) + at(best)] = static_cast<std::uint8_t>(piece);
      free[at(best)] -= piece;
      wide[at(best)] = wide[at(best)] || several;
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
  std::vector<std::int32_t> option(at(p.n_jobs)), gpus(at(p.n_jobs));
  std::int64_t price = 0, used = 0, value = 0, bound = 0;
  std::int32_t evaluations = 0;
  const core::ChoiceTask task{instance.view(), {100, 200, false, nullptr}, nullptr};
  const kernel::ChoiceResult result{option.data(), &price, &used, &value, &bound, &evaluations};
  Lap lap;
  cpu->choose({&task, 1}, {&result, 1});
  const double price_s = lap.seconds();
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    gpus[at(j)] = option[at(j)] < 0 ? 0 : instance.gpus[at(instance.option_begin[at(j)] + option[at(j)])];
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
  // The power mean of the bound: no rows are fitter.
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
