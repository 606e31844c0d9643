// sia: the program of Sia, solved by prices.
//
// Objective   `sia` (docs/objectives.md): lambda - round(G^-0.5, 2) for each running job, lambda = 1.1. G is its goodput over the least
//             of its shapes, whether or not they fit now, with restarts counted by age. Sia minimises the sum of round(G^-0.5, 2),
//             plus lambda for each waiting job, which is equivalent.
// Shapes      per GPU type a power of two inside a node, or whole nodes; at most twice the GPUs that the job has now, or that its
//             rates were seen on before it had to wait. A new job has its smallest shape
//             (host/core/policy_api/sia_shapes.hpp).
// Choice      prices, as `price` (docs/prices.md), instead of a solver of integer programs: within the bound's gap of its optimum.
// Rounds      Sia decides every minute. Here a round is a decision, made on request.
// Keeps       the prices. Age and restarts are in the state.
// Source      Sia (SOSP'23); its public artifact has lambda, the exponent, the rounding, the cut at 3000 and the factor of restarts.
//             The cost of a change is the job's own, not 30 s where nothing is stated. Missing: its bootstrap of rates across GPU
//             types.

#include "host/policy/base/choice_params.hpp"

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
  return {.info = {.name = "sia",
                   .rule = "sum of goodput over the least, to the power -0.5, at most twice the GPUs a round",
                   .source = "Sia (SOSP'23), by prices",
                   .params = with_search()},
          .preemptive = true,
          .choice = sia_settings,
          .leaves_idle = "a job gets at most twice its GPUs a round, and a new one its smallest shape"};
}

}  // namespace berth::policy
