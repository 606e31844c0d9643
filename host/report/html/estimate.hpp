#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace berth::report {

/// The mean of values of runs with different seeds, and how far it may be from the mean of all seeds.
struct MeanEstimate {
  std::int64_t runs = 0;
  std::int64_t mean = 0;       ///< rounded to the next integer, half away from zero
  std::optional<double> half;  ///< half of the 95 % interval (Student's t); absent for fewer than two runs
};

MeanEstimate estimate_of(std::span<const std::int64_t> values);

}  // namespace berth::report
