#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "host/io/importers.hpp"
#include "host/sim/figures.hpp"
#include "host/sim/measures.hpp"
#include "host/sim/overheads.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/traces.hpp"

/// A trace of months replayed by counts, under both packings: the 125,303 GPU jobs of Helios' Venus, on the 133 nodes it had, and on 75,
/// where jobs queue. Reading it is not part of the time, nor is what `berth simulate` learns of the jobs as it reads them; what `berth
/// simulate` always measures of jobs is. Where the trace is absent (BERTH_TRACES), jobs made up here stand in for it.
namespace berth::bench {
namespace {

/// Arrivals of a second apart, that no cluster here can keep up with for long.
Trace made_up(std::int64_t jobs) {
  Trace trace;
  trace.name = "made up";
  std::uint64_t draw = kSeed;
  for (std::int64_t j = 0; j < jobs; ++j) {
    draw = draw * 6364136223846793005U + 1442695040888963407U;
    TraceJob& job = trace.jobs.emplace_back();
    job.id = std::to_string(1'000'000 + j);
    job.submit_us = j * kSecond;
    job.gpus = 1 << (draw >> 33) % 6;
    job.run_us = static_cast<TimeUs>(1 + (draw >> 40) % 3'000) * kSecond;
  }
  return trace;
}

const Trace& trace() {
  static const Trace it = [] {
    const std::string file = test::trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
    Trace all = file.empty() ? made_up(simulated_jobs()) : io::import_files("helios-venus", {file}).trace;
    if (static_cast<std::int64_t>(all.jobs.size()) > simulated_jobs()) all.jobs.resize(static_cast<std::size_t>(simulated_jobs()));
    return all;
  }();
  return it;
}

sim::SimulationSettings settings_of(const char* policy, const char* packing) {
  sim::SimulationSettings settings;
  settings.request.policy = policy;
  settings.request.params = {{"packing", packing}};
  settings.overheads = sim::named_overheads("none");
  return settings;
}

/// The first jobs end when the simulation with plans says.
void check(const sim::SimulationSettings& settings, const Snapshot& cluster) {
  Trace few = trace();
  few.jobs.resize(std::min<std::size_t>(few.jobs.size(), 500));
  std::vector<TimeUs> got(few.jobs.size()), want(few.jobs.size());
  const auto into = [](std::vector<TimeUs>& ends) {
    return [&ends](const sim::JobOutcome& job) { ends[static_cast<std::size_t>(job.job)] = job.end_us; };
  };
  sim::simulate(few, cluster, settings, into(got));
  sim::JobsOf jobs(few);
  sim::simulate_by_engine({few.profiles, sim::facts_of(few), jobs}, cluster, settings, into(want));
  require(got == want, settings.request.policy + ": a job does not end when the simulation with plans says");
}

void by_counts(benchmark::State& bench, const char* policy, const char* packing) {
  const Snapshot cluster = io::uniform_cluster(bench.range(0), kGpusPerNode);
  const Trace& jobs = trace();
  const sim::TraceFacts facts = sim::facts_of(jobs);
  const sim::SimulationSettings settings = settings_of(policy, packing);
  check(settings, cluster);
  sim::SimulationFigures figures;
  std::int64_t decisions = 0;
  for (auto _ : bench) {
    Lap lap;
    sim::FiguresOf counted;
    sim::JobsOf source(jobs);
    sim::MeasuresOf measures(facts, bench.range(0) * kGpusPerNode, {});
    const sim::SimulationTotals totals = sim::simulate({jobs.profiles, facts, source}, cluster, settings, [&](const sim::JobOutcome& job) {
      counted.add(job);
      measures.add(job);
    });
    bench.SetIterationTime(lap.seconds());
    figures = counted.finish(totals);
    decisions = totals.decisions;
  }
  const auto n = static_cast<std::int64_t>(jobs.jobs.size());
  require(figures.completed + figures.declined == n, "a job has not ended");
  bench.SetItemsProcessed(bench.iterations() * n);  // jobs
  bench.SetLabel(jobs.name);
  bench.counters["jobs"] = static_cast<double>(n);
  bench.counters["decisions"] = static_cast<double>(decisions);
  bench.counters["preemptions"] = static_cast<double>(figures.preemptions);
}

[[maybe_unused]] const bool registered = [] {
  for (const char* packing : {"count", "topology"}) {
    for (const char* policy : {"fifo", "srtf", "srsf", "las"}) {
      auto* added = benchmark::RegisterBenchmark(fmt::format("simulate/{}/{}", policy, packing).c_str(), by_counts, policy, packing);
      added->ArgName("nodes")->UseManualTime()->Unit(benchmark::kMillisecond);
      for (const std::int64_t nodes : simulated_nodes()) added->Arg(nodes);
    }
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
