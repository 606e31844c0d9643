#include "host/policy/base/choice_params.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/core/choice/plan_terms.hpp"

namespace berth::policy {
namespace {

template <class Info>
std::vector<std::string_view> names_of(std::span<const Info> all) {
  std::vector<std::string_view> names;
  for (const Info& one : all) names.push_back(one.name);
  return names;
}

}  // namespace

std::vector<PolicyParam> with_objective(const char* objective, std::vector<PolicyParam> own, const char* terms) {
  own.push_back(
      {"objective", objective, fmt::format("how the value of a plan is counted: {}", fmt::join(names_of(core::objectives()), ", "))});
  own.push_back({"power", "-1", "goodput: exponent of the power mean: -1, -0.5, 0.5, 1"});
  own.push_back({"horizon_s", "0", "time over which the cost of a change is spread; 0: 200 under flow_time, else 3600"});
  own.push_back(
      {"terms", terms, fmt::format("what else counts, separated by commas, or none: {}", fmt::join(names_of(core::plan_terms()), ", "))});
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
  choice.objective = core::objectives()[settings.choice("objective", names_of(core::objectives()))].objective;
  choice.power = static_cast<kernel::Power>(settings.choice("power", {"-1", "-0.5", "0.5", "1"}));
  choice.horizon = settings.millionths("horizon_s", 0, std::int64_t{1'000'000'000} * 1'000'000);
  if (choice.horizon == 0) choice.horizon = (choice.objective == kernel::Objective::kFlowTime ? 200 : 3600) * kSecond;
  choice.terms = settings.several("terms", names_of(core::plan_terms()));
  read_search(settings, choice);
  return choice;
}

}  // namespace berth::policy
