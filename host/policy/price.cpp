// price: shapes by prices.
//
// Choice      a price for a GPU of each type, so that jobs that each take the shape that is worth most beyond its price ask for what there
//             is; then repair, fill and exchange (docs/prices.md). Values by `objective` (docs/objectives.md).
// Places      running jobs whose shape is not to change stay; the others are placed by size, the largest first.
// Keeps       the prices, with which the next search begins (scalars price/TYPE).
// Source      Lagrangian relaxation; the use for shapes of jobs is ours. Sia (SOSP'23) and Pollux (OSDI'21) have the problem.

#include "host/core/objective.hpp"
#include "host/core/policy.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

core::ChoiceSettings price_settings(const core::Params& params) {
  const Settings settings(core::find_policy("price").info, params);
  core::ChoiceSettings choice;
  constexpr kernel::Objective kByName[] = {kernel::Objective::kCost,    kernel::Objective::kFinishTimeFairness,
                                           kernel::Objective::kGoodput, kernel::Objective::kJct,
                                           kernel::Objective::kSruf,    kernel::Objective::kThroughput};
  choice.objective = kByName[settings.choice("objective", {"cost", "finish_time_fairness", "goodput", "jct", "sruf", "throughput"})];
  choice.power = static_cast<kernel::Power>(settings.choice("power", {"-1", "-0.5", "0.5", "1"}));
  choice.horizon = settings.millionths("horizon_s", 1, std::int64_t{1'000'000'000} * 1'000'000);
  choice.gap_ppm = settings.millionths("gap", 0, 1'000'000);
  choice.most_evaluations = static_cast<std::int32_t>(settings.integer("evaluations", 1, 1'000'000));
  return choice;
}

}  // namespace

core::PolicyEntry price_policy() {
  return {{"price", "shapes by a price for a GPU of each type", "Lagrangian relaxation; ours", "skip", true,
           with_packing({{"objective", "goodput", "what the plan is worth: cost, finish_time_fairness, goodput, jct, sruf, throughput"},
                         {"power", "-1", "goodput: exponent of the power mean: -1, -0.5, 0.5, 1"},
                         {"horizon_s", "3600", "for so long a choice is expected to stand: what a change costs is spread over it"},
                         {"gap", "0.0001", "good enough: the part of the bound that may be missing"},
                         {"evaluations", "200", "of prices at most"}})},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          price_settings};
}

}  // namespace berth::policy
