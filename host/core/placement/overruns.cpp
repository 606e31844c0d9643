#include "host/core/placement/overruns.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

bool starts(Outcome outcome) { return outcome == Outcome::kPlaced || outcome == Outcome::kMoved; }

void wait(const kernel::PlaceRequest& request, const kernel::PlaceResult& r, std::int32_t i) {
  r.outcome[i] = request.running[i] != 0 ? Outcome::kPreempted : Outcome::kWaits;
  r.option[i] = kernel::kNone;
  r.entry_begin[i] = r.entry_end[i] = 0;
  r.reserve_at[i] = kNever;
}

std::span<const kernel::PlacedRow> rows_of(const kernel::PlaceResult& r, std::int32_t i) {
  return {r.entries + r.entry_begin[i], r.entries + r.entry_end[i]};
}

}  // namespace

TimeUs Overruns::finish(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::int32_t o,
                        std::span<const kernel::PlacedRow> rows, TimeUs start) {
  const kernel::OptionRow& option = p.options[p.option_begin[job] + o];
  const Job& description = *s.jobs[to_index(job)].job;
  entries_.clear();
  append_placed(s, p.demands[option.demand], description.shapes[to_index(option.shape)], rows, entries_);
  std::int64_t rate = description.profile.kind == ProfileKind::kOpaque ? 0 : placed_rate(s, description, option.shape, entries_);
  if (rate <= 0) rate = s.jobs[to_index(job)].option_rate[to_index(o)];
  return end_of(start, s.run_or_limit(job, rate));
}

bool Overruns::outstays(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::int32_t option,
                        std::span<const kernel::PlacedRow> rows, TimeUs start) {
  if (p.has_until == 0) return false;
  TimeUs until = kNever;
  for (const kernel::PlacedRow& row : rows) until = std::min(until, p.node_until[row.node]);
  return until != kNever && finish(s, p, job, option, rows, start) > until;
}

// The plan keeps a job that left its GPUs in the pass and found them again: it goes on as before.
bool Overruns::returns(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request, const kernel::PlaceResult& r,
                       std::int32_t i) {
  const std::int32_t job = request.order[i];
  if (s.job.running[to_index(job)] == 0 || !starts(r.outcome[i])) return false;
  return p.options[p.option_begin[job] + r.option[i]].shape == s.job.shape[to_index(job)] && same_gpus(rows_of(r, i), s.held_entries(job));
}

void Overruns::find_reserved(const StateImpl& s, const kernel::PlaceRequest& request, const kernel::PlaceResult& r) {
  starts_.clear();
  reserved_.clear();
  for (std::int32_t i = 0; i < request.n; ++i) {
    const bool later = r.outcome[i] == Outcome::kReserved;
    if (!later && !starts(r.outcome[i])) continue;
    starts_.emplace_back(later ? r.reserve_at[i] : s.now, i);
    for (std::int32_t e = r.entry_begin[i]; later && e < r.entry_end[i]; ++e) {
      reserved_.push_back({r.entries[e].node, r.reserve_at[i], i, r.entries[e].mask});
    }
  }
  std::sort(starts_.begin(), starts_.end());
  std::sort(reserved_.begin(), reserved_.end(), [](const ReservedEntry& a, const ReservedEntry& b) {
    return std::tie(a.node, a.start, a.position, a.mask) < std::tie(b.node, b.start, b.position, b.mask);
  });
}

void Overruns::drop_delayed(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                            const kernel::PlaceResult& r, std::int32_t i, TimeUs start) {
  const std::int32_t job = request.order[i];
  const bool again = returns(s, p, request, r, i);
  if (s.jobs[to_index(job)].job->profile.kind == ProfileKind::kOpaque && !again) return;  // its place does not change its rate
  const TimeUs predicted = end_of(start, s.option_run(job, to_index(r.option[i])));
  const TimeUs actual = again ? end_of(s.now, s.remaining_or_limit(job)) : finish(s, p, job, r.option[i], rows_of(r, i), start);
  if (actual <= predicted) return;
  queues_late_ = queues_late_ || p.job_queue[job] >= 0;
  for (std::int32_t e = r.entry_begin[i]; e < r.entry_end[i]; ++e) {
    const kernel::PlacedRow& entry = r.entries[e];
    auto row = std::lower_bound(reserved_.begin(), reserved_.end(), std::tie(entry.node, predicted),
                                [](const ReservedEntry& a, const auto& key) { return std::tie(a.node, a.start) < key; });
    for (; row != reserved_.end() && row->node == entry.node && row->start < actual; ++row) {
      if (r.outcome[row->position] != Outcome::kReserved) continue;
      const bool limited = p.node_cpu[entry.node] != kernel::kNoLimit || p.node_memory[entry.node] != kernel::kNoLimit;
      const bool by_sums = limited && request.discipline == kernel::Discipline::kConservative;
      if ((row->mask & entry.mask) != 0 || by_sums) wait(request, r, row->position);
    }
  }
}

