#include "host/core/quota/quota_ledger.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

QuotaAmount asked_amount(const kernel::ProblemView& p, std::int32_t job) {
  const std::int32_t first = p.option_begin[job], last = p.option_end[job];
  QuotaAmount asked;
  for (std::int32_t o = first; o < last; ++o) {
    const QuotaAmount one = asked_in(p, o);
    if (one.type != asked.type && !asked.may_be(one.type)) asked.join(one);
  }
  return asked;
}

QuotaAmount asked_in(const kernel::ProblemView& p, std::int32_t option) {
  const kernel::DemandRow& row = p.demands[p.options[option].demand];
  QuotaAmount asked{row.quota, row.gpu_type, 0};
  for (std::int32_t g = row.group_begin; g < row.group_end; ++g) {
    const kernel::GroupRow& group = p.groups[g];
    asked.cpu = saturating_add(asked.cpu, saturating_mul(group.cpu, group.members));
    asked.memory = saturating_add(asked.memory, saturating_mul(group.memory, group.members));
  }
  return asked;
}

QuotaAmount held_amount(const StateImpl& s, std::int32_t job) {
  QuotaAmount held{0, s.job.held_type[to_index(job)], 0};
  for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) {
    held.gpus += std::int64_t{row.share_ppm} * std::popcount(row.mask);
    held.cpu = saturating_add(held.cpu, row.cpu);
    held.memory = saturating_add(held.memory, row.memory);
  }
  return held;
}

QuotaJob quota_job(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job) {
  QuotaJob counted{s.job.queue[to_index(job)], asked_amount(p, job), {}};
  if (s.job.running[to_index(job)] == 0) return counted;
  counted.held = held_amount(s, job);
  if (counted.asked.gpus == 0) counted.asked = counted.held;
  return counted;
}

void QuotaLedger::begin(const StateImpl& s) {
  columns_ = static_cast<std::int32_t>(s.gpu_types.size()) + 1;
  asked_.assign(s.queues.size() * to_index(columns_), 0);
  taken_.assign(asked_.size(), 0);
  asked_amounts_.assign(s.queues.size(), {});
  taken_amounts_.assign(s.queues.size(), {});
}

void QuotaLedger::divide(const StateImpl& s, Quotas quotas) {
  quotas_ = quotas;
  shares_.set(s, asked_, quotas == Quotas::kFair);
  if (quotas == Quotas::kDominant) dominant_.set(s, shares_, asked_amounts_);
}

void QuotaLedger::add(std::vector<std::int64_t>& to, std::int32_t queue, const QuotaAmount& amount) const {
  if (queue < 0) return;
  std::int64_t* const row = to.data() + to_index(queue) * to_index(columns_);
  for_each_column(amount, columns_, [&](std::int32_t column) { row[column] = saturating_add(row[column], amount.gpus); });
}

void QuotaLedger::add(std::vector<SharedAmounts>& to, std::int32_t queue, const QuotaAmount& amount) {
  if (queue >= 0) to[to_index(queue)] = sum(to[to_index(queue)], amount);
}

SharedAmounts QuotaLedger::sum(const SharedAmounts& a, const QuotaAmount& b) {
  return {saturating_add(a[0], b.gpus), saturating_add(a[1], b.cpu), saturating_add(a[2], b.memory)};
}

void QuotaLedger::ask_more(const StateImpl& s, std::int32_t queue, const QuotaAmount& amount) {
  ask(queue, amount);
  if (queue < 0 || amount.gpus == 0) return;
  for_each_column(amount, columns_, [&](std::int32_t column) { shares_.change(s, queue, column, amount.gpus); });
}

bool QuotaLedger::is_within(std::int32_t queue, const QuotaAmount& more, bool fair) const {
  if (is_dominant(fair)) {
    if (queue < 0) return false;
    return dominant_.of(sum(taken_amounts_[to_index(queue)], more)) <= dominant_.fair(queue);
  }
  if (more.types == 0) return is_within_type(queue, more, fair);
  bool any = false;
  for (std::int32_t type = 0; type + 1 < columns_ && !any; ++type) {
    any = more.may_be(type) && is_within_type(queue, {more.gpus, type, 0}, fair);
  }
  return any;
}

bool QuotaLedger::is_within_type(std::int32_t queue, const QuotaAmount& more, bool fair) const {
  if (queue < 0) return false;
  bool any = false;
  for (const std::int32_t column : {more.type, columns_ - 1}) {
    if (column < 0) continue;
    if (!shares_.states(queue, column) && !(fair && column == columns_ - 1)) continue;
    any = true;
    const std::int64_t has = taken_[to_index(queue) * to_index(columns_) + to_index(column)];
    const std::int64_t entitled = fair ? shares_.fair(queue, column) : shares_.guaranteed(queue, column);
    if (saturating_add(has, more.gpus) > entitled) return false;
  }
  return any;
}

bool QuotaLedger::has_room(std::int32_t queue, bool fair) const {
  const std::int32_t all = columns_ - 1;
  if (is_dominant(fair)) return excess(queue) <= 0;  // it may take more of a resource of which it has less
  if (fair || shares_.states(queue, all)) return taken(queue, all) < entitled(queue, all, fair);
  for (std::int32_t type = 0; type < all; ++type) {
    if (shares_.states(queue, type) && taken(queue, type) < entitled(queue, type, false)) return true;
  }
  return false;
}

std::int64_t QuotaLedger::taken(std::int32_t queue, std::int32_t column) const {
  return taken_[to_index(queue) * to_index(columns_) + to_index(column)];
}

std::int64_t QuotaLedger::excess(std::int32_t queue) const {
  if (quotas_ == Quotas::kDominant) return dominant_.of(taken_amounts_[to_index(queue)]) - dominant_.fair(queue);
  return taken(queue, columns_ - 1) - entitled(queue, has_fair_shares(quotas_));
}

std::int64_t QuotaLedger::entitled(std::int32_t queue, bool fair) const {
  const std::int32_t all = columns_ - 1;
  if (fair) return shares_.fair(queue, all);
  if (shares_.states(queue, all)) return shares_.guaranteed(queue, all);
  std::int64_t of_types = 0;
  for (std::int32_t c = 0; c < all; ++c) of_types = saturating_add(of_types, shares_.guaranteed(queue, c));
  return std::min(of_types, asked(queue, all));  // a job of several types asks in each
}

}  // namespace berth::core
