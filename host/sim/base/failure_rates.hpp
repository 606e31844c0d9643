#pragma once

#include <cstdint>

#include "berth/units.hpp"

namespace berth::sim {

/// Random failures. Times between them are exponentially distributed with these means; 0: no such failure.
struct FailureRates {
  TimeUs node_us = 0;       ///< of a node that is up
  TimeUs gpu_us = 0;        ///< of a GPU of such a node
  TimeUs repair_us = 0;     ///< time until a failed node or GPU returns; 0: never
  TimeUs crash_gpu_us = 0;  ///< GPU-time of a job between crashes: it waits again and continues from its saved work
  TimeUs kill_gpu_us = 0;   ///< GPU-time of a job until its user cancels it
  bool any() const { return node_us > 0 || gpu_us > 0 || crash_gpu_us > 0 || kill_gpu_us > 0; }
};

}  // namespace berth::sim
