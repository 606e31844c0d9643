#include "host/io/slurm/slurm_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/split.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/io/topology/slurm_topology.hpp"

namespace berth::io {
namespace {

struct SlurmMembers {
  std::int64_t count = 0, gpus = 1;
  bool one_a_node = false;
};

std::int64_t least_nodes(const SlurmJob& job) { return std::max<std::int64_t>(job.asked.nodes > 0 ? job.asked.nodes : job.node_count, 1); }

// Whether the request has exactly one number of nodes.
bool has_fixed_nodes(const SlurmJob& job) { return job.max_nodes > 0 && job.max_nodes == least_nodes(job); }

SlurmMembers slurm_members(const SlurmJob& job, ImportNotes& notes) {
  const std::int64_t nodes = least_nodes(job);
  const auto note = [&](const char* what) { notes.count("job", what, slurm_job_name(job)); };
  if (job.per_node.count > 0) {
    if (job.max_nodes > nodes) note(": of a range of node counts the least is taken");
    const std::int64_t total = job.per_job.count;
    if (total > 0 && total % job.per_node.count == 0) return {total / job.per_node.count, job.per_node.count, true};
    return {nodes, job.per_node.count, true};
  }
  const bool fixed = has_fixed_nodes(job);
  if (job.per_task.count > 0) {
    const std::int64_t tasks = std::max<std::int64_t>(job.tasks, 1);
    if (fixed && tasks % nodes == 0) return {nodes, tasks / nodes * job.per_task.count, true};
    if (fixed) note(": tasks do not divide among the nodes asked for; the number of nodes is left open");
    return {tasks, job.per_task.count, false};
  }
  if (fixed && job.per_job.count % nodes == 0) return {nodes, job.per_job.count / nodes, true};
  if (fixed) note(": GPUs do not divide among the nodes asked for; the number of nodes is left open");
  return {job.per_job.count, 1, false};
}

// Splits "a&b", "a,b" or "a|b" into names; false for anything else (counts, brackets, mixtures, negations).
bool split_features(const std::string& text, std::vector<std::string>& names, bool& any) {
  if (text.find_first_of("()[]*!:") != text.npos) return false;
  any = text.find('|') != text.npos;
  if (any && text.find_first_of("&,") != text.npos) return false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("&,|", begin), text.size());
    if (end == begin) return false;
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return true;
}

std::string set_features(const SlurmJob& from, SlurmCluster& cluster, Constraints& out) {
  if (from.features.empty()) return {};
  if (from.features.size() > core::kMaxNameBytes) return fmt::format("its features are longer than {} bytes", core::kMaxNameBytes);
  std::vector<std::string> names;
  bool any = false;
  if (!split_features(from.features, names, any)) return "its features are no names joined by '&' or by '|' alone";
  if (any) {
    if (!cluster.add_any_label(from.features, names)) return "more alternatives of features and partitions than are kept";
    names = {from.features};
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) out.labels.push_back({name, {kSlurmFeature}});
  return {};
}

}  // namespace

bool asks_for_gpus(const SlurmJob& job) {
  return job.per_node.count > 0 || job.per_job.count > 0 || job.per_task.count > 0 || job.per_socket.count > 0 || job.asked.gpus > 0;
}

SlurmRequest slurm_request(const SlurmJob& job, const SlurmCluster& cluster, bool has_blocks, ImportNotes& notes) {
  SlurmRequest out;
  if (job.per_socket.count > 0) {
    out.problem = "GPUs are asked for by socket";
    return out;
  }
  for (const GpuCount* one : {&job.per_node, &job.per_job, &job.per_task}) {
    if (one->mixed) out.problem = "several types of GPUs are asked for";
    if (one->count > 0 && !one->type.empty()) out.gpu_type = one->type;
  }
  if (!out.problem.empty()) return out;
  SlurmMembers members = slurm_members(job, notes);
  if (members.count == 0) {
    out.problem = "GPUs are asked for in a way that the record does not show";
    return out;
  }
  const auto note = [&](const char* what) { notes.count("job", what, slurm_job_name(job)); };
  if (job.exclusive && members.one_a_node && cluster.uniform() && cluster.most_gpus() > members.gpus) members.gpus = cluster.most_gpus();
  if (job.exclusive && !(members.one_a_node && cluster.uniform())) note(": nodes of its own are not kept, only its GPUs");
  if (members.gpus > kMaxGpusPerNode) {
    out.problem = fmt::format("more than {} GPUs of one node are asked for", kMaxGpusPerNode);
    return out;
  }
  if (members.count > kMaxGpusPerJob / members.gpus) {
    out.problem = fmt::format("more than {} GPUs are asked for", kMaxGpusPerJob);
    return out;
  }
  out.flat = !members.one_a_node && members.gpus == 1;
  out.group.name = members.one_a_node ? "nodes" : "tasks";
  out.group.members_min = out.group.members_want = out.group.members_max = static_cast<std::int32_t>(members.count);
  out.group.gpus_per_member = static_cast<std::int32_t>(members.gpus);
  // Where no node holds two members, a spread is not needed.
  if (members.one_a_node && members.count > 1 && 2 * members.gpus <= cluster.most_gpus())
    out.group.spread = Spread{{TopologyKind::kSwitch, "node"}, 1};
  if (job.segment > 0) {
    if (has_blocks && members.one_a_node && members.count % job.segment == 0)
      out.group.segment = Segment{static_cast<std::int32_t>(job.segment), {TopologyKind::kNvlink, std::string(kBlockLevel)}};
    else
      note(": its segments of nodes are not kept");
  }
  const std::int64_t gpus = members.count * members.gpus;
  // Rounded down, so that a job that uses a whole node does not request more than the node has.
  out.cpu_milli_per_gpu = std::max(std::max<std::int64_t>(job.asked.cpus, 0) * 1'000 / gpus, job.cpus_per_gpu * 1'000);
  if (cluster.counts_memory()) out.memory_bytes_per_gpu = std::max<std::int64_t>(job.asked.memory_bytes, 0) / gpus;
  if (job.contiguous) note(": that its nodes be contiguous is not kept");
  if (!job.licenses.empty()) note(": licenses are not counted");
  if (!job.prefer.empty()) note(": features that it prefers are not used");
  if (job.per_node.others || job.per_job.others || job.per_task.others)
    note(": resources other than GPUs, cores and memory are not counted");
  return out;
}

std::string set_slurm_constraints(const SlurmJob& from, SlurmCluster& cluster, Job& job) {
  if (from.partition.size() > core::kMaxNameBytes)
    return fmt::format("its list of partitions is longer than {} bytes", core::kMaxNameBytes);
  job.virtual_cluster = from.partition;
  if (from.partition.find(',') != from.partition.npos) {
    const auto names = core::split(from.partition, ',');
    if (!cluster.add_union(from.partition, {names.begin(), names.end()}))
      return "more alternatives of features and partitions than are kept";
  }
  job.constraints.excluded_nodes = from.excluded_nodes;
  if (!from.required_nodes.empty() && static_cast<std::int64_t>(from.required_nodes.size()) < least_nodes(from))
    return "it requires some of its nodes and leaves the others open";
  job.constraints.required_nodes = from.required_nodes;
  return set_features(from, cluster, job.constraints);
}

}  // namespace berth::io
