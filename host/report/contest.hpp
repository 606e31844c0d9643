#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "berth/plan.hpp"

namespace berth::report {

/// A plan, and its objective value by the objective of the first one.
struct Contender {
  const Plan* plan;
  std::int64_t value;  // where the first plan has a bound
};

/// Compares totals, the first plan on the left. Where it has a bound, also the objective values of all plans and their
/// gaps to the bound.
std::string contest_text(std::span<const Contender> contenders);

}  // namespace berth::report
