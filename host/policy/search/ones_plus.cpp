// ones-plus: prices choose, then whole plans evolve.
//
// Choice      that of `price`, with the places that the scheduling pass finds. Then a population of plans is improved. Steps give one
//             job another shape and make room for it; crossover takes over better parts of the cluster from a parent
//             (docs/ones-plus.md). Values by `objective`, with all `terms` of places except link_load.
// Work        rounds: the start, and each generation.
// Keeps       prices, and the shapes of some of the population.
// Source      ONES (SC'21) has the population of schedules; operators, places in the genome and the partition crossover are ours.
//             Partition crossover: Whitley, Hains, Howe (GECCO'09), of tours.

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/kernel/plan_search/columns.hpp"
#include "host/policy/base/choice_params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings ones_plus_settings(const core::Params& params) {
  core::ChoiceSettings choice = choice_settings("ones-plus", params);
  const Settings settings(core::find_policy("ones-plus").info, params);
  choice.search.population = static_cast<std::int32_t>(settings.integer("population", 1, kernel::kMostPlanSearchPopulation));
  choice.search.islands = static_cast<std::int32_t>(settings.integer("islands", 1, kernel::kMostPlanSearchPopulation));
  choice.search.steps = static_cast<std::int32_t>(settings.integer("steps", 1, kernel::kMostPlanSearchSteps));
  choice.search.migration = static_cast<std::int32_t>(settings.integer("migration", 1, 1'000'000));
  choice.search.generations = static_cast<std::int32_t>(settings.integer("generations", 0, 100'000));
  choice.search.operators = settings.several("operators", {"grow", "make_room", "offer", "crossover", "mutate", "migrate"});
  choice.search.seeds = settings.several("seeds", {"running", "fill", "kept"});
  const std::int32_t n = choice.search.population;
  if (n > 1 && n % 2 != 0) throw InvalidArgument(fmt::format("parameter 'population' of policy 'ones-plus': {} is neither 1 nor even", n));
  if (std::int64_t{n} * choice.search.islands > kernel::kMostPlanSearchPopulation) {
    throw InvalidArgument(fmt::format("ones-plus evolves at most {} individuals; {} islands of {} are more",
                                      kernel::kMostPlanSearchPopulation, choice.search.islands, n));
  }
  return choice;
}

}  // namespace

core::PolicyEntry ones_plus_policy() {
  std::vector<PolicyParam> own{{"population", "4", "individuals of an island: 1, or an even number"},
                               {"islands", "4", "separate populations"},
                               {"steps", "32", "of an individual in a generation"},
                               {"migration", "8", "generations between two in which parents come from the next island"},
                               {"generations", "0", "of a decision; 0: as many as budget and limit of iterations allow, without either 64"},
                               {"seeds", "running", "shapes it begins with besides those of prices: running, fill, kept"},
                               {"operators", "grow,make_room,offer,crossover,mutate,migrate", "by which it searches, separated by commas"}};
  return {.info = {.name = "ones-plus",
                   .rule = "shapes by prices, then whole plans evolve",
                   .source = "ONES (SC'21) extended; ours",
                   .params = with_objective("flow_time", std::move(own), "migration,restart,span")},
          .preemptive = true,
          .choice = ones_plus_settings,
          .work = "round",
          .leaves_idle = "a search may end before it has tried a larger shape"};
}

}  // namespace berth::policy
