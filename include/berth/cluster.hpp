#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/units.hpp"

namespace berth {

/// Raw JSON text of the `x_...` fields of an object, kept and written back as they came.
using Extensions = std::vector<std::pair<std::string, std::string>>;

/// Independent trees over the same nodes. `kSwitch` is the default one.
enum class Facet : std::uint8_t { kSwitch, kNvlink, kPower, kFault, kSite };
inline constexpr int kFacets = 5;

struct MigLayout {
  std::string name;
  std::vector<std::string> profiles;  ///< slices, for example {"3g.40gb", "3g.40gb"}
  bool operator==(const MigLayout&) const = default;
};

struct GpuType {
  std::string id;
  std::int64_t memory_bytes = 0;          ///< 0: not known, then no job is refused for it
  std::int64_t nvlink_bytes_per_s = 0;    ///< per GPU and direction; 0: none
  std::int64_t power_mw = 0;              ///< milliwatts at full load
  std::int64_t price_micro_per_hour = 0;  ///< millionths of the currency per GPU-hour
  std::vector<MigLayout> mig_layouts;
  Extensions x;
  bool operator==(const GpuType&) const = default;
};

/// One domain of one facet. Its key is `parent + "/" + id`: labels are unique only within a parent.
struct Domain {
  std::string id;  ///< no '/'
  Facet facet = Facet::kSwitch;
  std::string level;                    ///< for example "rack", "pod"; not "node", not "cluster"
  std::string parent;                   ///< full path of the parent, empty for a root
  std::int64_t uplink_bytes_per_s = 0;  ///< switches only; 0: not limited
  TimeUs latency_us = 0;
  std::int64_t oversubscription_ppm = 1'000'000;  ///< 1,000,000 = none
  std::int32_t spine_count = 0;
  Extensions x;
  bool operator==(const Domain&) const = default;
};

enum class NodeState : std::uint8_t { kReady, kDrain, kFailed, kSpare, kReleasing };
enum class GpuState : std::uint8_t { kOk, kFailed, kReleasing };

struct Gpu {
  std::int32_t index = 0;
  GpuState state = GpuState::kOk;
  TimeUs free_at_us = kNever;     ///< when a releasing GPU is expected back
  std::int32_t inner_group = -1;  ///< sub-node level (a socket, an NVLink pair); -1: none
  bool operator==(const Gpu&) const = default;
};

struct Node {
  std::string id;
  std::string gpu_type;
  std::int32_t gpus = 0;                    ///< 0..kMaxGpusPerNode
  std::vector<Gpu> gpu_list;                ///< empty: all `kOk`, no inner groups
  std::array<std::string, kFacets> domain;  ///< full path in each facet, empty: none
  std::int64_t cpu_milli = kUnlimited;      ///< thousandths of a core; kUnlimited: not modelled
  std::int64_t memory_bytes = kUnlimited;   ///< kUnlimited: not modelled
  std::int32_t nics = 0;
  std::int64_t nic_bytes_per_s = 0;                         ///< per NIC and direction
  std::vector<std::pair<std::string, std::string>> labels;  ///< sorted by key, keys unique
  std::vector<std::string> virtual_clusters;                ///< empty: serves every job
  bool sharing = false;                                     ///< may host shares of GPUs
  NodeState state = NodeState::kReady;
  TimeUs available_from_us = 0;
  TimeUs available_until_us = kNever;
  TimeUs reclaim_notice_us = 0;
  Extensions x;
  bool operator==(const Node&) const = default;
};

struct Quota {
  std::string gpu_type;                 ///< "*": all types together
  std::int64_t guarantee = 0;           ///< GPUs
  std::int64_t limit = kUnlimited;      ///< GPUs, never exceeded; a share of a GPU counts as its part
  std::int64_t borrowing = kUnlimited;  ///< GPUs above the guarantee
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
  Facet facet = Facet::kSwitch;
  std::string path;  ///< full path
  bool operator==(const DomainRef&) const = default;
};

/// Nodes kept for the named jobs within [from, to).
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
