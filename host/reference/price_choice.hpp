#pragma once

#include "host/reference/price_problem.hpp"

/// Section 5 of docs/prices.md.
namespace berth::reference {

/// What each job takes in the end, beginning with what it takes at the centre: index among its options, 0 is none.
std::vector<std::size_t> choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm);

}  // namespace berth::reference
