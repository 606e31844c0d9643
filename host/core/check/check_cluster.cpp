#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "host/core/base/distinct.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kMostOversubscription = 1'000'000'000'000;  // a million to one

void check_gpu_list(const Node& node, const InputLocation& where) {
  if (node.gpu_list.empty()) return;
  if (node.gpu_list.size() != static_cast<std::size_t>(node.gpus)) {
    where.fail_at("gpus", fmt::format("the list names {}, the node has {}", counted(static_cast<std::int64_t>(node.gpu_list.size()), "GPU"),
                                      node.gpus));
  }
  for (std::size_t i = 0; i < node.gpu_list.size(); ++i) {
    const InputLocation at(where, "gpus", static_cast<std::int64_t>(i));
    const Gpu& gpu = node.gpu_list[i];
    if (gpu.index != static_cast<std::int32_t>(i)) at.fail_at("index", fmt::format("{} stands where GPU {} must", gpu.index, i));
    check_time_or_never(gpu.free_at_us, at, "free_at_s");
    check_range(gpu.inner_group, -1, kMaxGpusPerNode - 1, at, "inner_group");
  }
}

void check_labels(const Node& node, const InputLocation& where) {
  for (std::size_t i = 0; i < node.labels.size(); ++i) {
    check_name(node.labels[i].first, where, "labels");
    check_text(node.labels[i].second, where, "labels");
    if (i > 0 && node.labels[i - 1].first >= node.labels[i].first) {
      where.fail_at("labels", fmt::format("labels must be sorted and unique by key: '{}' follows '{}'", node.labels[i].first,
                                          node.labels[i - 1].first));
    }
  }
}

}  // namespace

void check_gpu_type(const GpuType& type, const InputLocation& where) {
  check_name(type.id, where, "id");
  if (type.id == "*") where.fail_at("id", "'*' stands for all types together");
  check_range(type.memory_bytes, 0, kMaxBytes, where, "memory_bytes");
  check_range(type.nvlink_bytes_per_s, 0, kMaxBytes, where, "nvlink_bytes_per_s");
  check_decimal(type.power_mw, 3, 0, kMaxBytes, where, "power_w");
  check_decimal(type.price_micro_per_hour, 6, 0, kScoreCeiling, where, "price_per_hour");
  for (std::size_t i = 0; i < type.mig_layouts.size(); ++i) {
    const InputLocation at(where, "mig_layouts", static_cast<std::int64_t>(i));
    check_name(type.mig_layouts[i].name, at, "name");
    for (const std::string& profile : type.mig_layouts[i].profiles) check_name(profile, at, "profiles");
  }
  find_repeat(
      type.mig_layouts.size(), [&](std::size_t i) { return std::string_view(type.mig_layouts[i].name); },
      [&](std::size_t i) {
        InputLocation(where, "mig_layouts", static_cast<std::int64_t>(i))
            .fail_at("name", fmt::format("'{}' names an earlier layout too", type.mig_layouts[i].name));
      });
  check_extensions(type.x, where);
}

void check_domain(const Domain& domain, const InputLocation& where) {
  check_name(domain.id, where, "id");
  if (domain.id.find('/') != std::string::npos) {
    where.fail_at("id", fmt::format("'{}' holds '/', which separates the parts of a path", domain.id));
  }
  check_name(domain.level, where, "level");
  if (domain.level == "node" || domain.level == "cluster") {
    where.fail_at("level", fmt::format("'{}' is a level that is always there; a domain needs another name", domain.level));
  }
  check_range(domain.uplink_bytes_per_s, 0, kMaxBytes, where, "uplink_bytes_per_s");
  check_time(domain.latency_us, where, "latency_s");
  check_decimal(domain.oversubscription_ppm, 6, 1, kMostOversubscription, where, "oversubscription");
  check_range(domain.spine_count, 0, INT32_MAX, where, "spine_count");
  check_extensions(domain.x, where);
}

