// price: shapes by prices.
//
// Choice      each job takes the shape with the highest value minus price. A price per GPU of each type makes the total demand
//             match the supply. Then repair, fill and exchange (docs/prices.md). Values by `objective` (docs/objectives.md).
// Places      running jobs that keep their shape stay; the others are placed by size, largest first.
// Keeps       the prices, with which the next search starts (scalars price/TYPE).
// Source      Lagrangian relaxation; its use for shapes of jobs is ours. Sia (SOSP'23) and Pollux (OSDI'21) have the problem.

#include "host/policy/base/choice_params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings price_settings(const core::Params& params) { return choice_settings("price", params); }

}  // namespace

core::PolicyEntry price_policy() {
  return {.info = {.name = "price",
                   .rule = "shapes by a price for a GPU of each type",
                   .source = "Lagrangian relaxation; ours",
                   .params = with_objective("flow_time")},
          .preemptive = true,
          .choice = price_settings};
}

}  // namespace berth::policy
