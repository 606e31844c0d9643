#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/overheads.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "tests/support/random.hpp"

/// Random traces, clusters and overheads for simulations.
namespace berth::test {

// The pools, and the features that may rule out a simulation by counts.
struct World {
  bool virtual_clusters, gpu_types, hard_deadlines;
};

inline Trace random_trace(Random& random, const World& world) {
  Trace trace;
  trace.name = "t";
  const std::int32_t jobs = random.within(1, 60);
  const std::int32_t step = random.of<std::int32_t>({0, 1, 5, 50});
  TimeUs at = 0;
  for (std::int32_t j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:03}", j);
    job.user = fmt::format("u{}", random.below(4));
    job.model = random.of<const char*>({"", "resnet", "bert", "vgg"});
    if (world.virtual_clusters) job.virtual_cluster = random.of<const char*>({"a", "b", "c"});
    if (world.gpu_types) job.gpu_type = random.of<const char*>({"v100", "a100"});
    job.submit_us = at;
    job.run_us = random.within(1, 100) * (random.percent(20) ? 1'234'567 : kSecond);
    if (random.percent(40)) job.time_limit_us = random.within(1, 150) * kSecond;
    if (random.percent(30)) job.deadline_us = at + random.within(0, 300) * kSecond;
    job.deadline_hard = world.hard_deadlines && (j == 0 || random.percent(20));
    if (job.deadline_hard) job.deadline_us = at + random.within(1, 300) * kSecond;
    job.gpus = random.of<std::int32_t>({1, 1, 2, 3, 4, 8, 13, 24});
    job.priority = random.below(3);
    trace.jobs.push_back(std::move(job));
    at += random.within(0, step) * kSecond;
  }
  return trace;
}

// Adds jobs that come fast, and run for very different times: many wait, and short ones pass long ones.
inline void crowd(Random& random, const World& world, Trace& trace) {
  for (std::int32_t j = random.within(20, 200); j > 0; --j) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = fmt::format("k{:03}", trace.jobs.size());
    if (world.virtual_clusters) job.virtual_cluster = random.of<const char*>({"a", "b"});
    if (world.gpu_types) job.gpu_type = random.of<const char*>({"v100", "a100"});
    job.submit_us = trace.jobs[0].submit_us + random.within(0, 100) * kSecond;
    job.run_us = random.within(1, random.of<std::int32_t>({5, 30, 300})) * kSecond;
    if (random.percent(50)) job.time_limit_us = random.within(1, 4) * job.run_us / 2;
    job.gpus = random.of<std::int32_t>({1, 1, 1, 2, 3, 4, 8, 13});
  }
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(), [](const TraceJob& a, const TraceJob& b) { return a.submit_us < b.submit_us; });
}

// Racks, or racks in rows in halls; some nodes are in no rack, in no row, or in no domain.
inline void hang_somewhere(Random& random, Snapshot& cluster) {
  const std::vector<const char*> levels =
      random.of<std::vector<const char*>>({{}, {"rack"}, {"row", "rack"}, {"hall", "row", "rack"}});  // from the root
  std::vector<std::string> paths{""};
  std::vector<std::string> above{""};
  for (const char* level : levels) {
    std::vector<std::string> here;
    for (const std::string& parent : above) {
      for (std::int32_t i = random.within(1, 3); i > 0; --i) {
        Domain& domain = cluster.domains.emplace_back();
        domain.id = fmt::format("{}{}", level, i);
        domain.level = level;
        domain.parent = parent;
        here.push_back(parent.empty() ? domain.id : parent + "/" + domain.id);
      }
    }
    paths.insert(paths.end(), here.begin(), here.end());
    above = here;
  }
  for (Node& node : cluster.nodes)
    node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = random.percent(80) ? random.of(above) : random.of(paths);
}

// Inner groups of arbitrary GPUs; some GPUs are in none.
inline void group_gpus(Random& random, Node& node) {
  const std::int32_t groups = random.within(1, 3);
  for (std::int32_t g = 0; g < node.gpus; ++g) {
    Gpu& gpu = node.gpu_list.emplace_back();
    gpu.index = g;
    gpu.inner_group = random.percent(70) ? g * groups / node.gpus : random.within(-1, groups - 1);
  }
}

inline Snapshot random_cluster(Random& random, const World& world) {
  Snapshot cluster = io::uniform_cluster(random.within(1, 9), random.of<std::int64_t>({1, 2, 4, 8}));
  if (world.gpu_types) {
    cluster.gpu_types.resize(2);
    cluster.gpu_types[0].id = "a100";
    cluster.gpu_types[1].id = "v100";
  }
  hang_somewhere(random, cluster);
  const bool sizes_differ = random.percent(30), inner_groups = random.percent(30);
  for (Node& node : cluster.nodes) {
    if (world.virtual_clusters) node.virtual_clusters = {random.of<const char*>({"a", "b"})};
    if (world.gpu_types) node.gpu_type = random.of<const char*>({"v100", "a100"});
    if (sizes_differ) node.gpus = random.within(world.gpu_types ? 1 : 0, 8);
    if (inner_groups && random.percent(80)) group_gpus(random, node);
  }
  return cluster;
}

inline Overheads random_overheads(Random& random) {
  if (random.percent(60)) return sim::named_overheads(random.of<const char*>({"none", "default"}));
  const auto some = [&] { return random.percent(50) ? 0 : random.within(1, 9) * kSecond; };
  Overheads overheads;
  overheads.name = "by model";
  for (const char* model : {"bert", "resnet"}) {
    ModelOverheads one;
    one.start_us = some();
    one.costs.checkpoint_save_us = some();
    one.costs.checkpoint_restore_us = some();
    one.costs.restart_us = some();
    one.costs.migrate_us = some();
    overheads.models.emplace_back(model, one);
  }
  overheads.general.costs.restart_us = some();
  return overheads;
}

}  // namespace berth::test
