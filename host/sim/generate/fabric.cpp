#include "host/sim/generate/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kGB = 1'000'000'000;

struct TypeData {
  const char* id;
  std::int64_t memory_gib;
  std::int64_t nvlink_gb_per_s;  // per direction
  std::int64_t watts;
  std::int64_t tflops;  // dense, 16-bit matrix products
};

// From manufacturers' data sheets: data/SOURCES.md, "GPU types".
constexpr TypeData kTypes[] = {{"T4-16GB", 16, 0, 70, 65},       {"V100-32GB", 32, 150, 300, 125},   {"A100-80GB", 80, 300, 400, 312},
                               {"H100-80GB", 80, 450, 700, 989}, {"H200-141GB", 141, 450, 700, 989}, {"GB200-186GB", 186, 900, 1200, 2500}};

// The layout of a fabric, and its uplinks.
struct FabricPlan {
  std::int32_t nodes_per_unit, units_per_pod;
  std::int32_t units_per_fault, units_per_power;
  const char* unit_level;  // in the switch topology
  const char* fault_level;
  std::int64_t unit_uplink, pod_uplink;  // bytes per second
  std::int64_t unit_over_ppm, pod_over_ppm;
  std::int32_t unit_spines, pod_spines;
  std::int32_t nics;
  std::int64_t nic_rate;
};

// The uplinks of a level whose ratio is given, and those above it.
void set_oversubscription(FabricPlan& plan, const GenerateOptions& o) {
  if (o.oversubscription_ppm.empty()) return;
  for (const auto& [level, ratio] : o.oversubscription_ppm) {
    if (ratio < 1) throw InvalidArgument(fmt::format("oversubscription: a ratio above 0, not {} millionths", ratio));
    if (level != "pod" && level != plan.unit_level)
      throw InvalidArgument(fmt::format("oversubscription: the fabric has no level '{}'; it has {} and pod", level, plan.unit_level));
    (level == "pod" ? plan.pod_over_ppm : plan.unit_over_ppm) = ratio;
  }
  const auto uplink = [](std::int64_t each, std::int64_t count, std::int64_t ratio_ppm) {
    const core::Wide below = std::min<core::Wide>(core::Wide{each} * count, kMaxBytes);
    return static_cast<std::int64_t>(std::clamp<core::Wide>(below * 1'000'000 / ratio_ppm, 1, kMaxBytes));
  };
  plan.unit_uplink = uplink(plan.nic_rate, std::int64_t{plan.nodes_per_unit} * plan.nics, plan.unit_over_ppm);
  plan.pod_uplink = uplink(plan.unit_uplink, plan.units_per_pod, plan.pod_over_ppm);
}

FabricPlan plan_of(Fabric fabric, const GenerateOptions& o) {
  FabricPlan plan{};
  switch (fabric) {
    case Fabric::kNvl72:
      // A rack is one NVLink domain with 400 Gbit/s per GPU out of it. Two racks share a cooling unit, four a busway.
      plan = {18, 8, 2, 4, "rack", "cooling", 0, 0, 1'000'000, 2'000'000, 4, 8, o.gpus_per_node, 50 * kGB};
      break;
    case Fabric::kRail:
      // A leaf group: one leaf switch per NIC, 32 nodes. No oversubscription inside a pod, 4:1 above.
      plan = {32, 8, 1, 2, "leaf", "row", 0, 0, 1'000'000, 4'000'000, 8, 8, o.gpus_per_node, 50 * kGB};
      break;
    default:
      plan = {16, 8, 1, 4, "rack", "pdu", 0, 0, 3'000'000, 2'000'000, 2, 4, 1, 25 * kGB / 2};
      break;
  }
  if (o.nodes_per_rack > 0) plan.nodes_per_unit = o.nodes_per_rack;
  if (o.racks_per_pod > 0) plan.units_per_pod = o.racks_per_pod;
  // Rates that the format cannot hold become "not limited" (only for unrealistic rack sizes).
  plan.unit_uplink =
      std::min<std::int64_t>(std::int64_t{plan.nodes_per_unit} * plan.nics * plan.nic_rate / plan.unit_over_ppm * 1'000'000, kMaxBytes);
  plan.pod_uplink = std::min<std::int64_t>(plan.unit_uplink / plan.pod_over_ppm * 1'000'000 * plan.units_per_pod, kMaxBytes);
  set_oversubscription(plan, o);
  return plan;
}

GpuType make_type(const TypeData& data, const GenerateOptions& options) {
  GpuType type;
  type.id = data.id;
  type.memory_bytes = data.memory_gib * kGiB;
  type.nvlink_bytes_per_s = options.gpus_per_node > 1 || options.fabric == Fabric::kNvl72 ? data.nvlink_gb_per_s * kGB : 0;
  type.power_mw = data.watts * 1000;
  return type;
}

