#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/traces/importers.hpp"

namespace berth::io {

/// What a virtual cluster of a trace is.
enum class VirtualClusterUse : std::uint8_t {
  kNodes,       ///< it owns nodes, as published
  kGuarantees,  ///< a queue with its GPUs as guarantee
  kLimits,      ///< a queue with its GPUs as guarantee and limit
};
inline constexpr const char* kVirtualClusterUses[] = {"nodes", "guarantees", "limits"};
/// By name. @throws InvalidArgument for any other.
VirtualClusterUse virtual_cluster_use(std::string_view name);

/// Turns virtual clusters into queues of `cluster`: nodes belong to none then, and jobs to the queue of their virtual cluster.
///
/// Virtual clusters have the GPUs of their nodes, if nodes of `cluster` name any. Else they share all of its GPUs in proportion to those
/// that they have in the cluster of the trace's files. Those without nodes get neither guarantee nor limit.
/// @param notes  out: what was assumed
/// @throws InvalidArgument when sizes or names are not known, and where there are queues already.
void make_virtual_clusters_queues(VirtualClusterUse use, Imported& imported, Snapshot& cluster, std::vector<std::string>& notes);

}  // namespace berth::io
