#pragma once

#include <cstdint>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/job.hpp"

namespace berth {
class StateImpl;
}

/// Rates of jobs in the state at hand, in millionths of the profile's unit per second; 0: not known.
namespace berth::core {

/// Of one shape on one GPU type, at the tightest span that so many GPUs can have: how alternatives are compared before they are placed.
std::int64_t option_rate(const Job& job, const Shape& shape, const GpuType& type, std::int64_t gpus);
/// Of the shape that the job asks for first: what an estimate of run time refers to.
std::int64_t requested_rate(const Job& job, const std::vector<GpuType>& types);
/// Of a running job where it is.
std::int64_t held_rate(const StateImpl& state, std::int32_t slot);

}  // namespace berth::core