Domain make_domain(std::string id, TopologyKind topology, std::string level, std::string parent = {}) {
  Domain domain;
  domain.id = std::move(id);
  domain.topology = topology;
  domain.level = std::move(level);
  domain.parent = std::move(parent);
  return domain;
}

class Builder {
 public:
  Builder(const GenerateOptions& options, Fabric fabric) : o_(options), plan_(plan_of(fabric, options)) {
    layout_.fabric = fabric;
    layout_.gpus_per_node = o_.gpus_per_node;
    layout_.unit_level =
        fabric == Fabric::kNvl72 ? LevelRef{TopologyKind::kNvlink, "nvl_domain"} : LevelRef{TopologyKind::kSwitch, plan_.unit_level};
    layout_.pod_level = {TopologyKind::kSwitch, "pod"};
    layout_.fault_level = {TopologyKind::kFault, plan_.fault_level};
  }

  ClusterLayout build() {
    add_types();
    for (std::int32_t first = 0; first < o_.nodes; first += plan_.nodes_per_unit) add_unit(first);
    layout_.unit_begin.push_back(o_.nodes);
    layout_.pod_begin.push_back(layout_.units());
    return std::move(layout_);
  }

 private:
  void add_types() {
    std::vector<TypePart> parts = o_.gpu_types;
    if (parts.empty()) {
      const char* usual =
          o_.workload == Workload::kPhilly || o_.workload == Workload::kHelios || o_.workload == Workload::kOnes || is_dally(o_.workload)
              ? "V100-32GB"
          : o_.workload == Workload::kPai    ? "T4-16GB"
          : layout_.fabric == Fabric::kNvl72 ? "GB200-186GB"
                                             : "H100-80GB";
      parts.push_back({usual, 1});
    }
    std::int64_t total = 0;
    for (const TypePart& part : parts) {
      const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeData& d) { return part.type == d.id; });
      if (found == std::end(kTypes)) {
        throw InvalidArgument(fmt::format("gpu_types: no type \"{}\"; there are {}", part.type, known_gpu_types()));
      }
      if (part.weight < 1 || part.weight > 1'000'000)
        throw InvalidArgument(fmt::format("gpu_types: weight {} of {}", part.weight, part.type));
      for (const GpuType& other : layout_.gpu_types) {
        if (other.id == part.type) throw InvalidArgument(fmt::format("gpu_types: {} is given twice", part.type));
      }
      layout_.gpu_types.push_back(make_type(*found, o_));
      total += part.weight;
      type_end_.push_back(total);
    }
    // The nodes of a type are contiguous.
    for (std::int64_t& end : type_end_) end = end * o_.nodes / total;
    layout_.type_gpus.assign(layout_.gpu_types.size(), 0);
  }

  void add_unit(std::int32_t first) {
    const std::int32_t unit = static_cast<std::int32_t>(layout_.unit_begin.size());
    const std::int32_t pod = unit / plan_.units_per_pod;
    const std::string pod_id = fmt::format("pod{:02}", pod);
    if (unit % plan_.units_per_pod == 0) {
      layout_.pod_begin.push_back(unit);
      Domain domain = make_domain(pod_id, TopologyKind::kSwitch, "pod");
      domain.uplink_bytes_per_s = plan_.pod_uplink;
      domain.oversubscription_ppm = plan_.pod_over_ppm;
      domain.spine_count = plan_.pod_spines;
      domain.latency_us = 2;
      layout_.domains.push_back(domain);
    }
    const std::string unit_id = fmt::format("{}{:04}", plan_.unit_level, unit);
    Domain domain = make_domain(unit_id, TopologyKind::kSwitch, plan_.unit_level, pod_id);
    domain.uplink_bytes_per_s = plan_.unit_uplink;
    domain.oversubscription_ppm = plan_.unit_over_ppm;
    domain.spine_count = plan_.unit_spines;
    domain.latency_us = 1;
    layout_.domains.push_back(domain);

    std::array<std::string, kTopologyKinds> paths;
    paths[static_cast<std::size_t>(TopologyKind::kSwitch)] = pod_id + "/" + unit_id;
    if (layout_.fabric == Fabric::kNvl72) {
      const std::string id = fmt::format("nvl{:04}", unit);
      layout_.domains.push_back(make_domain(id, TopologyKind::kNvlink, "nvl_domain"));
      paths[static_cast<std::size_t>(TopologyKind::kNvlink)] = id;
    }
    const std::int32_t fault = unit / plan_.units_per_fault;
    const std::string fault_id = fmt::format("{}{:04}", plan_.fault_level, fault);
    if (unit % plan_.units_per_fault == 0) layout_.domains.push_back(make_domain(fault_id, TopologyKind::kFault, plan_.fault_level));
    paths[static_cast<std::size_t>(TopologyKind::kFault)] = fault_id;
    const std::string power_id = fmt::format("busway{:04}", unit / plan_.units_per_power);
    if (unit % plan_.units_per_power == 0) layout_.domains.push_back(make_domain(power_id, TopologyKind::kPower, "busway"));
    paths[static_cast<std::size_t>(TopologyKind::kPower)] = power_id;

    layout_.unit_begin.push_back(first);
    const std::int32_t last = std::min(o_.nodes, first + plan_.nodes_per_unit);
    for (std::int32_t n = first; n < last; ++n) add_node(n, unit, fault, paths);
  }

  void add_node(std::int32_t n, std::int32_t unit, std::int32_t fault, const std::array<std::string, kTopologyKinds>& paths) {
    ItemDraws draws(o_.seed, RandomStream::kCluster, static_cast<std::uint64_t>(n));
    std::int32_t type = 0;
    while (type_end_[static_cast<std::size_t>(type)] <= n) ++type;
    // Two racks of five have local flash; the nodes of a virtual cluster are contiguous.
    const Pool pool{type, o_.labels && unit % 5 < 2 ? 1 : 0,
                    o_.virtual_clusters == 0 ? -1 : static_cast<std::int32_t>(std::int64_t{n} * o_.virtual_clusters / o_.nodes)};

    Node node;
    node.id = fmt::format("n{:05}", n);
    node.gpu_type = layout_.gpu_types[static_cast<std::size_t>(type)].id;
    node.gpus = o_.gpus_per_node;
    node.domain = paths;
    if (o_.demands) {
      node.cpu_milli = kCpuMilliPerGpu * o_.gpus_per_node;
      node.memory_bytes = kMemoryPerGpu * o_.gpus_per_node;
    }
    node.nics = plan_.nics;
    node.nic_bytes_per_s = plan_.nic_rate;
    if (o_.labels) node.labels.emplace_back("disk", kDisks[pool.disk]);
    if (pool.virtual_cluster >= 0) node.virtual_clusters.push_back(virtual_cluster_name(pool.virtual_cluster));
    node.sharing = o_.workload == Workload::kPai;
    if (o_.nodes > 1 && draws.chance(o_.outage_ppm)) {
      node.state = draws.chance(500'000) ? NodeState::kFailed : NodeState::kDrain;
    } else if (o_.nodes > 1 && draws.chance(o_.spare_ppm)) {
      node.state = NodeState::kSpare;
    } else {
      layout_.type_gpus[static_cast<std::size_t>(type)] += node.gpus;
    }
    const auto found = std::find(layout_.pools.begin(), layout_.pools.end(), pool);
    layout_.pool.push_back(static_cast<std::int32_t>(found - layout_.pools.begin()));
    if (found == layout_.pools.end()) layout_.pools.push_back(pool);
    layout_.unit.push_back(unit);
    layout_.fault.push_back(fault);
    layout_.nodes.push_back(std::move(node));
  }

  const GenerateOptions& o_;
  FabricPlan plan_;
  ClusterLayout layout_;
  std::vector<std::int64_t> type_end_;  // first node after those of the type
};

}  // namespace

