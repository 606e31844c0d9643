#include "host/report/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "host/report/policy_text.hpp"
#include "host/report/totals.hpp"

namespace berth::report {
namespace {

std::string missing(const Bound& bound, std::int64_t value) {
  return bound.bound <= 0 || value < 0 ? "-"
                                       : fmt::format("{:.3f} %", 100 * (1 - static_cast<double>(value) / static_cast<double>(bound.bound)));
}

// With its parameters, where another plan uses the same policy.
std::string name_of(const Contender& one, std::span<const Contender> all) {
  const auto is_same = [&](const Contender& other) { return other.plan->policy == one.plan->policy; };
  return std::count_if(all.begin(), all.end(), is_same) < 2 ? one.plan->policy : policy_text(one.plan->policy, one.plan->params);
}

}  // namespace

std::string contest_text(std::span<const Contender> contenders) {
  const Bound& bound = contenders.front().plan->bound;
  const bool valued = !bound.objective.empty();
  std::string text = valued ? fmt::format("{}: upper bound {}\n\n", bound.objective, bound.bound) : std::string();
  std::vector<std::size_t> width;
  for (const Contender& one : contenders) {
    width.push_back(std::max({std::size_t{9}, name_of(one, contenders).size(), valued ? fmt::format("{}", one.value).size() : 0}));
  }
  const auto row = [&](const char* name, const auto& cell) {
    text += fmt::format("{:<10}", name);
    for (std::size_t i = 0; i < contenders.size(); ++i) text += fmt::format(" {:>{}}", cell(contenders[i]), width[i]);
    text += '\n';
  };
  row("", [&](const Contender& one) { return name_of(one, contenders); });
  if (valued) {
    row("value", [](const Contender& one) { return one.value; });
    row("gap", [&](const Contender& one) { return missing(bound, one.value); });
  }
  for (const Total& total : kTotals) {
    row(total.name, [&](const Contender& one) { return one.plan->totals.*total.field; });
  }
  return text;
}

}  // namespace berth::report
