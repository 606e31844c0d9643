#include "host/core/quota/queue_balance.hpp"

#include <algorithm>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void QueueBalance::begin(const StateView& state) {
  const StateImpl& s = impl_of(state);
  columns_ = static_cast<std::int32_t>(s.gpu_types.size()) + 1;
  parent_ = s.queue_parent;
  rows_.assign(s.queues.size(), {});
  room_.assign(s.queues.size() * to_index(columns_), 0);
  ledger_.begin(s);
  jobs_.assign(s.jobs.size(), {});
  for (const std::int32_t job : s.job_order) put(state, job);
}

const QuotaJob& QueueBalance::at(std::int32_t job) const {
  static const QuotaJob absent;
  return to_index(job) < jobs_.size() ? jobs_[to_index(job)] : absent;
}

void QueueBalance::count(const QuotaJob& job, bool adds) {
  ledger_.ask(job.queue, adds ? job.asked : -job.asked);
  ledger_.take(job.queue, adds ? job.held : -job.held);
}

void QueueBalance::put(const StateView& state, std::int32_t job) {
  const StateImpl& s = impl_of(state);
  remove(job);
  if (to_index(job) >= jobs_.size()) jobs_.resize(to_index(job) + 1);
  jobs_[to_index(job)] = quota_job(s, s.problem(), job);
  count(jobs_[to_index(job)], true);
}

void QueueBalance::remove(std::int32_t job) {
  if (to_index(job) >= jobs_.size()) return;
  count(std::exchange(jobs_[to_index(job)], {}), false);
}

void QueueBalance::divide(const StateView& state) {
  ledger_.divide(impl_of(state), Quotas::kFair);
  const auto n = static_cast<std::int32_t>(parent_.size());
  const std::int32_t all = columns_ - 1;
  changed_.assign(parent_.size(), 0);
  for (std::int32_t q = 0; q < n; ++q) {
    rows_[to_index(q)] = {ledger_.taken(q, all), ledger_.entitled(q, false), ledger_.entitled(q, true)};
    for (std::int32_t c = 0; c < columns_; ++c) {
      const std::int64_t room = ledger_.entitled(q, c, false) - ledger_.taken(q, c);
      if (std::exchange(room_[to_index(q) * to_index(columns_) + to_index(c)], room) != room) changed_[to_index(q)] = 1;
    }
  }
  // Parents are before their children.
  for (std::int32_t q = n - 1; q >= 0; --q) {
    const Row& row = rows_[to_index(q)];
    const std::int32_t parent = parent_[to_index(q)];
    if (parent < 0) continue;
    Row& above = rows_[to_index(parent)];
    above.has += row.has;
    above.guaranteed = saturating_add(above.guaranteed, row.guaranteed);
    above.fair += row.fair;
  }
}

void QueueBalance::were_entitled(const std::vector<std::int32_t>& started, std::vector<std::uint8_t>& out) {
  out.assign(started.size(), 0);
  for (const std::int32_t job : started) ledger_.take(at(job).queue, -at(job).held);
  for (std::size_t i = 0; i < started.size(); ++i) {
    const QuotaJob& row = at(started[i]);
    out[i] = ledger_.is_within(row.queue, row.held, false) ? 1 : 0;
    ledger_.take(row.queue, row.held);
  }
}

}  // namespace berth::core
