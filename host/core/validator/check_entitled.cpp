#include "host/core/validator/check_entitled.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/after_all_left.hpp"
#include "host/core/validator/quota_recount.hpp"

namespace berth::core {

bool says_entitled(const Reason& reason) {
  return reason.queue >= 0 && reason.code != ReasonCode::kQuota && reason.code != ReasonCode::kLostPriority;
}

void check_entitled(const StateImpl& s, const Plan& plan, Violations& found) {
  const auto says = [](const Decision& d) { return d.action == Action::kWait && says_entitled(d.reason); };
  if (plan.changes_only || std::none_of(plan.decisions.begin(), plan.decisions.end(), says)) return;
  const Quotas quotas = pass_rules(find_policy(plan.policy), plan.params).quotas;
  const QuotaRecount recount(s, plan, quotas);
  const AfterAllLeft after(s, plan, recount);
  for (const Decision& d : plan.decisions) {
    if (!says(d)) continue;
    const Job& job = *s.jobs[to_index(d.job)].job;
    if (d.reason.queue != s.job.queue[to_index(d.job)]) {
      found.of(job, "waits for GPUs of a queue that it does not stand in");
    } else if (!recount.is_entitled(s, d.job)) {
      found.of(job, "waits as one that its queue is entitled to; it is not");
    } else if (after.has_room(d.job)) {
      found.of(job, "waits although jobs that may be displaced would make room");
    }
  }
}

}  // namespace berth::core