std::vector<std::string> all_gpu_types() {
  std::vector<std::string> types;
  for (const TypeData& data : kTypes) types.emplace_back(data.id);
  return types;
}

std::string known_gpu_types() { return fmt::format("{}", fmt::join(all_gpu_types(), ", ")); }

std::int64_t dense_tflops(const std::string& gpu_type) {
  for (const TypeData& data : kTypes) {
    if (gpu_type == data.id) return data.tflops;
  }
  return 1;
}

std::string virtual_cluster_name(std::int32_t index) { return fmt::format("vc{:02}", index); }

std::int32_t ClusterLayout::most_gpus() const { return std::max(1, *std::max_element(type_gpus.begin(), type_gpus.end())); }

std::int64_t ClusterLayout::least_gpu_memory() const {
  std::int64_t least = gpu_types.front().memory_bytes;
  for (const GpuType& type : gpu_types) least = std::min(least, type.memory_bytes);
  return least;
}

ClusterLayout build_layout(const GenerateOptions& options) {
  Fabric fabric = options.fabric;
  if (fabric == Fabric::kAuto) {
    fabric = options.workload != Workload::kLlm ? Fabric::kTree : options.gpus_per_node == 4 ? Fabric::kNvl72 : Fabric::kRail;
  }
  return Builder(options, fabric).build();
}

}  // namespace berth::sim
