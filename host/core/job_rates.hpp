#pragma once

#include <cstdint>
#include <span>

#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "host/core/profile.hpp"

namespace berth {
class StateImpl;
}

/// Rates of jobs in the state at hand, in millionths of the profile's unit per second; 0: not known.
namespace berth::core {

/// Of one shape on one GPU type, at the tightest span that its GPUs can have: how alternatives are compared before they are placed.
/// `at_work`: GPUs as Shape::gpus counts them, without spares; fewer in the smallest form of an elastic gang.
std::int64_t option_rate(const StateImpl& state, const Job& job, const Shape& shape, std::int32_t gpu_type, std::int32_t at_work);
/// Of the shape that the job asks for first: what an estimate of run time refers to.
std::int64_t requested_rate(const StateImpl& state, const Job& job);
/// Of a gang where it lies, by the members that it has there.
std::int64_t placed_rate(const StateImpl& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

/// Where a gang lies, and the time that a step takes there.
struct PlacedStep {
  SpanInfo span;
  std::int64_t ns;  // 0: not known
};
PlacedStep placed_step(const StateImpl& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

}  // namespace berth::core
