#include "host/core/kept/entitled_jobs.hpp"

#include <algorithm>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void EntitledJobs::read(const StateImpl& s, const kernel::ProblemView& p, Quotas quotas, std::span<const std::int32_t> jobs,
                        std::span<const std::int32_t> nodes, const std::function<bool(std::int32_t)>& is_rejected) {
  const auto count = [&](std::int32_t job) {
    QuotaJob now;
    const bool is_there = s.jobs[to_index(job)].job != nullptr;
    if (is_there && (s.job.running[to_index(job)] != 0 || !is_rejected(job))) now = quota_job(s, p, job);
    QuotaJob& before = counted_[to_index(job)];
    const bool asks_the_same = now.queue == before.queue && now.asked == before.asked;
    if (!asks_the_same) {
      const auto ask = [&](std::int32_t queue, const QuotaAmount& amount) {
        if (divided_) {
          ledger_.ask_more(s, queue, amount);
        } else {
          ledger_.ask(queue, amount);
        }
      };
      ask(before.queue, -before.asked);
      ask(now.queue, now.asked);
    }
    ledger_.take(before.queue, -before.held);
    ledger_.take(now.queue, now.held);
    before = now;
  };
  if (!std::exchange(known_, true) || quotas != quotas_) {
    quotas_ = quotas;
    divided_ = false;
    ledger_.begin(s);
    counted_.assign(s.jobs.size(), {});
    working_.resize(s.nodes.size());
    for (std::size_t node = 0; node < working_.size(); ++node) working_[node] = s.working_gpus(static_cast<std::int32_t>(node));
    for (const std::int32_t job : s.job_order) count(job);
    return;
  }
  counted_.resize(s.jobs.size());
  divided_ = divided_ && !has_fair_shares(quotas_);
  for (const std::int32_t node : nodes) {
    const std::uint64_t now = s.working_gpus(node);
    if (std::exchange(working_[to_index(node)], now) != now) divided_ = false;
  }
  for (const std::int32_t job : jobs) count(job);
}

void EntitledJobs::divide(const StateImpl& s) {
  if (!std::exchange(divided_, true)) ledger_.divide(s, quotas_);
}

QuotaStanding EntitledJobs::stand(const kernel::ProblemView& p, std::int32_t queue, std::int32_t job, QuotaAmount& amount) const {
  const auto ignore = [](std::int32_t, bool) {};
  amount = ledger_.within_options(p, job, queue, false, ignore);
  if (amount.gpus > 0) return QuotaStanding::kGuaranteed;
  if (has_fair_shares(quotas_)) amount = ledger_.within_options(p, job, queue, true, ignore);
  return amount.gpus > 0 ? QuotaStanding::kFair : QuotaStanding::kBorrowing;
}

bool EntitledJobs::is_entitled(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job) {
  const std::int32_t queue = s.job.queue[to_index(job)];
  if (queue < 0) return false;
  divide(s);
  QuotaAmount amount;
  return stand(p, queue, job, amount) != QuotaStanding::kBorrowing;
}

// What a job takes leaves less to those behind it. So the entitled jobs of a class are its first.
void EntitledJobs::find(const StateImpl& s, const kernel::ProblemView& p, const WaitingClasses& waiting) {
  raised_.clear();
  heap_.clear();
  divide(s);
  QuotaAmount amount;
  has_room_.resize(s.queues.size());
  for (std::size_t q = 0; q < has_room_.size(); ++q) {
    const auto queue = static_cast<std::int32_t>(q);
    has_room_[q] = ledger_.has_room(queue, false) || (has_fair_shares(quotas_) && ledger_.has_room(queue, true)) ? 1 : 0;
  }
  for (std::size_t of = 0; of < waiting.size(); ++of) {
    const std::int32_t queue = waiting.queue(of);
    if (queue < 0 || has_room_[to_index(queue)] == 0) continue;
    const OrderPlace& first = waiting.first(of);
    if (first.job >= 0 && stand(p, queue, first.job, amount) != QuotaStanding::kBorrowing) heap_.push_back({first, of, 0});
  }
  // Queues do not depend on each other. The order is that of the policy, without standings.
  const auto later = [](const Next& a, const Next& b) {
    return std::pair(b.place.key, b.place.label) < std::pair(a.place.key, a.place.label);
  };
  std::make_heap(heap_.begin(), heap_.end(), later);
  taken_.clear();
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Next next = heap_.back();
    heap_.pop_back();
    const std::int32_t job = next.place.job, queue = waiting.queue(next.of);
    const QuotaStanding standing = stand(p, queue, job, amount);
    if (standing == QuotaStanding::kBorrowing) continue;
    ledger_.take(queue, taken_.emplace_back(amount));
    raised_.push_back({job, standing});
    const std::vector<OrderPlace>& jobs = waiting.jobs(next.of);
    if (next.at + 1 == jobs.size()) continue;
    heap_.push_back({jobs[next.at + 1], next.of, next.at + 1});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  for (std::size_t i = 0; i < raised_.size(); ++i) {
    ledger_.take(s.job.queue[to_index(raised_[i].job)], -taken_[i]);
  }
}

}  // namespace berth::core
