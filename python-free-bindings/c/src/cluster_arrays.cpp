#include "python-free-bindings/c/src/cluster_arrays.hpp"

#include <cstddef>
#include <string>

#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/job_arrays.hpp"
#include "python-free-bindings/c/src/structs.hpp"

namespace berth::c {
namespace {

// A reference to a row by its index. @throws InvalidArgument; the caller handles -1.
std::int32_t index_of(std::int32_t index, std::size_t n, const char* name, std::size_t row, std::int32_t least = -1) {
  if (index < least || (index >= 0 && static_cast<std::size_t>(index) >= n)) {
    throw InvalidArgument(std::string(name) + "[" + std::to_string(row) + "] is " + std::to_string(index) + ": expected " +
                          std::to_string(least) + " to " + std::to_string(static_cast<std::int64_t>(n) - 1));
  }
  return index;
}

void add_gpu_types(const berth_cluster& c, Snapshot& s) {
  const std::size_t n = checked_count(c.n_gpu_types, kMaxNodes, "n_gpu_types");
  const Texts id(c.gpu_type, n, "gpu_type");
  for (std::size_t i = 0; i < n; ++i) {
    GpuType& type = s.gpu_types.emplace_back();
    type.id = id.text(i);
    type.memory_bytes = value(c.gpu_type_memory_bytes, i, std::int64_t{0});
  }
}

std::string path_of(const Domain& domain) { return domain.parent.empty() ? domain.id : domain.parent + "/" + domain.id; }

void add_domains(const berth_cluster& c, Snapshot& s) {
  const std::size_t n = checked_count(c.n_domains, kMaxNodes, "n_domains");
  const Texts id(c.domain, n, "domain");
  const Texts level(c.domain_level, n, "domain_level");
  for (std::size_t i = 0; i < n; ++i) {
    Domain domain;
    domain.id = id.text(i);
    domain.level = level.text(i);
    domain.topology = static_cast<TopologyKind>(index_of(value(c.domain_topology, i, 0), kTopologyKinds, "domain_topology", i, 0));
    const std::int32_t parent = index_of(value(c.domain_parent, i, -1), i, "domain_parent", i);
    if (parent >= 0) domain.parent = path_of(s.domains[static_cast<std::size_t>(parent)]);
    s.domains.push_back(std::move(domain));
  }
}

void add_nodes(const berth_cluster& c, Snapshot& s) {
  const std::size_t n = checked_count(c.n_nodes, kMaxNodes, "n_nodes");
  const Texts id(c.node, n, "node");
  required_column(c.node_gpu_type, n, "node_gpu_type");
  required_column(c.node_gpus, n, "node_gpus");
  s.nodes.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    Node& node = s.nodes.emplace_back();
    node.id = id.text(i);
    const std::int32_t type = index_of(c.node_gpu_type[i], s.gpu_types.size(), "node_gpu_type", i, 0);
    node.gpu_type = s.gpu_types[static_cast<std::size_t>(type)].id;
    node.gpus = c.node_gpus[i];
    for (std::size_t topology = 0; topology < static_cast<std::size_t>(kTopologyKinds); ++topology) {
      const std::int32_t domain = index_of(value(c.node_domain[topology], i, -1), s.domains.size(), "node_domain", i);
      if (domain >= 0) node.domain[topology] = path_of(s.domains[static_cast<std::size_t>(domain)]);
    }
    node.state = static_cast<NodeState>(
        index_of(value(c.node_state, i, 0), static_cast<std::size_t>(NodeState::kReleasing) + 1, "node_state", i, 0));
    node.cpu_milli = value(c.node_cpu_milli, i, kUnlimited);
    node.memory_bytes = value(c.node_memory_bytes, i, kUnlimited);
    node.available_from_us = value(c.node_available_from_us, i, TimeUs{0});
    node.available_until_us = value(c.node_available_until_us, i, kNever);
    node.sharing = value(c.node_sharing, i, std::uint8_t{0}) != 0;
  }
}

void add_queues(const berth_cluster& c, Snapshot& s) {
  const std::size_t n = checked_count(c.n_queues, kMaxNodes, "n_queues");
  const Texts id(c.queue, n, "queue");
  for (std::size_t i = 0; i < n; ++i) {
    Queue& queue = s.queues.emplace_back();
    queue.id = id.text(i);
    const std::int32_t parent = index_of(value(c.queue_parent, i, -1), n, "queue_parent", i);
    if (parent >= 0) queue.parent = id.text(static_cast<std::size_t>(parent));
    queue.weight_ppm = value(c.queue_weight_ppm, i, queue.weight_ppm);
    const std::int64_t limit = value(c.queue_limit, i, kUnlimited);
    const std::int64_t guarantee = value(c.queue_guarantee, i, std::int64_t{0});
    const std::int64_t lending = value(c.queue_lending, i, kUnlimited);
    if (limit == kUnlimited && guarantee == 0 && lending == kUnlimited) continue;
    Quota& quota = queue.quotas.emplace_back();
    quota.gpu_type = "*";
    quota.limit = limit;
    quota.guarantee = guarantee;
    quota.lending = lending;
  }
}

}  // namespace

Snapshot snapshot_of(const berth_cluster* cluster) {
  const berth_cluster c = get_struct(cluster, "cluster");
  Snapshot s;
  s.now_us = c.now_us;
  add_gpu_types(c, s);
  add_domains(c, s);
  add_nodes(c, s);
  add_queues(c, s);
  if (c.jobs != nullptr) {
    const JobArrays jobs(c.jobs, "jobs", true);
    s.jobs.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) s.jobs.push_back(jobs.job(i));
  }
  return s;
}

}  // namespace berth::c
