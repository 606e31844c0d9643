#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "berth/plan.hpp"

namespace berth::report {

/// A plan, and what it is worth by the objective of the first one.
struct Contender {
  const Plan* plan;
  std::int64_t worth;  // where the first plan has a bound
};

/// Totals side by side, the first plan on the left; where it has a bound, what each plan is worth by its objective and how much less that
/// is than the bound.
std::string contest_text(std::span<const Contender> contenders);

/// berth.contest.v1 (docs/formats/contest.md).
std::string contest_json(std::span<const Contender> contenders);

}  // namespace berth::report
