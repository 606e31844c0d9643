#pragma once

#include "host/reference/price_problem.hpp"

/// Section 5 of docs/prices.md.
namespace berth::reference {

/// Index among each job's options; 0 is none.
using Taken = std::vector<std::size_t>;

core::Wide value_of(const PricedProblem& problem, const Taken& taken);
bool within_gap(core::Wide bound, core::Wide value, std::int64_t gap_ppm);

/// Repair and Fill only, beginning with what each job takes at the centre.
Taken mend(const PricedProblem& problem, const Evaluation& centre);

/// All of it.
Taken choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm, int passes);

}  // namespace berth::reference
