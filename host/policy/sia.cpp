// sia: Sia's programme, solved by prices.
//
// Objective   `sia` (docs/objectives.md): lambda - round(G^-0.5, 2) for each job that runs, lambda = 1.1, G its goodput over the least of
//             its shapes, whether or not they fit now, restarts counted by age. Sia minimises the sum of round(G^-0.5, 2) and of lambda for
//             each job that waits: the same.
// Shapes      of each GPU type a power of two inside a node, or whole nodes; at most twice the GPUs that the job has now, or that its rates
//             were seen on before it had to wait; a new job has its smallest shape (host/core/sia_shapes.hpp).
// Choice      prices, as `price` (docs/prices.md), in place of a solver of integer programmes: within the bound's distance of its optimum.
// Rounds      Sia decides every minute. Here a round is a decision, made when it is asked for.
// Keeps       the prices. Age and restarts stand in the state.
// Source      Sia (SOSP'23); its public artifact has lambda, the exponent, the rounding, the cut at 3000 and the factor of restarts. The
//             cost of a change is the job's own, not 30 s where nothing is stated. Its bootstrap of rates across GPU types is not here.

#include "host/policy/choice_params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings sia_settings(const core::Params& params) {
  core::ChoiceSettings choice;
  choice.objective = kernel::Objective::kSia;
  choice.sia_shapes = true;
  read_search(Settings(core::find_policy("sia").info, params), choice);
  return choice;
}

}  // namespace

core::PolicyEntry sia_policy() {
  return {{"sia", "sum of goodput over the least, to the power -0.5, at most twice the GPUs a round", "Sia (SOSP'23), by prices", "skip",
           true, with_search()},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          sia_settings};
}

}  // namespace berth::policy
