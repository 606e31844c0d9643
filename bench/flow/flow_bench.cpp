#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/flow/instance.hpp"
#include "bench/flow/live.hpp"
#include "bench/flow/resolver.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "host/backend/backend.hpp"

/// Places one-GPU jobs with a cost for each (GPU type, rack), compared with the optimum of the same instance.
///
/// Compared are LEMON's network simplex, from costs in arrays to the optimal flow, and `by_score` and `by_order` of
/// instance.hpp. The simplex time includes building the network, but not the choice of a GPU within a place. The other
/// two go from a compiled state to the place of every job.
///
/// The simplex and `by_score` know the same costs. `by_order` is what a decision does when racks cost nothing; its
/// distance shows the price of ignoring them. Counters: `above_optimum_percent` in the flow's own cost, `simplex_ms`,
/// and `times_faster` than the simplex. One thread each.
namespace berth::bench {
namespace {

struct Prepared {
  std::int64_t jobs = 0;
  std::unique_ptr<Instance> instance;
  FlowOptimum optimum;
};

Prepared& prepared(std::int64_t jobs) {
  static Prepared p;
  if (p.jobs == jobs) return p;
  p = {};
  p.instance = std::make_unique<Instance>(jobs);
  p.optimum = solve_flow(p.instance->flow());
  require(p.optimum.proven, "the flow is not proven to be the optimum");
  p.jobs = jobs;
  return p;
}

void network_simplex(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0));
  double build = 0;
  for (auto _ : bench) {
    const FlowOptimum again = solve_flow(p.instance->flow());
    require(again.cost == p.optimum.cost, "the optimum changed");
    bench.SetIterationTime(again.build_s + again.solve_s);
    build += again.build_s;
  }
  bench.counters["build_ms"] = {1e3 * build, benchmark::Counter::kAvgIterations};
  bench.counters["places"] = static_cast<double>(p.instance->flow().place_type.size());
}

/// The simplex is timed again for each, so that both have the same noise.
void against_simplex(benchmark::State& bench, const Prepared& p, const std::function<std::vector<int>()>& place) {
  const std::int64_t cost = p.instance->cost(place());
  require(cost >= p.optimum.cost, "cheaper than the optimum");
  double ours = 0;
  double simplex = 0;
  for (auto _ : bench) {
    Lap lap;
    benchmark::DoNotOptimize(place());
    const double s = lap.seconds();
    bench.SetIterationTime(s);
    ours += s;
    const FlowOptimum again = solve_flow(p.instance->flow());
    simplex += again.build_s + again.solve_s;
  }
  bench.counters["above_optimum_percent"] = 100.0 * static_cast<double>(cost - p.optimum.cost) / static_cast<double>(p.optimum.cost);
  bench.counters["simplex_ms"] = {1e3 * simplex, benchmark::Counter::kAvgIterations};
  bench.counters["times_faster"] = simplex / ours;
}

void by_score(benchmark::State& bench) {
  const Prepared& p = prepared(bench.range(0));
  const auto backend = core::make_cpu_backend(1);
  int rounds = 0;
  int reference_rounds = 0;
  if (bench.range(0) <= 1'250) {
    const auto reference = core::make_reference_backend();
    require(p.instance->by_score(*backend, rounds) == p.instance->by_score(*reference, reference_rounds), "the reference scores otherwise");
  }
  against_simplex(bench, p, [&] { return p.instance->by_score(*backend, rounds); });
  bench.counters["rounds"] = rounds;
}

void by_order(benchmark::State& bench) {
  const Prepared& p = prepared(bench.range(0));
  const auto backend = core::make_cpu_backend(1);
  if (bench.range(0) <= 1'250) {
    require(p.instance->by_order(*backend) == p.instance->by_order(*core::make_reference_backend()), "the reference places otherwise");
  }
  against_simplex(bench, p, [&] { return p.instance->by_order(*backend); });
}

/// One job ends and one arrives. Timed is the flow's way from the old optimum to the new one, compared with solving it
/// again from nothing.
void one_change_flow(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0));
  Live live(*p.instance);
  FlowResolver resolver(p.instance->flow());
  require(resolver.cost() == p.optimum.cost && resolver.proven(), "the resolver starts elsewhere");
  std::vector<double> ours;
  double fresh = 0;
  for (auto _ : bench) {
    const Live::Step step = live.step();
    Lap lap;
    resolver.replace(step.job, live.run_cost(step.job));
    ours.push_back(lap.seconds());
    bench.SetIterationTime(ours.back());
    const FlowOptimum again = solve_flow(live.flow());
    fresh += again.build_s + again.solve_s;
    require(again.proven && resolver.proven() && again.cost == resolver.cost(), "not the optimum after a change");
  }
  report_percentiles(bench, "resolve", ours);
  bench.counters["fresh_ms"] = {1e3 * fresh, benchmark::Counter::kAvgIterations};
  bench.counters["times_faster"] = fresh / std::accumulate(ours.begin(), ours.end(), 0.0);
}

/// The same changes, decided by the engine on a live state, by a plan of changes. Running jobs stay where they are, and
/// racks cost nothing. The optimum may move every job.
void one_change_decide(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0));
  Live live(*p.instance);
  live.check();
  std::vector<double> ours, applied;
  for (auto _ : bench) {
    const Live::Step step = live.step();
    bench.SetIterationTime(step.seconds);
    ours.push_back(step.seconds);
    applied.push_back(step.commit_s);
  }
  const FlowOptimum optimum = solve_flow(live.flow());
  const std::int64_t cost = live.cost();
  require(optimum.proven && cost >= optimum.cost, "cheaper than the optimum");
  report_percentiles(bench, "decide", ours);
  report_percentiles(bench, "commit", applied);
  bench.counters["above_optimum_percent"] = 100.0 * static_cast<double>(cost - optimum.cost) / static_cast<double>(optimum.cost);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"jobs"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t jobs : flow_jobs()) b->Arg(jobs);
}

void changes(benchmark::internal::Benchmark* b) {
  sizes(b);
  b->Iterations(flow_changes());
}

BENCHMARK(network_simplex)->Apply(sizes);
BENCHMARK(by_score)->Apply(sizes);
BENCHMARK(by_order)->Apply(sizes);
BENCHMARK(one_change_flow)->Apply(changes);
BENCHMARK(one_change_decide)->Apply(changes);

}  // namespace
}  // namespace berth::bench
