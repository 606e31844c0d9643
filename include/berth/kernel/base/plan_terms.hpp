#pragma once

#include <cstdint>

#include "berth/kernel/base/wide.hpp"
#include "berth/units.hpp"

/// Terms of a plan's objective value besides the sum over its shapes. They are optional and integer.
/// docs/objectives.md has the formulas and sources.
namespace berth::kernel {

/// In the order of their names.
enum class PlanTerm : std::int32_t { kFragmentation, kLinkLoad, kMigration, kRestart, kSpan, kTardiness };
inline constexpr std::int32_t kPlanTerms = 6;

/// A set of PlanTerms: bit 1 << term.
using PlanTermSet = std::uint32_t;

BERTH_HD constexpr bool has_term(PlanTermSet set, PlanTerm term) { return (set >> static_cast<std::int32_t>(term) & 1U) != 0; }

/// Fraction of time for which a gang needs a link, in millionths.
/// @param bytes        sent over the link in one step
/// @param bytes_per_s  >= 1, of the link
/// @param step_ns      >= 1, of a step when no other gang uses the link
BERTH_HD constexpr std::int64_t link_use(std::int64_t bytes, std::int64_t bytes_per_s, std::int64_t step_ns) {
  return mul_div(mul_div(bytes, 1'000'000'000, bytes_per_s), 1'000'000, step_ns);
}

/// The speed of a gang whose busiest link is needed for `load` millionths of the time by all gangs together.
BERTH_HD constexpr std::int64_t slowed(std::int64_t speed, std::int64_t load) {
  return load <= 1'000'000 ? speed : mul_div(speed, 1'000'000, load);
}

/// GPUs of a node, in millionths, that jobs are expected to be unable to use (FGD, ATC'23).
/// @param larger_ppm  [0 .. idle]: millionths of the jobs that need more GPUs of one node than the index
BERTH_HD constexpr std::int64_t fragmented(std::int32_t idle, const std::int64_t* larger_ppm) { return idle * larger_ppm[idle]; }

/// Lateness that running now avoids, compared with waiting for a horizon first: a time of at most the horizon.
/// @param late_if_waiting  >= 0
/// @param due              from now on
/// @param end              from now on
BERTH_HD constexpr TimeUs lateness_avoided(TimeUs horizon, TimeUs late_if_waiting, TimeUs due, TimeUs end) {
  const TimeUs late = end > due ? saturating_add(end, -due) : 0;
  const TimeUs avoided = late_if_waiting > late ? late_if_waiting - late : 0;
  return avoided < horizon ? avoided : horizon;
}

}  // namespace berth::kernel
