#include "host/io/traces/virtual_cluster_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostShownBytes = 80;

std::string shown_name(const std::string& name) {
  return core::escape_control(cut_utf8(name, kMostShownBytes)) + (name.size() > kMostShownBytes ? "..." : "");
}

using SizesByName = std::map<std::string, std::int64_t>;

bool names_virtual_clusters(const Snapshot& cluster) {
  return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), [](const Node& node) { return !node.virtual_clusters.empty(); });
}

SizesByName sizes_in(const Snapshot& cluster) {
  SizesByName sizes;
  for (const Node& node : cluster.nodes) {
    if (node.virtual_clusters.size() > 1) {
      throw InvalidArgument(fmt::format(
          "--virtual-clusters: node '{}' belongs to several virtual clusters, so its GPUs are no quota of one", shown_name(node.id)));
    }
    if (!node.virtual_clusters.empty()) sizes[node.virtual_clusters.front()] += node.gpus;
  }
  return sizes;
}

std::int64_t gpus_of(const Snapshot& cluster) {
  std::int64_t gpus = 0;
  for (const Node& node : cluster.nodes) gpus += node.gpus;
  return gpus;
}

// Whole GPUs in proportion; those that are left go to the greatest remainders, ties by name.
void share_out(std::int64_t gpus, SizesByName& sizes) {
  struct Remainder {
    core::Wide parts;
    std::int64_t* size;
  };
  core::Wide sum = 0;
  for (const auto& [name, size] : sizes) sum += size;
  if (sum == 0) return;
  std::vector<Remainder> remainders;
  std::int64_t left = gpus;
  for (auto& [name, size] : sizes) {
    const core::Wide share = core::Wide{size} * gpus;
    size = static_cast<std::int64_t>(share / sum);
    left -= size;
    remainders.push_back({share % sum, &size});
  }
  std::stable_sort(remainders.begin(), remainders.end(), [](const Remainder& a, const Remainder& b) { return a.parts > b.parts; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++*remainders[i].size;
}

}  // namespace

VirtualClusterUse virtual_cluster_use(std::string_view name) {
  const auto* const at = std::find(std::begin(kVirtualClusterUses), std::end(kVirtualClusterUses), name);
  if (at == std::end(kVirtualClusterUses)) throw InvalidArgument("--virtual-clusters: expected nodes, guarantees or limits");
  return static_cast<VirtualClusterUse>(at - std::begin(kVirtualClusterUses));
}

void make_virtual_clusters_queues(VirtualClusterUse use, Imported& imported, Snapshot& cluster, std::vector<std::string>& notes) {
  if (use == VirtualClusterUse::kNodes) return;
  std::vector<TraceJob>& jobs = imported.trace.jobs;
  if (!cluster.queues.empty()) throw InvalidArgument("--virtual-clusters: the cluster has queues already");
  std::set<std::string> named;
  for (const TraceJob& job : jobs) {
    if (!job.queue.empty()) throw InvalidArgument(fmt::format("--virtual-clusters: job '{}' names a queue already", shown_name(job.id)));
    if (!job.virtual_cluster.empty()) named.insert(job.virtual_cluster);
  }
  if (named.empty()) throw InvalidArgument("--virtual-clusters: the trace names no virtual clusters");
  const bool own = names_virtual_clusters(cluster);
  if (!own && (!imported.cluster || !names_virtual_clusters(*imported.cluster))) {
    throw InvalidArgument("--virtual-clusters: neither the cluster nor the files of the trace say which GPUs virtual clusters have");
  }
  SizesByName sizes = sizes_in(own ? cluster : *imported.cluster);
  if (!own) {
    share_out(gpus_of(cluster), sizes);
    notes.push_back(fmt::format("virtual clusters share the {} of the cluster in proportion to those that the trace's files give them",
                                core::counted(gpus_of(cluster), "GPU")));
  }
  for (const auto& [name, gpus] : sizes) {
    cluster.queues.emplace_back().id = name;
    cluster.queues.back().quotas.push_back({"*", gpus, use == VirtualClusterUse::kLimits ? gpus : kUnlimited, kUnlimited});
  }
  std::int64_t without = 0;
  for (const std::string& name : named) {
    if (sizes.count(name) > 0) continue;
    ++without;
    cluster.queues.emplace_back().id = name;
  }
  if (without > 0)
    notes.push_back(fmt::format("{} of unknown size: without guarantee and limit", core::counted(without, "virtual cluster")));
  for (TraceJob& job : jobs) job.queue = job.virtual_cluster;
  const auto of_none = std::count_if(jobs.begin(), jobs.end(), [](const TraceJob& job) { return job.queue.empty(); });
  if (of_none > 0) notes.push_back(fmt::format("{} of no virtual cluster: of no queue", core::counted(of_none, "job")));
  for (Node& node : cluster.nodes) node.virtual_clusters.clear();
}

}  // namespace berth::io
