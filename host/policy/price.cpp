// price: shapes by prices.
//
// Choice      a price for a GPU of each type, so that jobs that each take the shape that is worth most beyond its price ask for what there
//             is; then repair, fill and exchange (docs/prices.md). Values by `objective` (docs/objectives.md).
// Places      running jobs whose shape is not to change stay; the others are placed by size, the largest first.
// Keeps       the prices, with which the next search begins (scalars price/TYPE).
// Source      Lagrangian relaxation; the use for shapes of jobs is ours. Sia (SOSP'23) and Pollux (OSDI'21) have the problem.

#include "host/policy/choice_params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings price_settings(const core::Params& params) { return choice_settings("price", params); }

}  // namespace

core::PolicyEntry price_policy() {
  return {{"price", "shapes by a price for a GPU of each type", "Lagrangian relaxation; ours", "skip", true, with_objective("goodput")},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          price_settings};
}

}  // namespace berth::policy
