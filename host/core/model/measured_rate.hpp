#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "berth/job.hpp"

namespace berth::core {

/// A rate observed at a GPU count.
struct Seen {
  std::int32_t gpus;
  std::int64_t rate;  // millionths of the unit per second
};

/// Piecewise linear through (0, 0) and the observed counts; beyond the largest along the last segment. At least 1 (a
/// falling segment may extrapolate to 0 or less), 0 without observations. After ONES (SC'21 artifact).
/// @param seen  Ascending in GPUs, all >= 1, no repeats.
std::int64_t interpolated_rate(std::span<const Seen> seen, std::int32_t gpus);

/// The rate of a job with a measured table: the mean of the last five observations at a GPU count, or else the most
/// specific point of the table, interpolated to `gpus`. 0: the table has nothing for this GPU type, batch and span.
std::int64_t measured_rate(const Job& job, const Shape& shape, std::int32_t gpus, std::string_view gpu_type, std::string_view span);

}  // namespace berth::core
