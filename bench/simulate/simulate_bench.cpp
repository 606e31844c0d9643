#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "bench/support/venus.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/measures/measures.hpp"
#include "host/sim/replay/replay_plans.hpp"
#include "host/sim/simulation.hpp"

/// A trace of months replayed, by counts where the policy allows it, under both packings: the 125,303 GPU jobs of Helios' Venus, on its 133
/// nodes, and on 75, where jobs queue. The time includes the job measures of `berth simulate`, but not reading the trace. Where the trace
/// is absent (BERTH_TRACES), synthetic jobs replace it.
///
/// Venus had 27 virtual clusters (Hu et al., SC'21). The sample names neither them nor users: in `27vc` nodes and jobs
/// are divided among 27 by a rule of our own.
namespace berth::bench {
namespace {

constexpr std::int32_t kVirtualClusters = 27;

/// A trace on a cluster.
struct Scene {
  Trace trace;
  Snapshot cluster;
};

/// Every virtual cluster gets a node. Each further node goes to the v with the lowest (nodes + 1) x (v + 1): of 75 the
/// largest has 21, the next 10, 7 and 5, and 17 have one.
/// A job belongs to the virtual cluster that owns the node drawn by the hash of its id. Where that has too few GPUs, it
/// is the next node's with enough, so larger ones get more. Jobs too large for all are rejected.
Scene dealt_out(const Trace& trace, std::int64_t nodes) {
  Scene scene{trace, io::uniform_cluster(nodes, kGpusPerNode)};
  std::vector<std::int32_t> owned(kVirtualClusters), owner;
  for (Node& node : scene.cluster.nodes) {
    std::int32_t v = 0;
    if (owner.size() < kVirtualClusters) {
      v = static_cast<std::int32_t>(owner.size());
    } else {
      for (std::int32_t other = 1; other < kVirtualClusters; ++other) {
        if ((owned[to_index(other)] + 1) * (other + 1) < (owned[to_index(v)] + 1) * (v + 1)) v = other;
      }
    }
    ++owned[to_index(v)];
    owner.push_back(v);
    node.virtual_clusters = {fmt::format("vc{:02}", v)};
  }
  for (TraceJob& job : scene.trace.jobs) {
    core::TableHash hash;
    hash.add(std::string_view(job.id));
    std::size_t node = hash.value() % owner.size();
    for (std::size_t tried = 0; tried < owner.size() && owned[to_index(owner[node])] * kGpusPerNode < job.gpus; ++tried) {
      node = (node + 1) % owner.size();
    }
    job.virtual_cluster = scene.cluster.nodes[node].virtual_clusters.front();
  }
  return scene;
}

/// @param discipline, packing  Null: that of the policy.
sim::SimulationSettings settings_of(const char* policy, const char* discipline, const char* packing) {
  sim::SimulationSettings settings;
  settings.request.policy = policy;
  if (packing != nullptr) settings.request.params.emplace_back("packing", packing);
  if (discipline != nullptr) settings.request.params.emplace_back("discipline", discipline);
  settings.overheads = sim::named_overheads("none");
  return settings;
}

/// The first jobs end when the simulation with plans ends them.
void check(const sim::SimulationSettings& settings, const Trace& all, const Snapshot& cluster) {
  Trace few = all;
  few.jobs.resize(std::min<std::size_t>(few.jobs.size(), 500));
  std::vector<TimeUs> got(few.jobs.size()), want(few.jobs.size());
  const auto into = [](std::vector<TimeUs>& ends) {
    return [&ends](const sim::JobOutcome& job) { ends[static_cast<std::size_t>(job.job)] = job.end_us; };
  };
  sim::simulate(few, cluster, settings, into(got));
  sim::JobsOf jobs(few);
  sim::replay_plans({few.profiles, sim::facts_of(few), jobs}, cluster, settings, into(want));
  require(got == want, settings.request.policy + ": a job does not end when the simulation with plans says");
}

void by_counts(benchmark::State& bench, const char* policy, const char* discipline, const char* packing, bool virtual_clusters) {
  const std::int64_t nodes = bench.range(0);
  static Scene dealt;  // the trace is large, and consecutive benchmarks use the same nodes
  if (virtual_clusters && static_cast<std::int64_t>(dealt.cluster.nodes.size()) != nodes) dealt = dealt_out(venus(), nodes);
  const Snapshot cluster = virtual_clusters ? dealt.cluster : io::uniform_cluster(nodes, kGpusPerNode);
  const Trace& jobs = virtual_clusters ? dealt.trace : venus();
  const sim::TraceFacts facts = sim::facts_of(jobs);
  const sim::SimulationSettings settings = settings_of(policy, discipline, packing);
  check(settings, jobs, cluster);
  sim::SimulationFigures figures;
  std::int64_t decisions = 0;
  for (auto _ : bench) {
    Lap lap;
    sim::FiguresOf counted;
    sim::JobsOf source(jobs);
    sim::MeasuresOf measures(facts, nodes * kGpusPerNode, {});
    const sim::SimulationTotals totals = sim::simulate({jobs.profiles, facts, source}, cluster, settings, [&](const sim::JobOutcome& job) {
      counted.add(job);
      measures.add(job);
    });
    figures = counted.finish(totals);
    benchmark::DoNotOptimize(measures.finish(totals));
    bench.SetIterationTime(lap.seconds());
    decisions = totals.decisions;
  }
  const auto n = static_cast<std::int64_t>(jobs.jobs.size());
  require(figures.completed + figures.rejected == n, "a job has not ended");
  bench.SetItemsProcessed(bench.iterations() * n);  // jobs
  bench.SetLabel(jobs.name + (virtual_clusters ? ", virtual clusters assigned by us" : ""));
  bench.counters["jobs"] = static_cast<double>(n);
  bench.counters["rejected"] = static_cast<double>(figures.rejected);
  bench.counters["decisions"] = static_cast<double>(decisions);
  bench.counters["preemptions"] = static_cast<double>(figures.preemptions);
}

[[maybe_unused]] const bool registered = [] {
  const auto add = [](const std::string& name, const char* policy, const char* discipline, const char* packing, bool virtual_clusters) {
    return benchmark::RegisterBenchmark(name.c_str(), by_counts, policy, discipline, packing, virtual_clusters)
        ->ArgName("nodes")
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const char* packing : {"count", "topology"}) {
    for (const char* policy : {"fifo", "srtf", "srsf", "las"}) {
      auto* added = add(fmt::format("simulate/{}/{}", policy, packing), policy, nullptr, packing, false);
      for (const std::int64_t nodes : simulated_nodes()) added->Arg(nodes);
    }
    auto* added = add(fmt::format("simulate/fifo-easy/{}", packing), "fifo", "easy", packing, false);
    for (const std::int64_t nodes : simulated_nodes()) added->Arg(nodes);
  }
  auto* conservative = add("simulate/fifo-conservative/count", "fifo", "conservative", "count", false);
  for (const std::int64_t nodes : simulated_nodes()) conservative->Arg(nodes);
  for (const char* policy : {"gittins", "themis"}) {
    add(fmt::format("simulate/{}/count", policy), policy, nullptr, "count", false)->Arg(simulated_nodes().front());
  }
  // Its decisions are plans: it has no packing.
  add("simulate/price", "price", nullptr, nullptr, false)->Arg(simulated_nodes().front());
  for (const char* policy : {"srtf", "las"}) {
    add(fmt::format("simulate/{}/count/{}vc", policy, kVirtualClusters), policy, nullptr, "count", true)->Arg(simulated_nodes().back());
  }
  for (const char* discipline : {"easy", "conservative"}) {
    add(fmt::format("simulate/fifo-{}/count/{}vc", discipline, kVirtualClusters), "fifo", discipline, "count", true)
        ->Arg(simulated_nodes().back());
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
