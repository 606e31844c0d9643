#pragma once

#include <cstdint>
#include <span>

#include "berth/kernel/ones.hpp"

namespace berth::policy {

/// Quantiles 0/64 .. 64/64 of the Beta distribution, for drawing from it without a logarithm: in 1/kOnesUnit. The ends, which are 0 and 1
/// for all, are the quantiles 1/4096 and 4095/4096. Computed by + - * /, the square root and exact scaling alone, so that they are the same
/// on every processor.
/// @param alpha, beta  at least 1; beyond 10^9 as 10^9
/// @param out  [kOnesQuantiles]
/// Error: at most 1/500 of the distance from the second to the last but one, of the outermost 1/50.
void beta_quantiles(double alpha, double beta, std::span<std::int32_t> out);

}  // namespace berth::policy
