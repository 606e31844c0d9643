#pragma once

#include "host/reference/price/problem.hpp"

/// Section 5 of docs/prices.md.
namespace berth::reference {

/// Index among each job's options; 0 is none.
using TakenOptions = std::vector<std::size_t>;

kernel::Wide value_of(const PricedProblem& problem, const TakenOptions& taken);
bool within_gap(kernel::Wide bound, kernel::Wide value, std::int64_t gap_ppm);

/// Only Repair and Fill, starting with the choice at the centre.
TakenOptions repair(const PricedProblem& problem, const Evaluation& centre);

/// All steps.
TakenOptions choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm, int passes);

}  // namespace berth::reference
