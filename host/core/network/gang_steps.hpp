#pragma once

#include <cstdint>
#include <span>

#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "host/core/network/shared_steps.hpp"
#include "host/core/network/traffic.hpp"

namespace berth::core {

/// A step of a placed gang that runs alone, as its profile describes it.
struct GangStep {
  std::int64_t ns = 0;  ///< 0: not known
  std::int64_t exposed_ppm = 0;
  std::int64_t included_ns = SharedSteps::kAlone;  ///< see SharedSteps::add
};
GangStep gang_step(const StateView& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

}  // namespace berth::core