// At one instant all that ends comes first, then all that begins. So does the validator.
void Overruns::drop_over_limits(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                                const kernel::PlaceResult& r) {
  charged_.assign(p.queue_used, p.queue_used + std::int64_t{p.n_queues} * (p.n_types + 1));
  const kernel::QueueColumns queues{p.queue_parent, p.queue_cap, p.queue_kept, charged_.data(), p.n_types};
  const auto charge = [&](const QuotaBack& of, std::int64_t sign) {
    if (of.type >= 0) kernel::charge_queues(queues, p.job_queue[of.job], of.type, sign * of.quota);
  };
  const auto placed = [&](std::int32_t i, TimeUs start) {
    const std::int32_t job = request.order[i];
    const kernel::DemandRow& demand = p.demands[p.options[p.option_begin[job] + r.option[i]].demand];
    const bool again = returns(s, p, request, r, i);
    const TimeUs end = again ? end_of(s.now, s.remaining_or_limit(job)) : finish(s, p, job, r.option[i], rows_of(r, i), start);
    return QuotaBack{end, job, demand.gpu_type, demand.quota};
  };
  gone_.assign(to_index(p.n_jobs), 0);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (request.running[i] == 0 || r.displaced_by[i] == kernel::kNone) continue;
    gone_[to_index(job)] = 1;
    charge({kNever, job, p.held_type[job], kernel::held_quota(p, job)}, -1);
  }
  ends_.clear();
  for (std::int32_t k = 0; k < request.n_releases; ++k) {
    const std::int32_t job = request.releases[k].job;
    if (job >= 0 && gone_[to_index(job)] == 0) {
      ends_.push_back({request.releases[k].at, job, p.held_type[job], kernel::held_quota(p, job)});
    }
  }
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (!starts(r.outcome[i])) continue;
    ends_.push_back(placed(i, s.now));
    charge(ends_.back(), 1);
  }
  std::make_heap(ends_.begin(), ends_.end(), std::greater<>{});
  for (const auto& [start, i] : starts_) {
    if (r.outcome[i] != Outcome::kReserved) continue;
    for (; !ends_.empty() && ends_.front().at <= start; ends_.pop_back()) {
      charge(ends_.front(), -1);
      std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
    }
    const QuotaBack job = placed(i, start);
    if (!kernel::queues_have_room(queues, p.job_queue[job.job], job.type, job.quota)) {
      wait(request, r, i);
      continue;
    }
    charge(job, 1);
    ends_.push_back(job);
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>{});
  }
}

void Overruns::withdraw(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                        const kernel::PlaceResult& r) {
  displacers_.clear();
  bool reserved = false;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const bool later = r.outcome[i] == Outcome::kReserved;
    reserved = reserved || later;
    if (p.has_until == 0 || !(starts(r.outcome[i]) || later)) continue;
    if (!outstays(s, p, request.order[i], r.option[i], rows_of(r, i), later ? r.reserve_at[i] : s.now)) continue;
    if (!later && std::find(r.displaced_by, r.displaced_by + request.n, i) != r.displaced_by + request.n) {
      displacers_.push_back(request.order[i]);
    }
    wait(request, r, i);
  }
  if (!reserved) return;
  find_reserved(s, request, r);
  queues_late_ = false;
  // A job only delays those that begin later, so those that begin first are looked at first.
  for (const auto& [start, i] : starts_) {
    if (r.outcome[i] != Outcome::kWaits && r.outcome[i] != Outcome::kPreempted) drop_delayed(s, p, request, r, i, start);
  }
  if (queues_late_) drop_over_limits(s, p, request, r);
}

}  // namespace berth::core
