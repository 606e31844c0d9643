#include <algorithm>

#include "host/core/at.hpp"
#include "host/core/choice_look.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/stated_figures.hpp"
#include "host/core/wide.hpp"

namespace berth::core {
namespace {

// The proof of a bound: whatever is chosen within the capacities, its value is at most the value of the GPUs at these prices and what
// each job can gain beyond them (docs/prices.md section 2).
Wide bound_at(const kernel::ChoiceView& c, const std::vector<std::int64_t>& price) {
  Wide bound = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) bound += Wide{price[at(t)]} * c.capacity[t];
  for (std::int32_t j = 0; j < c.n_jobs; ++j) {
    Wide most = 0;
    for (std::int32_t k = c.option_begin[j]; k < c.option_begin[j + 1]; ++k) {
      most = std::max(most, Wide{c.value[k]} - Wide{price[at(c.type[k])]} * c.gpus[k]);
    }
    bound += most;
  }
  return bound;
}

// Who is said to be outbid has no shape that is worth more to it than these prices.
void check_outbid(const StateImpl& s, const Plan& plan, const ShapeChoice& choice, const std::vector<std::int64_t>& price,
                  Violations& found) {
  for (const Decision& d : plan.decisions) {
    if (d.reason.code != ReasonCode::kOutbid || choice.outbid_at(d.job, price) == d.reason) continue;
    found.of(*s.jobs[at(d.job)].job, "has the reason outbid, asked {} and best {}; by its values and the prices it is not outbid so",
             d.reason.asked, d.reason.best);
  }
}

// Only policies that try nothing but what they chose leave a job out so.
void check_not_chosen(const StateImpl& s, const Plan& plan, const ChosenPolicy& chosen, Violations& found) {
  if (chosen.shapes != nullptr && chosen.shapes->chosen_only()) return;
  for (const Decision& d : plan.decisions) {
    if (d.reason.code == ReasonCode::kNotChosen) {
      found.of(*s.jobs[at(d.job)].job, "has the reason not_chosen; policy '{}' tries what it did not choose, too", plan.policy);
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
    return;  // told by the header's check
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
      if (d.reason.code == ReasonCode::kOutbid) found.of(*s.jobs[at(d.job)].job, "has the reason outbid; the plan has no prices");
    }
    return;
  }
  if (bound.objective != objective_name(chosen.choice.objective)) {
    found.add("the bound is of the objective '{}', the policy's is '{}'", bound.objective, objective_name(chosen.choice.objective));
    return;
  }
  std::vector<std::int64_t> price;
  for (const auto& [type, value] : bound.prices) {
    if (price.size() == s.gpu_types.size() || type != s.gpu_types[price.size()].id || value < 0 || value > kernel::kMaxChoiceValue + 1) {
      found.add("the bound has the price {} for '{}': there must be one for each GPU type in their order, not negative", value, type);
      return;
    }
    price.push_back(value);
  }
  if (price.size() != s.gpu_types.size()) {
    found.add("the bound has {} of {} prices", price.size(), s.gpu_types.size());
    return;
  }
  ShapeChoice choice = look_at_choice(s, chosen);
  if (const std::int64_t proved = saturate(bound_at(choice.view(), price) + choice.beyond_at(price)); proved != bound.bound) {
    found.add("the bound is {}; its prices prove {}", bound.bound, proved);
  }
  Losses lost;
  const std::int64_t worth = choice.worth_of(s, chosen.choice, plan, lost);
  if (worth != bound.value) found.add("the plan is said to be worth {}; its jobs are worth {}", bound.value, worth);
  check_terms(bound.terms, lost, found);
  check_outbid(s, plan, choice, price, found);
}

}  // namespace berth::core
