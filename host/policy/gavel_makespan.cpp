// gavel-makespan: shares of the time so that the last job ends as early as can be, given in rounds.
//
// Shares      the least of speed / time left is as great as can be: docs/shares.md.
// Rounds      as gavel-las.
// Source      Gavel (OSDI'20): minimum makespan.

#include "host/policy/choice_params.hpp"
#include "host/policy/gavel_shapes.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings gavel_makespan_settings(const core::Params& params) { return choice_settings("gavel-makespan", params); }
std::unique_ptr<core::ShapePolicy> gavel_makespan_shapes(const core::Params& params) {
  return gavel_shapes("gavel-makespan", FairBy::kRunTime, params);
}

}  // namespace

core::PolicyEntry gavel_makespan_policy() {
  return {{"gavel-makespan", "last end as early as can be, in rounds", "Gavel (OSDI'20)", "skip", true, gavel_params()},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          gavel_makespan_settings,
          gavel_makespan_shapes};
}

}  // namespace berth::policy
