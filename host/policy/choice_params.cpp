#include "host/policy/choice_params.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "host/core/plan_terms.hpp"

namespace berth::policy {

std::vector<PolicyParam> with_objective(const char* objective, std::vector<PolicyParam> own) {
  own.push_back({"objective", objective, "what the plan is worth: cost, finish_time_fairness, goodput, jct, sia, sruf, throughput"});
  own.push_back({"power", "-1", "goodput: exponent of the power mean: -1, -0.5, 0.5, 1"});
  own.push_back({"horizon_s", "3600", "for so long a choice is expected to stand: what a change costs is spread over it"});
  own.push_back({"terms", "restart",
                 "what else counts, separated by commas, or none: fragmentation, link_load, migration, restart, span, tardiness"});
  return with_search(std::move(own));
}

std::vector<PolicyParam> with_search(std::vector<PolicyParam> own) {
  own.push_back({"gap", "0.0001", "good enough: the part of the bound that may be missing"});
  own.push_back({"evaluations", "200", "of prices at most"});
  return with_packing(std::move(own));
}

void read_search(const Settings& settings, core::ChoiceSettings& choice) {
  choice.gap_ppm = settings.millionths("gap", 0, 1'000'000);
  choice.most_evaluations = static_cast<std::int32_t>(settings.integer("evaluations", 1, 1'000'000));
}

core::ChoiceSettings choice_settings(const char* policy, const core::Params& params) {
  const Settings settings(core::find_policy(policy).info, params);
  core::ChoiceSettings choice;
  constexpr kernel::Objective kByName[] = {kernel::Objective::kCost,      kernel::Objective::kFinishTimeFairness,
                                           kernel::Objective::kGoodput,   kernel::Objective::kJct,
                                           kernel::Objective::kSia,       kernel::Objective::kSruf,
                                           kernel::Objective::kThroughput};
  choice.objective = kByName[settings.choice("objective", {"cost", "finish_time_fairness", "goodput", "jct", "sia", "sruf", "throughput"})];
  choice.power = static_cast<kernel::Power>(settings.choice("power", {"-1", "-0.5", "0.5", "1"}));
  choice.horizon = settings.millionths("horizon_s", 1, std::int64_t{1'000'000'000} * 1'000'000);
  std::vector<std::string_view> terms;
  for (const core::PlanTermInfo& one : core::plan_terms()) terms.push_back(one.name);
  choice.terms = settings.several("terms", terms);
  read_search(settings, choice);
  return choice;
}

}  // namespace berth::policy
