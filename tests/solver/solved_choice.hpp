#pragma once

#include <cstdint>

#include "tests/support/choice.hpp"

/// Choices by GLPK: x of each option, at most one of a job, GPUs within the capacities.
namespace berth::test {

/// x in {0, 1}. Exact while the values of all jobs add up to less than a million: GLPK calls choices equal that differ by less than 1e-7
/// of their value.
std::int64_t best_choice(const ChoiceProblem& problem);

/// x in [0, 1]: no choice is worth more, nor is any bound by prices less. To about 1e-7 of it.
double best_fractional_choice(const ChoiceProblem& problem);

}  // namespace berth::test
