#pragma once

#include <cstdint>
#include <span>

#include "berth/cluster.hpp"
#include "berth/plan.hpp"
#include "host/core/model/profile.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Of all its NICs together, bytes per second; 0: not limited.
std::int64_t nic_bandwidth(const Node& node);

/// The tightest span of N GPUs of a type, free or not: how alternatives are compared before placement.
SpanInfo tightest_span(const StateImpl& state, std::int32_t gpu_type, std::int64_t gpus);

/// The span of a placed gang's members at work.
SpanInfo span_of(const StateImpl& state, const Shape& shape, std::span<const PlanEntry> entries);

}  // namespace berth::core
