// ones-plus: prices choose, then whole plans evolve.
//
// Choice      that of `price`, and the places that the walk finds for it; then a population of plans is improved: steps that give one job
//             another shape and make room for it, and mates that take from one another what is better in a part of the cluster
//             (docs/ones-plus.md). Values by `objective`, with all `terms` of places but link_load.
// Work        rounds: the beginning, and each generation.
// Keeps       prices, and the shapes of some of the population.
// Source      ONES (SC'21) has the population of schedules; operators, places in the genome and the partition crossover are ours. Partition
//             crossover: Whitley, Hains, Howe (GECCO'09), of tours.

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/kernel/plus.hpp"
#include "host/policy/choice_params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings ones_plus_settings(const core::Params& params) {
  core::ChoiceSettings choice = choice_settings("ones-plus", params);
  const Settings settings(core::find_policy("ones-plus").info, params);
  choice.search.population = static_cast<std::int32_t>(settings.integer("population", 1, kernel::kMostPlusPopulation));
  choice.search.islands = static_cast<std::int32_t>(settings.integer("islands", 1, kernel::kMostPlusPopulation));
  choice.search.steps = static_cast<std::int32_t>(settings.integer("steps", 1, kernel::kMostPlusSteps));
  choice.search.migration = static_cast<std::int32_t>(settings.integer("migration", 1, 1'000'000));
  choice.search.generations = static_cast<std::int32_t>(settings.integer("generations", 0, 100'000));
  choice.search.operators = settings.several("operators", {"grow", "make_room", "offer", "mate", "mutate", "migrate"});
  choice.search.seeds = settings.several("seeds", {"running", "greedy", "kept"});
  const std::int32_t n = choice.search.population;
  if (n > 1 && n % 2 != 0) throw InvalidArgument(fmt::format("parameter 'population' of policy 'ones-plus': {} is neither 1 nor even", n));
  if (std::int64_t{n} * choice.search.islands > kernel::kMostPlusPopulation) {
    throw InvalidArgument(fmt::format("ones-plus evolves at most {} individuals; {} islands of {} are more", kernel::kMostPlusPopulation,
                                      choice.search.islands, n));
  }
  return choice;
}

}  // namespace

core::PolicyEntry ones_plus_policy() {
  return {{"ones-plus", "shapes by prices, then whole plans evolve", "ONES (SC'21) extended; ours", "skip", true,
           with_objective("goodput",
                          {{"population", "4", "individuals of an island: 1, or an even number"},
                           {"islands", "4", "populations apart"},
                           {"steps", "32", "of an individual in a generation"},
                           {"migration", "8", "every so many generations mates come from the next island"},
                           {"generations", "0", "of a decision; 0: as many as budget and limit of work allow, without either 64"},
                           {"seeds", "running", "shapes it begins with besides those of prices: running, greedy, kept"},
                           {"operators", "grow,make_room,offer,mate,mutate,migrate", "by which it searches, separated by commas"}},
                          "migration,restart,span")},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          ones_plus_settings,
          nullptr,
          "round"};
}

}  // namespace berth::policy
