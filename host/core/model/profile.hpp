#pragma once

#include <cstdint>
#include <string_view>

#include "berth/job.hpp"

/// Speed of a job in a shape on a part of the cluster, in whole millionths of its profile's unit per second.
/// docs/profiles.md states every formula. Integers throughout; the same result on every machine.
namespace berth::core {

/// Locality of a gang, as far as its speed depends on it.
struct SpanInfo {
  std::string_view gpu_type;
  std::string_view level_name = "node";  // of the switch topology: "node", "rack", ..., "cluster"; the name in RatePoint::span
  std::int32_t level = 0;                // 0: inside one node
  std::int32_t gpus = 0;                 // at work, counted as in Shape::gpus; 0: all GPUs of the shape
  std::int32_t gpus_per_node = 8;        // most GPUs of the gang on one node; bounded by the shape's
  std::int32_t nodes = 0;                // 0: as few as hold the shape
  bool one_nvlink_domain = false;        // all nodes are in one domain of the nvlink topology: no NIC is used
  std::int64_t nvlink_bytes_per_s = 0;   // GpuType's; 0: PCIe
  std::int64_t nic_bytes_per_s = 0;      // all NICs of the worst node together; 0: not limited
  std::int64_t uplink_bytes_per_s = 0;   // lowest one among the domains that the gang leaves; 0: not limited
  std::int64_t latency_ns = 0;           // stated latencies of the switches on the way, summed
};

/// The rate of the job in `shape` over `span`, counting GPU shares, with as many GPUs at work as the span states.
///
/// A rate written in the shape takes precedence, in proportion where only a part of its GPUs is at work; else the
/// profile gives it. @returns at least 1, or 0: not known, or the shape does not fit the span (more than one node at
/// level 0).
std::int64_t profile_rate(const Job& job, const Shape& shape, const SpanInfo& span);

/// The rate in `shape` on that GPU type if communication took no time; 0: the profile does not model it apart.
std::int64_t computing_rate(const Job& job, const Shape& shape, std::string_view gpu_type);

/// Whether the rate of a shape of the job may depend on the places of its GPUs. O(points of the profile).
bool depends_on_place(const Job& job);

/// Nanoseconds of one step of the job in `shape` over `span`; 0: not known, for example where work is counted in
/// seconds and no step is modelled.
std::int64_t step_ns(const Job& job, const Shape& shape, const SpanInfo& span);

/// Nanoseconds that the gradient all-reduce of one step takes in `shape` over `span`.
std::int64_t all_reduce_ns(const Job& job, const Shape& shape, const SpanInfo& span);

}  // namespace berth::core
