#pragma once

#include <span>

#include "host/backend/backend.hpp"

namespace berth::cpu {

/// Runs choices of shapes (docs/prices.md), each on one thread. The number of threads does not change the answers.
void price(std::span<const core::PriceTask> tasks, std::span<const kernel::PriceResult> results, int threads);

}  // namespace berth::cpu
