#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
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
#include "host/sim/generate/turnover.hpp"

/// What a planner next to slurmctld does on the queue that BERTH_BENCH_SLURM names (files of squeue and sinfo, with a colon between;
/// without it a queue made up): a first decision, and later ones, before each of which four jobs end and four arrive.
namespace berth::bench {
namespace {

std::vector<io::SlurmInput> queue() {
  const char* files = std::getenv("BERTH_BENCH_SLURM");  // NOLINT(concurrency-mt-unsafe): no code calls setenv
  if (files == nullptr) {
    const std::int64_t nodes = slurm_nodes().front();
    return {{"squeue", squeue_json(nodes, slurm_jobs(nodes))}, {"sinfo", sinfo_json(nodes)}};
  }
  std::vector<io::SlurmInput> inputs;
  const std::string list = files;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    std::ifstream file(name, std::ios::binary);
    require(file.good(), "cannot read " + name);
    inputs.push_back({name, std::string(std::istreambuf_iterator<char>(file), {})});
    begin = end + 1;
  }
  return inputs;
}

void planner(benchmark::State& bench, const char* discipline) {
  const Snapshot snapshot = io::import_slurm(queue()).snapshot;
  ClusterState state(snapshot);
  sim::Turnover turnover(snapshot, kSeed);
  Engine engine;
  PolicyState memory;
  Plan plan;
  Request request;
  request.policy = "priority";
  request.params = {{"discipline", discipline}};
  request.changes_only = true;
  std::vector<double> later, later_commit;
  double first = 0;
  for (auto _ : bench) {
    Lap lap;
    engine.decide(state, memory, request, plan);
    first = lap.seconds();
    bench.SetIterationTime(first);
    require_valid(state, plan);
    commit(state, plan);
    const int decisions = first > 1 ? 3 : 200;
    for (int i = 0; i < decisions; ++i) {
      const std::vector<Delta> deltas = turnover.next(state);
      lap.seconds();
      state.apply(deltas);
      engine.decide(state, memory, request, plan);
      later.push_back(lap.seconds());
      commit(state, plan);
      later_commit.push_back(lap.seconds());
    }
    require_valid(state, engine.decide(state, request));
  }
  report_percentiles(bench, "later", later);
  report_percentiles(bench, "commit", later_commit);
  bench.counters["first_ms"] = 1e3 * first;
  bench.counters["decisions"] = static_cast<double>(later.size());
  bench.counters["jobs"] = static_cast<double>(snapshot.jobs.size());
  bench.counters["nodes"] = static_cast<double>(snapshot.nodes.size());
}

BENCHMARK_CAPTURE(planner, easy, "easy")->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(1);
BENCHMARK_CAPTURE(planner, conservative, "conservative")->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(1);

}  // namespace
}  // namespace berth::bench
