#include "host/core/validator/quota_recount.hpp"

#include <algorithm>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

QuotaRecount::QuotaRecount(const StateImpl& s, const Plan& plan, Quotas quotas) : standing_(s.jobs.size(), QuotaStanding::kBorrowing) {
  ledger_.begin(s);
  std::vector<std::uint8_t> rejected(s.jobs.size(), 0);
  for (const Decision& d : plan.decisions) rejected[to_index(d.job)] = d.action == Action::kReject ? 1 : 0;
  std::vector<std::int32_t> running;
  for (const std::int32_t job : s.job_order) {
    const bool runs = s.job.running[to_index(job)] != 0;
    if (runs) running.push_back(job);
    if (!runs && rejected[to_index(job)] != 0) continue;
    const QuotaJob counted = quota_job(s, s.problem(), job);
    ledger_.ask(counted.queue, counted.asked);
  }
  ledger_.divide(s, quotas);
  const auto age = [&](std::int32_t job) {
    const TimeUs since = s.jobs[to_index(job)].job->last_assignment_us;
    return std::tuple(s.job.victim_from[to_index(job)] <= s.now, since == kNever ? s.job.submit[to_index(job)] : since,
                      s.job_rank()[to_index(job)]);
  };
  std::sort(running.begin(), running.end(), [&](std::int32_t a, std::int32_t b) { return age(a) < age(b); });
  for (const std::int32_t job : running) {
    const QuotaAmount held = held_amount(s, job);
    const std::int32_t queue = s.job.queue[to_index(job)];
    QuotaStanding& standing = standing_[to_index(job)];
    if (held.gpus > 0 && ledger_.is_within(queue, held, false)) {
      standing = QuotaStanding::kGuaranteed;
    } else if (held.gpus > 0 && has_fair_shares(quotas) && ledger_.is_within(queue, held, true)) {
      standing = QuotaStanding::kFair;
    }
    if (standing != QuotaStanding::kBorrowing) ledger_.take(queue, held);
  }
  ledger_.take_nothing();
  for (const std::int32_t job : running) ledger_.take(s.job.queue[to_index(job)], held_amount(s, job));
}

}  // namespace berth::core
