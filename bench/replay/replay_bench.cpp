#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"
#include "bench/support/latency.hpp"
#include "bench/support/venus.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/batch/replay_batch.hpp"
#include "host/sim/counts/count_simulation.hpp"

/// Months of a trace replayed many times at once, under queue policies and estimates that differ. Counter
/// `jobs_per_s`: of all replays together. Counter `simulate`: the time of `simulate_counts` for the first of them, over
/// that of one replay, both by one thread.
namespace berth::bench {
namespace {

struct Case {
  const char* policy;
  const char* discipline;
  std::int64_t nodes;
};

/// Replay i has other estimates or thresholds than the others, where the policy reads them, and up to seven nodes more.
std::vector<sim::ReplaySpec> specs_of(const Case& one, std::int64_t n, const std::vector<Snapshot>& clusters) {
  std::vector<sim::ReplaySpec> specs;
  for (std::int64_t i = 0; i < n; ++i) {
    sim::ReplaySpec& spec = specs.emplace_back();
    spec.policy = one.policy;
    spec.params = {{"packing", "count"}, {"discipline", one.discipline}};
    if (spec.policy == "las") spec.params.emplace_back("thresholds_gpu_s", fmt::format("{},18000", 3250 + 10 * i));
    spec.cluster = &clusters[static_cast<std::size_t>(i) % clusters.size()];
  }
  return specs;
}

/// Seconds of one run by itself.
double simulated_s(const sim::ReplaySpec& spec, std::int64_t& decisions) {
  sim::SimulationSettings settings;
  settings.request.policy = spec.policy;
  settings.request.params = spec.params;
  settings.overheads = sim::named_overheads("none");
  sim::JobsOf jobs(venus());
  const sim::TraceFacts facts = sim::facts_of(venus());
  Lap lap;
  const auto totals = sim::simulate_counts({venus().profiles, facts, jobs}, *spec.cluster, settings, [](const sim::JobOutcome&) {});
  require(totals.has_value(), "not simulated by counts");
  decisions = totals->decisions;
  return lap.seconds();
}

void replays(benchmark::State& bench, core::PlacementBackend& backend, const Case& one) {
  std::vector<Snapshot> clusters;
  for (std::int64_t more = 0; more < 8; ++more) clusters.push_back(io::uniform_cluster(one.nodes + more, kGpusPerNode));
  const std::vector<sim::ReplaySpec> specs = specs_of(one, bench.range(0), clusters);
  std::vector<sim::ReplayOutcome> outcomes;
  double seconds = 0, alone = 0;
  for (auto _ : bench) {
    std::int64_t decisions = 0;
    alone += simulated_s(specs.front(), decisions);
    Lap lap;
    outcomes = sim::replay_batch(venus(), sim::named_overheads("none"), specs, backend, false);
    const double now = lap.seconds();
    bench.SetIterationTime(now);
    seconds += now;
    require(outcomes.front().why_not.empty() && outcomes.front().totals.decisions == decisions, "a replay is not the simulation");
  }
  const auto runs = static_cast<double>(bench.iterations()) * static_cast<double>(specs.size());
  bench.counters["jobs_per_s"] = runs * static_cast<double>(venus().jobs.size()) / seconds;
  bench.counters["simulate"] = alone / static_cast<double>(bench.iterations()) / (seconds / runs);
  bench.counters["preemptions"] = static_cast<double>(outcomes.front().preemptions);
  bench.SetLabel(venus().name);
}

[[maybe_unused]] const bool registered = [] {
  static constexpr Case kCases[] = {{"fifo", "strict", 133}, {"fifo", "greedy", 75}, {"sjf", "greedy", 75},
                                    {"srtf", "greedy", 75},  {"las", "greedy", 75},  {"las", "greedy", 133}};
  for (const Case& one : kCases) {
    register_batches(fmt::format("replay/{}/{}/{}", one.policy, one.discipline, one.nodes), "replays", replay_counts(),
                     [one](benchmark::State& bench, core::PlacementBackend& backend) { replays(bench, backend, one); });
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
