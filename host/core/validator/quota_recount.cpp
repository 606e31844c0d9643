#include "host/core/validator/quota_recount.hpp"

#include <algorithm>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/quota/other_standing.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void QuotaRecount::stand(const StateImpl& s, std::span<const std::int32_t> running, std::vector<std::uint8_t>& standing) {
  ledger_.take_nothing();
  standing.assign(s.jobs.size(), static_cast<std::uint8_t>(QuotaStanding::kBorrowing));
  for (const std::int32_t job : running) {
    const QuotaAmount held = held_amount(s, job);
    const std::int32_t queue = s.job.queue[to_index(job)];
    QuotaStanding one = QuotaStanding::kBorrowing;
    if (held.gpus > 0 && ledger_.is_within(queue, held, false)) {
      one = QuotaStanding::kGuaranteed;
    } else if (held.gpus > 0 && has_fair_shares(quotas_) && ledger_.is_within(queue, held, true)) {
      one = QuotaStanding::kFair;
    }
    if (one != QuotaStanding::kBorrowing) ledger_.take(queue, held);
    standing[to_index(job)] = static_cast<std::uint8_t>(one);
  }
}

QuotaRecount::QuotaRecount(const StateImpl& s, const Plan& plan, Quotas quotas) : quotas_(quotas) {
  ledger_.begin(s);
  std::vector<std::uint8_t> rejected(s.jobs.size(), 0), displaced(s.jobs.size(), 0);
  for (const Decision& d : plan.decisions) {
    rejected[to_index(d.job)] = d.action == Action::kReject ? 1 : 0;
    displaced[to_index(d.job)] = d.action == Action::kPreempt ? 1 : 0;
  }
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
  stand(s, running, oldest_first_);
  std::vector<std::int32_t> displaced_last = running;
  std::stable_partition(displaced_last.begin(), displaced_last.end(), [&](std::int32_t job) { return displaced[to_index(job)] == 0; });
  stand(s, displaced_last, standing_);
  if (!none_has_less(amounts_within(s, running, standing_), amounts_within(s, running, oldest_first_))) standing_ = oldest_first_;
  ledger_.take_nothing();
  for (const std::int32_t job : running) ledger_.take(s.job.queue[to_index(job)], held_amount(s, job));
}

bool QuotaRecount::is_entitled(const StateImpl& s, std::int32_t job) const {
  if (!QuotaOrder::applies(s, quotas_)) return false;
  const kernel::ProblemView& p = s.problem();
  const std::int32_t queue = s.job.queue[to_index(job)];
  const auto is_within = [&](bool fair) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      if (!ledger_.is_within(queue, asked_in(p, o), fair)) return false;
    }
    return p.option_begin[job] < p.option_end[job];
  };
  return is_within(false) || (has_fair_shares(quotas_) && is_within(true));
}

}  // namespace berth::core
