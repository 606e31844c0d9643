#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

namespace berth::kernel {

/// A stop token that never stops, for computations that must be reproducible.
struct NeverStop {
  BERTH_HD bool stop() { return false; }
  BERTH_HD bool stop(std::int32_t) { return false; }
};

}  // namespace berth::kernel
