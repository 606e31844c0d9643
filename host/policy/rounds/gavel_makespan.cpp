// gavel-makespan: shares of time so that the last job ends as early as possible, given in rounds.
//
// Shares      maximise the smallest speed / remaining time: docs/shares.md.
// Rounds      as gavel-las.
// Source      Gavel (OSDI'20): minimum makespan.

#include "host/policy/rounds/gavel_shapes.hpp"

namespace berth::policy {
namespace {

constexpr GavelRule kMakespan{"gavel-makespan", "last end as early as can be, in rounds", FairBy::kRunTime};

}  // namespace

core::PolicyEntry gavel_makespan_policy() { return gavel_entry<kMakespan>(); }

}  // namespace berth::policy
