#pragma once

#include <span>

#include "host/core/backend.hpp"

namespace berth::cpu {

/// Choices of shapes (docs/prices.md), each on one of so many threads; their number does not change the answers.
void choose(std::span<const core::ChoiceTask> tasks, std::span<const kernel::ChoiceResult> results, int threads);

}  // namespace berth::cpu
