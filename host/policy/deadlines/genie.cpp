// genie: shortest waiting allowance first, with promises.
//
// Key         as of edf-admission, but jobs with a promise whose reservation has not begun stand by their waiting allowance: deadline - now
//             - run time left; those that run are before those that wait. Jobs with a deadline in reach and no promise stand by `warned`.
// Changes     when the reservation of a job that waits begins. Allowances order the jobs again at each event, and not in between.
// Keeps       as edf-admission.
// Source      GENIE (Chen et al., DATE 2019; TPDS 31(1), 2020). The name of the rule, "shortest waiting allowance first", is the paper's.
//             Its formula is inferred, and all else is ours: promises by reservations in place of its admissible placements, and moving
//             reservations in place of the repair by EDF.
// Parameters  warned, unpromised, best_effort, expected, expected_s, laid_again, sharing, and the common ones.

#include <memory>
#include <utility>
#include <vector>

#include "host/policy/deadlines/promised_queue.hpp"

namespace berth::policy {
namespace {

std::unique_ptr<core::QueuePolicy> make_genie(const core::Params& params) {
  const Settings settings(core::find_policy("genie").info, params);
  PromiseRules rules = promise_rules(settings);
  rules.promised = PromiseRules::Order::kAllowance;
  rules.keeps = true;
  rules.unpromised = settings.choice("warned", {"cost", "allowance"}) == 0 ? PromiseRules::Order::kCost : PromiseRules::Order::kAllowance;
  return std::make_unique<PromisedQueue>(rules);
}

std::vector<PolicyParam> genie_parameters() {
  std::vector<PolicyParam> params = promise_parameters();
  params.insert(params.begin(), {"warned", "cost",
                                 "jobs without a promise, cost: least GPU-time for a unit of value first; allowance: shortest allowance"});
  return params;
}

std::int64_t sharing_of_genie(const core::Params& params) { return promise_sharing(Settings(core::find_policy("genie").info, params)); }

}  // namespace

core::PolicyEntry genie_policy() {
  return {.info = {.name = "genie",
                   .rule = "promised deadlines first, by waiting allowance",
                   .source = "GENIE (TPDS 2020): shortest waiting allowance first, our reading; promises ours",
                   .params = genie_parameters()},
          .preemptive = true,
          .make = make_genie,
          .sharing = sharing_of_genie};
}

}  // namespace berth::policy
