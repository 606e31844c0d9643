#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/support/venus.hpp"
#include "host/io/traces/importers.hpp"
#include "host/results/sweep_store.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/measures/measures.hpp"
#include "host/sim/simulation.hpp"

/// Storing runs in SQLite, as `berth simulate --out` and `berth sweep` do: with a row for each of the 125,303 jobs of Helios' Venus, and
/// without. `items_per_second` counts rows of jobs, or runs.
namespace berth::bench {
namespace {

/// A run of fifo on 75 nodes of 8 GPUs.
results::Run venus_run(bool jobs) {
  const Snapshot cluster = io::uniform_cluster(75, 8);
  results::Run run;
  run.policy = "fifo";
  run.cluster = "75x8";
  run.trace = &venus();
  run.jobs = static_cast<std::int64_t>(venus().jobs.size());
  run.settings.request.policy = "fifo";
  sim::MeasuresRequest want;
  want.jobs = jobs;
  sim::FiguresOf figures;
  sim::MeasuresOf measures(sim::facts_of(venus()), sim::working_gpus(cluster), want);
  run.totals = sim::simulate(venus(), cluster, run.settings, [&](const sim::JobOutcome& job) {
    figures.add(job);
    measures.add(job);
  });
  run.figures = figures.finish(run.totals);
  run.measures = measures.finish(run.totals);
  return run;
}

/// A store in a new file, which ends with it.
struct NewStore {
  std::string path = (std::filesystem::temp_directory_path() / "berth_bench_store.sqlite").string();
  results::SweepStore store;

  NewStore() : store((std::filesystem::remove(path), path)) {}
  ~NewStore() { std::filesystem::remove(path); }
  NewStore(const NewStore&) = delete;
  NewStore& operator=(const NewStore&) = delete;
};

void store_runs(benchmark::State& state, bool jobs) {
  const results::Run run = venus_run(jobs);
  NewStore file;
  results::SweepEntry entry;
  std::int64_t runs = 0;
  for (auto _ : state) {
    entry.key = std::to_string(runs++);
    benchmark::DoNotOptimize(file.store.add(entry, run));
  }
  state.SetItemsProcessed(runs * (jobs ? static_cast<std::int64_t>(run.measures.jobs.size()) : 1));
}

void packed_runs(benchmark::State& state) {
  const results::Run run = venus_run(true);
  NewStore file;
  results::SweepEntry entry;
  std::int64_t runs = 0;
  for (auto _ : state) {
    entry.key = std::to_string(runs++);
    std::string packed = results::packed_run(entry, run);
    benchmark::DoNotOptimize(file.store.add_packed(entry.key, packed));
  }
  state.SetItemsProcessed(runs * static_cast<std::int64_t>(run.measures.jobs.size()));
}

BENCHMARK_CAPTURE(store_runs, jobs, true)->Name("store/jobs")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(store_runs, figures, false)->Name("store/figures")->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(packed_runs)->Name("store/jobs-of-another-process")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace berth::bench
