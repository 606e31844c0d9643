#pragma once

#include <cstdint>
#include <span>

#include "berth/job.hpp"
#include "host/core/model/members_at_work.hpp"

namespace berth {
class StateImpl;
}

/// Latency of communication between nodes (docs/traffic.md).
namespace berth::core {

/// One hop among these nodes, which are ascending, by the level that they span; 0 for one node. O(nodes * levels).
std::int64_t hop_ns(const StateImpl& state, std::span<const NodeMembers> nodes);

/// Hops one after the other of an algorithm among n nodes. O(1).
std::int64_t hop_count(CommAlgorithm algorithm, std::int64_t n);

}  // namespace berth::core
