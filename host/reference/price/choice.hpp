#pragma once

#include "host/reference/price/problem.hpp"

/// Section 5 of docs/prices.md.
namespace berth::reference {

/// Index among each job's options; 0 is none.
using Taken = std::vector<std::size_t>;

kernel::Wide value_of(const PricedProblem& problem, const Taken& taken);
bool within_gap(kernel::Wide bound, kernel::Wide value, std::int64_t gap_ppm);

/// Only Repair and Fill, starting with the choice at the centre.
Taken repair(const PricedProblem& problem, const Evaluation& centre);

/// All steps.
Taken choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm, int passes);

}  // namespace berth::reference
