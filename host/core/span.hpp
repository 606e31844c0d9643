#pragma once

#include <cstdint>
#include <span>

#include "berth/plan.hpp"
#include "host/core/profile.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The tightest span that so many GPUs of a type can have, whatever is free: how alternatives compare before they are placed.
SpanInfo tightest_span(const StateImpl& state, std::int32_t gpu_type, std::int64_t gpus);

/// The span of a placed gang.
SpanInfo span_of(const StateImpl& state, std::span<const PlanEntry> entries);

}  // namespace berth::core
