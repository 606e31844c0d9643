#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/units.hpp"

namespace berth {

/// Raw JSON text of the `x_...` fields of an object. It is kept and written back unchanged.
using Extensions = std::vector<std::pair<std::string, std::string>>;

/// Independent trees over the same nodes. `kSwitch` is the default one.
enum class TopologyKind : std::uint8_t { kSwitch, kNvlink, kPower, kFault, kSite };
inline constexpr int kTopologyKinds = 5;

/// One way to partition a GPU by MIG.
struct MigLayout {
  std::string name;
  std::vector<std::string> profiles;  ///< slices, for example {"3g.40gb", "3g.40gb"}
  bool operator==(const MigLayout&) const = default;
};

struct GpuType {
  std::string id;
  std::int64_t memory_bytes = 0;          ///< 0: not known, and no job is rejected because of it
  std::int64_t nvlink_bytes_per_s = 0;    ///< per GPU and direction; 0: none
  std::int64_t power_mw = 0;              ///< milliwatts at full load
  std::int64_t price_micro_per_hour = 0;  ///< millionths of the currency per GPU-hour
  std::vector<MigLayout> mig_layouts;
  Extensions x;
  bool operator==(const GpuType&) const = default;
};

/// One domain of one topology. Its key is `parent + "/" + id`: labels are unique only within a parent.
struct Domain {
  std::string id;  ///< no '/'
  TopologyKind topology = TopologyKind::kSwitch;
  std::string level;                    ///< for example "rack", "pod"; not "node", not "cluster"
  std::string parent;                   ///< full path of the parent, empty for a root
  std::int64_t uplink_bytes_per_s = 0;  ///< switches only; 0: not limited
  TimeUs latency_us = 0;
  std::int64_t oversubscription_ppm = 1'000'000;  ///< 1,000,000 = none
  std::int32_t spine_count = 0;
  Extensions x;
  bool operator==(const Domain&) const = default;
};

/// Jobs start only on kReady nodes; kSpare nodes only take replacements of gang repair.
enum class NodeState : std::uint8_t { kReady, kDrain, kFailed, kSpare, kReleasing };
enum class GpuState : std::uint8_t { kOk, kFailed, kReleasing };

/// One GPU of a node. A releasing GPU accepts no new jobs; a running job that holds it stays.
struct Gpu {
  std::int32_t index = 0;
  GpuState state = GpuState::kOk;
  TimeUs free_at_us = kNever;     ///< when a releasing GPU is expected to become free
  std::int32_t inner_group = -1;  ///< sub-node level (a socket, an NVLink pair); -1: none
  bool operator==(const Gpu&) const = default;
};

struct Node {
  std::string id;
  std::string gpu_type;
  std::int32_t gpus = 0;                           ///< 0..kMaxGpusPerNode
  std::vector<Gpu> gpu_list;                       ///< empty: all GPUs are `kOk` and have no inner groups
  std::array<std::string, kTopologyKinds> domain;  ///< full path in each topology, empty: none
  std::int64_t cpu_milli = kUnlimited;             ///< thousandths of a core; kUnlimited: not modelled
  std::int64_t memory_bytes = kUnlimited;          ///< kUnlimited: not modelled
  std::int32_t nics = 0;
  std::int64_t nic_bytes_per_s = 0;                         ///< per NIC and direction
  std::vector<std::pair<std::string, std::string>> labels;  ///< sorted by key, keys unique
  std::vector<std::string> virtual_clusters;                ///< empty: accepts every job
  bool sharing = false;                                     ///< may host jobs that use a share of a GPU
  NodeState state = NodeState::kReady;
  TimeUs available_from_us = 0;
  TimeUs available_until_us = kNever;
  TimeUs reclaim_notice_us = 0;
  Extensions x;
  bool operator==(const Node&) const = default;
};

/// Limits of a queue for one GPU type. They apply to the queue and its descendants together.
struct Quota {
  std::string gpu_type;                 ///< "*": all types together
  std::int64_t guarantee = 0;           ///< GPUs
  std::int64_t limit = kUnlimited;      ///< GPUs, a hard limit; a share of a GPU counts as its fraction
  std::int64_t borrowing = kUnlimited;  ///< GPUs above the guarantee
  std::int64_t lending = kUnlimited;    ///< GPUs of the guarantee that others below the same parent may use; kUnlimited: all
  bool operator==(const Quota&) const = default;
};

struct Queue {
  std::string id;
  std::string parent;
  std::int64_t weight_ppm = 1'000'000;
  std::vector<Quota> quotas;
  Extensions x;
  bool operator==(const Queue&) const = default;
};

struct DomainRef {
  TopologyKind topology = TopologyKind::kSwitch;
  std::string path;  ///< full path
  bool operator==(const DomainRef&) const = default;
};

/// Nodes that only the named jobs may use within [from, to).
struct Reservation {
  std::string id;
  std::vector<std::string> nodes;
  std::vector<DomainRef> domains;
  TimeUs from_us = 0;
  TimeUs to_us = kNever;
  std::vector<std::string> jobs;
  Extensions x;
  bool operator==(const Reservation&) const = default;
};

}  // namespace berth
