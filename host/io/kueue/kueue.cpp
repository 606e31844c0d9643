#include "host/io/kueue/kueue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "berth/error.hpp"
#include "host/io/kueue/kueue_flavors.hpp"
#include "host/io/kueue/kueue_jobs.hpp"
#include "host/io/kueue/kueue_objects.hpp"
#include "host/io/kueue/kueue_places.hpp"
#include "host/io/kueue/kueue_queues.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

void add_topology(const kueue::KueueObjects& objects, const std::string& file, const KueueOptions& options, bool partial,
                  Snapshot& snapshot, ImportNotes& notes) {
  TopologyModel model = kueue_model(objects.cluster, file, {.topology = options.topology, .partial = partial}, notes);
  apply_links(options.links, model);
  add_to_snapshot(model, options.nodes, snapshot);
}

/// Of several topologies, the one that flavors with quotas name, where that is only one.
std::string topology_in_use(const kueue::KueueObjects& objects) {
  const std::set<std::string_view> used = kueue::flavors_in_use(objects);
  std::set<std::string> names;
  for (const kueue::FlavorObject& flavor : objects.flavors) {
    if (used.count(flavor.name) > 0 && !flavor.topology.empty()) names.insert(flavor.topology);
  }
  if (objects.cluster.topologies.size() < 2 || names.size() != 1) return {};
  const auto exists = [&](const TopologyObject& one) { return one.name == *names.begin(); };
  return std::any_of(objects.cluster.topologies.begin(), objects.cluster.topologies.end(), exists) ? *names.begin() : std::string();
}

void check_complete(const kueue::KueueObjects& objects, const std::string& file) {
  const auto fail = [&](const char* what, const char* kind) {
    throw InputError(file, "", 0, fmt::format("{}: give what 'kubectl get {} -A -o json' prints, too", what, kind));
  };
  if (objects.cluster_queues.empty()) fail("no ClusterQueue among the objects", "clusterqueues,cohorts,localqueues,resourceflavors");
  if (!kueue::flavors_in_use(objects).empty() && objects.flavors.empty()) fail("no ResourceFlavor among the objects", "resourceflavors");
  if (!objects.workloads.empty() && objects.local_queues.empty()) fail("no LocalQueue among the objects", "localqueues");
}

void add_nodes(kueue::KueueObjects& objects, const std::string& file, KueueOptions options, Snapshot& snapshot, ImportNotes& notes) {
  if (!objects.cluster.nodes.empty()) {
    if (options.cluster != nullptr) throw InvalidArgument("--cluster is for files without nodes: these have some");
    kueue::tolerate_taints(objects);
    if (options.topology.empty()) options.topology = topology_in_use(objects);
    add_topology(objects, file, options, true, snapshot, notes);
    return;
  }
  if (options.cluster == nullptr)
    throw InputError(file, "", 0, "no nodes among the objects: give what 'kubectl get nodes -o json' prints, too, or --cluster");
  snapshot.gpu_types = options.cluster->gpu_types;
  snapshot.domains = options.cluster->domains;
  snapshot.nodes = options.cluster->nodes;
  std::sort(snapshot.gpu_types.begin(), snapshot.gpu_types.end(), [](const GpuType& a, const GpuType& b) { return a.id < b.id; });
}

}  // namespace

KueueImport import_kueue(const std::vector<KueueInput>& inputs, const KueueOptions& options) {
  if (inputs.empty()) throw InvalidArgument("no objects of Kueue to import");
  kueue::KueueObjects objects;
  ImportNotes notes;
  for (const KueueInput& input : inputs) kueue::read_kueue_objects(input.text, input.name, objects, notes);
  kueue::order_kueue_objects(objects);
  KueueImport out;
  Snapshot& snapshot = out.snapshot;
  snapshot.name = "kueue";
  const std::string& file = inputs.front().name;
  if (!objects.has_quotas()) {
    if (options.cluster != nullptr) throw InvalidArgument("--cluster is for quotas without nodes: these files have no ClusterQueue");
    add_topology(objects, file, options, false, snapshot, notes);
    out.notes = notes.lines();
    return out;
  }
  check_complete(objects, file);
  snapshot.origin_iso = "1970-01-01T00:00:00Z";
  snapshot.now_us = objects.now_us;
  const bool own_nodes = !objects.cluster.nodes.empty();
  add_nodes(objects, file, options, snapshot, notes);
  const kueue::Flavors flavors(objects, own_nodes, snapshot, notes);
  const kueue::QueueIndex queues = kueue::add_queues(objects, flavors, snapshot, notes);
  kueue::Places places(objects, flavors, snapshot, notes);
  kueue::add_jobs(objects, flavors, queues, places, snapshot, notes);
  places.finish();
  if (snapshot.jobs.empty()) notes.say(kNoJob);
  notes.say("only quotas of nvidia.com/gpu are read; cores, memory and pods are left out");
  out.notes = notes.lines();
  out.left_out = std::move(notes.left_out());
  return out;
}

}  // namespace berth::io