void check_domains(const std::vector<Domain>& domains, const InputLocation& where) {
  std::array<std::unordered_set<std::string>, kTopologyKinds> paths;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const std::string path = domain_path(domains[i]);
    if (paths[static_cast<std::size_t>(domains[i].topology)].insert(path).second) continue;
    InputLocation(where, "domains", static_cast<std::int64_t>(i))
        .fail_at("id", fmt::format("the path '{}' of topology {} is there already", path, name(domains[i].topology)));
  }
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const Domain& domain = domains[i];
    if (domain.parent.empty() || paths[static_cast<std::size_t>(domain.topology)].count(domain.parent) != 0) continue;
    // Paths grow from parent to child, so a cycle shows as a parent that cannot be reached from a root.
    InputLocation(where, "domains", static_cast<std::int64_t>(i))
        .fail_at("parent", fmt::format("no domain of topology {} has the full path '{}'", name(domain.topology), domain.parent));
  }
}

void check_node(const Node& node, const References& refs, const InputLocation& where) {
  check_name(node.id, where, "id");
  if (refs.gpu_type(node.gpu_type) == nullptr)
    where.fail_at("gpu_type", fmt::format("there is no GPU type '{}'{}", node.gpu_type, refs.near_gpu_type(node.gpu_type)));
  check_range(node.gpus, 0, kMaxGpusPerNode, where, "gpus");
  check_gpu_list(node, where);
  for (std::size_t f = 0; f < kTopologyKinds; ++f) {
    const auto topology = static_cast<TopologyKind>(f);
    if (node.domain[f].empty() || refs.has_domain(topology, node.domain[f])) continue;
    const std::string field = fmt::format("domains/{}", name(topology));
    where.fail_at(field, fmt::format("no domain of topology {} has the full path '{}'", name(topology), node.domain[f]));
  }
  check_decimal(node.cpu_milli, 3, kUnlimited, kMaxBytes, where, "cpu_cores");
  check_range(node.memory_bytes, kUnlimited, kMaxBytes, where, "memory_bytes");
  check_range(node.nics, 0, INT32_MAX, where, "nics");
  check_range(node.nic_bytes_per_s, 0, kMaxBytes, where, "nic_bytes_per_s");
  check_labels(node, where);
  const std::vector<std::string>& served = node.virtual_clusters;
  for (std::size_t i = 0; i < served.size(); ++i) {
    check_name(served[i], InputLocation(where, "virtual_clusters", static_cast<std::int64_t>(i)), {});
  }
  find_repeat(
      served.size(), [&](std::size_t i) { return std::string_view(served[i]); },
      [&](std::size_t i) {
        InputLocation(where, "virtual_clusters", static_cast<std::int64_t>(i)).fail(fmt::format("'{}' is named twice", served[i]));
      });
  check_time(node.available_from_us, where, "available_from_s");
  check_time_or_never(node.available_until_us, where, "available_until_s");
  if (node.available_from_us > node.available_until_us) where.fail_at("available_until_s", "lies before available_from_s");
  check_time(node.reclaim_notice_us, where, "reclaim_notice_s");
  check_extensions(node.x, where);
}

void check_reservation(const Reservation& reservation, const References& refs, const InputLocation& where) {
  check_name(reservation.id, where, "id");
  for (std::size_t i = 0; i < reservation.nodes.size(); ++i) {
    if (refs.node(reservation.nodes[i]) != nullptr) continue;
    InputLocation(where, "nodes", static_cast<std::int64_t>(i)).fail(fmt::format("there is no node '{}'", reservation.nodes[i]));
  }
  for (std::size_t i = 0; i < reservation.domains.size(); ++i) {
    const DomainRef& ref = reservation.domains[i];
    if (refs.has_domain(ref.topology, ref.path)) continue;
    InputLocation(where, "domains", static_cast<std::int64_t>(i))
        .fail_at("path", fmt::format("no domain of topology {} has the full path '{}'", name(ref.topology), ref.path));
  }
  if (reservation.nodes.empty() && reservation.domains.empty()) where.fail("a reservation needs nodes or domains");
  check_time(reservation.from_us, where, "from_s");
  check_time_or_never(reservation.to_us, where, "to_s");
  if (reservation.from_us >= reservation.to_us) where.fail_at("to_s", "does not lie after from_s");
  for (const std::string& job : reservation.jobs) check_name(job, where, "jobs");
  check_extensions(reservation.x, where);
}

}  // namespace berth::core
