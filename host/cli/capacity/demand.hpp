#pragma once

#include <cstdint>

#include "host/sim/base/job_source.hpp"

namespace berth::cli {

/// GPUs that jobs ask for, as if each ran at once when it is submitted. A guess at where the search begins.
struct GpuDemand {
  double mean = 0;           ///< from the first submission to the last
  std::int64_t peak = 0;     ///< at most at one instant
  std::int64_t largest = 0;  ///< of one job
  std::int64_t jobs = 0;
};
GpuDemand demand_of(sim::JobSource& jobs);

}  // namespace berth::cli
