#pragma once

#include <cstdint>
#include <span>

#include "berth/kernel/ones/columns.hpp"

namespace berth::policy {

/// Quantiles 0/64 .. 64/64 of the Beta distribution, in 1/kOnesUnit, so that sampling needs no logarithm.
/// The ends, always 0 and 1, are replaced by the quantiles 1/4096 and 4095/4096.
/// Uses only + - * /, the square root and exact scaling, so that the result is the same on every processor.
/// @param alpha, beta  at least 1; above 10^9 as 10^9
/// @param out  [kOnesQuantiles]
/// Error: at most 1/500 of the distance from the second to the last but one; for the outermost quantiles 1/50.
void beta_quantiles(double alpha, double beta, std::span<std::int32_t> out);

}  // namespace berth::policy
