#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"
#include "bench/support/latency.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/delay/delay_search.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"
#include "host/sim/simulation.hpp"

/// Jobs of Dally's evaluation replayed with many timers at once, on 4 racks of 4 nodes with 8 GPUs and a slow network between racks.
/// Counter `jobs_per_s`: of all replays together. Counter `replay_ms`: of one replay. Counter `simulate`: the time of `simulate` for the
/// first timers by one thread, over that of a replay.
namespace berth::bench {
namespace {

constexpr std::int64_t kPpm = 1'000'000;

Snapshot racks() {
  Snapshot cluster = io::uniform_cluster(16, kGpusPerNode);
  cluster.gpu_types.front().nvlink_bytes_per_s = 250'000'000'000;
  for (int rack = 0; rack < 4; ++rack) {
    Domain& domain = cluster.domains.emplace_back();
    domain.id = fmt::format("r{}", rack);
    domain.level = "rack";
    domain.uplink_bytes_per_s = 12'000'000'000;
    domain.latency_us = 50;
  }
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    cluster.nodes[n].nics = 1;
    cluster.nodes[n].nic_bytes_per_s = 25'000'000'000;
    cluster.nodes[n].domain[0] = fmt::format("r{}", n / 4);
  }
  return cluster;
}

Trace jobs_of(std::int64_t n, std::int32_t load_ppm) {
  sim::SyntheticOptions options;
  options.workload = sim::Workload::kDally;
  options.jobs = n;
  options.gpus = 16 * kGpusPerNode;
  options.load_ppm = load_ppm;
  sim::SyntheticJobs source(options);
  Trace trace;
  trace.name = "dally";
  trace.profiles = source.profiles();
  while (const TraceJob* job = source.next()) {
    trace.jobs.push_back(*job);
    source.release(*job);
  }
  return trace;
}

std::vector<sim::DelayTimes> timers_of(std::int64_t n, const sim::DelayProblem& problem, TimeUs lease) {
  std::vector<sim::DelayTimes> all;
  for (std::int64_t i = 0; i < n; ++i) {
    sim::ItemDraws draws(1, sim::RandomStream::kTimers, static_cast<std::uint64_t>(i));
    sim::DelayTimes& times = all.emplace_back();
    for (std::int32_t t = 0; t < problem.classes() * problem.rungs(); ++t) {
      const std::int64_t leases = sim::timer_grid()[static_cast<std::size_t>(draws.below(std::ssize(sim::timer_grid())))];
      times.push_back(leases == kNever ? kNever : leases / kPpm * lease);
    }
  }
  return all;
}

double simulated_s(const Trace& trace, const Snapshot& cluster, const std::string& timers, __int128& jct) {
  sim::SimulationSettings settings;
  settings.request.policy = "dally-manual";
  settings.request.params = {{"timers", timers}, {"lease_end", "keep"}};  // as replays have it
  settings.overheads = sim::named_overheads("default");
  jct = 0;
  Lap lap;
  sim::simulate(trace, cluster, settings, [&](const sim::JobOutcome& one) { jct += one.jct_us(); });
  return lap.seconds();
}

void delay_replays(benchmark::State& bench, core::PlacementBackend& backend, std::int64_t jobs, std::int32_t load_ppm) {
  const Snapshot cluster = racks();
  const Trace trace = jobs_of(full_or_smoke(jobs, 100), load_ppm);
  const std::vector<std::int64_t> classes = sim::demand_classes(trace);
  const sim::DelayProblem problem(trace, cluster, sim::named_overheads("default"), classes);
  const sim::DelayLeases leases;
  const std::vector<sim::DelayTimes> times = timers_of(bench.range(0), problem, leases.lease_us);
  __int128 jct = 0;
  const double alone = simulated_s(trace, cluster, sim::timers_text(classes, times.front(), leases.lease_us), jct);
  double seconds = 0;
  std::int64_t decisions = 0;
  for (auto _ : bench) {
    Lap lap;
    const std::vector<sim::DelayOutcome> outcomes = sim::delay_replays(problem, leases, times, backend);
    const double now = lap.seconds();
    bench.SetIterationTime(now);
    seconds += now;
    require(outcomes.front().totals.jct_us == jct, "a replay is not the simulation");
    for (const sim::DelayOutcome& one : outcomes) decisions += one.totals.decisions;
  }
  const auto runs = static_cast<double>(bench.iterations()) * static_cast<double>(times.size());
  bench.counters["jobs_per_s"] = runs * static_cast<double>(trace.jobs.size()) / seconds;
  bench.counters["replay_ms"] = 1e3 * seconds / runs;
  bench.counters["simulate"] = alone / (seconds / runs);
  bench.counters["decisions"] = static_cast<double>(decisions) / runs;
}

[[maybe_unused]] const bool registered = [] {
  // The last has as many jobs as Dally's traces, at their load.
  for (const auto& [jobs, load_ppm] : {std::pair{2'000, 500'000}, {2'000, 800'000}, {500, 390'000}}) {
    register_batches(
        fmt::format("delay_replay/jobs:{}/load:{}", jobs, load_ppm / 10'000), "replays", delay_replay_counts(),
        [n = jobs, load = load_ppm](benchmark::State& bench, core::PlacementBackend& backend) { delay_replays(bench, backend, n, load); });
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
