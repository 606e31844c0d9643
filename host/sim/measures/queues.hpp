#pragma once

#include <cstdint>
#include <string>

#include "berth/units.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::sim {

/// What a queue of the cluster, with those below it, got and was due (docs/simulation-reference.md, "Measures of queues").
struct QueueFigures {
  std::string name;
  __int128 gpu_us = 0;                 ///< GPU-time that its jobs had
  __int128 guaranteed_gpu_us = 0;      ///< GPU-time of its guarantee, as far as jobs asked for it
  __int128 fair_gpu_us = 0;            ///< GPU-time of its fair share of the cluster
  __int128 borrowed_gpu_us = 0;        ///< GPU-time that its jobs had beyond the guarantee
  __int128 shortfall_gpu_us = 0;       ///< GPU-time of the guarantee that its jobs did not have
  __int128 fair_shortfall_gpu_us = 0;  ///< the same of the fair share
  TimeUs starved_us = 0;               ///< time in which a job waited that was entitled
  std::int64_t reclaims = 0;           ///< starts of entitled jobs
  Distribution reclaim_us;             ///< from when such a job was entitled until it could use its GPUs
  std::int64_t lapsed = 0;             ///< times that a waiting job was entitled no more
  std::int64_t displaced = 0;          ///< times that a job lost its GPUs to an entitled job of another standing
  std::int64_t displaced_for = 0;      ///< times that this happened to any job for one of this queue
  __int128 lost_gpu_us = 0;            ///< GPU-time that its jobs lost by being displaced so
  std::int64_t hours = 0;              ///< those in which its fair share was one GPU-hour at least
  std::int64_t hours_below_half = 0;   ///< of these, those in which its jobs had less than half of it
  std::int64_t worst_hour_ppm = 0;     ///< the least part of it that its jobs had in one of them
};

}  // namespace berth::sim
