#include "bench/support/cluster.hpp"

#include <algorithm>

#include "bench/defaults.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::bench {
namespace {

sim::GenerateOptions options(std::int64_t nodes, std::int64_t jobs) {
  sim::GenerateOptions o;
  o.nodes = static_cast<std::int32_t>(nodes);
  o.gpus_per_node = kGpusPerNode;
  o.jobs = static_cast<std::int32_t>(jobs);
  o.workload = sim::Workload::kHelios;
  o.fabric = sim::Fabric::kTree;
  o.seed = kSeed;
  o.gpu_types = {{"V100-32GB", 3}, {"A100-80GB", 1}};
  return o;
}

}  // namespace

Snapshot busy_cluster(std::int64_t nodes, std::int64_t jobs) { return sim::generate(options(nodes, jobs)); }

Snapshot running_cluster(std::int64_t nodes, std::int64_t jobs) {
  sim::GenerateOptions o = options(nodes, jobs);
  o.gpu_types = {{"V100-32GB", 1}};
  o.waiting_ppm = 0;
  Snapshot snapshot = sim::generate(o);
  const auto waits = [](const Job& job) { return job.state == JobState::kWaiting; };
  snapshot.jobs.erase(std::remove_if(snapshot.jobs.begin(), snapshot.jobs.end(), waits), snapshot.jobs.end());
  return snapshot;
}

}  // namespace berth::bench
