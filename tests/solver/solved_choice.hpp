#pragma once

#include <cstdint>

#include "tests/support/choice.hpp"

/// Choices by GLPK: x of each option, at most one per job, GPUs within the capacities.
namespace berth::test {

/// x in {0, 1}. Exact while the values of all jobs add up to less than a million: to GLPK, choices within 1e-7 of their
/// value are equal.
std::int64_t best_choice(const ChoiceProblem& problem);

/// x in [0, 1]: an upper bound of every choice, and a lower bound of every bound by prices. To about 1e-7 of it.
double best_fractional_choice(const ChoiceProblem& problem);

}  // namespace berth::test
