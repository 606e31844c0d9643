#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/choice/shape_problem_of.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/stated_figures.hpp"

namespace berth::core {
namespace {

// The proof of a bound: any choice within the capacities has at most the value of the GPUs at these prices plus the
// gain of each job beyond them (docs/prices.md section 2).
Wide bound_at(const kernel::PriceView& c, const std::vector<std::int64_t>& price) {
  Wide bound = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) bound += Wide{price[to_index(t)]} * c.capacity[t];
  for (std::int32_t j = 0; j < c.n_jobs; ++j) {
    Wide most = 0;
    for (std::int32_t k = c.option_begin[j]; k < c.option_begin[j + 1]; ++k) {
      most = std::max(most, Wide{c.value[k]} - Wide{price[to_index(c.type[k])]} * c.gpus[k]);
    }
    bound += most;
  }
  return bound;
}

// A job that is said to be outbid has no shape that adds more objective value than its GPUs cost at these prices.
void check_outbid(const StateImpl& s, const Plan& plan, const ShapeProblem& choice, const std::vector<std::int64_t>& price,
                  Violations& found) {
  for (const Decision& d : plan.decisions) {
    if (d.reason.code != ReasonCode::kOutbid) continue;
    Reason said = choice.outbid_at(d.job, price);
    said.drained = d.reason.drained;  // checked with the evidence
    said.failed = d.reason.failed;
    said.unavailable_nodes = d.reason.unavailable_nodes;
    said.unavailable_on = d.reason.unavailable_on;
    if (said == d.reason) continue;
    found.of(*s.jobs[to_index(d.job)].job, "has the reason outbid, asked {} and best {}; by its values and the prices it is not outbid so",
             d.reason.asked, d.reason.best);
  }
}

// Only policies that try just the chosen options leave a job out like this.
void check_not_chosen(const StateImpl& s, const Plan& plan, const ChosenPolicy& chosen, Violations& found) {
  if (chosen.shapes != nullptr && chosen.shapes->chosen_only()) return;
  for (const Decision& d : plan.decisions) {
    if (d.reason.code == ReasonCode::kNotChosen) {
      found.of(*s.jobs[to_index(d.job)].job, "has the reason not_chosen; policy '{}' tries what it did not choose, too", plan.policy);
    }
  }
}

using Losses = std::vector<std::pair<std::string, std::int64_t>>;

void check_terms(const Losses& said, const Losses& lost, Violations& found) {
  for (std::size_t i = 0; i < std::max(said.size(), lost.size()); ++i) {
    if (i < said.size() && i < lost.size() && said[i] == lost[i]) continue;
    const auto text = [i](const Losses& of) { return i < of.size() ? of[i].first + " " + std::to_string(of[i].second) : "none"; };
    found.add("the bound has the term {}; the plan's places lose {}", text(said), text(lost));
    return;
  }
}

}  // namespace

void check_bound(const StateImpl& s, const Plan& plan, Violations& found) {
  ChosenPolicy chosen;
  try {
    chosen.choose(plan.policy, plan.params);
  } catch (const InvalidArgument&) {
    return;  // reported by the header's check
  }
  check_not_chosen(s, plan, chosen, found);
  const Bound& bound = plan.bound;
  if (bound.objective.empty() != (chosen.policy != nullptr)) {
    found.add("the plan {} a bound; policy '{}' {}", bound.objective.empty() ? "has no" : "has", plan.policy,
              chosen.policy != nullptr ? "has none" : "has one");
    return;
  }
  if (bound.objective.empty()) {
    for (const Decision& d : plan.decisions) {
      if (d.reason.code == ReasonCode::kOutbid) found.of(*s.jobs[to_index(d.job)].job, "has the reason outbid; the plan has no prices");
    }
    return;
  }
  if (bound.objective != objective_name(chosen.choice.objective)) {
    found.add("the bound is of the objective '{}', the policy's is '{}'", bound.objective, objective_name(chosen.choice.objective));
    return;
  }
  std::vector<std::int64_t> price;
  for (const auto& [type, value] : bound.prices) {
    if (price.size() == s.gpu_types.size() || type != s.gpu_types[price.size()].id || value < 0 || value > kernel::kMaxPriceValue + 1) {
      found.add("the bound has the price {} for '{}': there must be one for each GPU type in their order, not negative", value, type);
      return;
    }
    price.push_back(value);
  }
  if (price.size() != s.gpu_types.size()) {
    found.add("the bound has {} of {} prices", price.size(), s.gpu_types.size());
    return;
  }
  ShapeProblem choice = shape_problem_of(s, chosen);
  if (const std::int64_t proved = saturate(bound_at(choice.view(), price) + choice.beyond_at(price)); proved != bound.bound) {
    found.add("the bound is {}; its prices prove {}", bound.bound, proved);
  }
  Losses lost;
  const std::int64_t value = choice.objective_value(s, chosen.choice, plan, lost);
  if (value != bound.value) found.add("the plan states the objective value {}; that of its jobs is {}", bound.value, value);
  check_terms(bound.terms, lost, found);
  check_outbid(s, plan, choice, price, found);
}

}  // namespace berth::core
