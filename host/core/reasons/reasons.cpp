#include "host/core/reasons/reasons.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "berth/kernel/place/releases.hpp"

namespace berth::core {
namespace {

using kernel::kNone;
using kernel::Outcome;

TimeUs after(TimeUs now, TimeUs run) { return run == kNever || run > kNever - now ? kNever : now + run; }

Reason of_code(ReasonCode code, std::int32_t other = kNone) {
  Reason reason;
  reason.code = code;
  reason.other_job = other;
  return reason;
}

}  // namespace

void ReasonBuilder::begin_certificates(const ReasonInput& input) {
  in_ = input;
  if (in_.asked == nullptr) in_.asked = input.problem->options;
  infeasible_begun_ = false;
  const auto demands = static_cast<std::size_t>(input.problem->n_demands);
  if (never_seen_.size() < demands) {
    never_.resize(demands);
    apart_.resize(demands);
    never_seen_.resize(demands, 0);
  }
  if (input.cluster_version == 0 || input.cluster_version != version_) ++never_epoch_;
  version_ = input.cluster_version;
}

void ReasonBuilder::begin(const ReasonInput& input) {
  begin_certificates(input);
  const kernel::ProblemView& p = *input.problem;
  kept_below_.clear();
  if (p.queue_kept != nullptr) kept_below_.assign(static_cast<std::size_t>(p.n_queues) * static_cast<std::size_t>(p.n_types + 1), 0);
  for (std::int32_t q = 0; p.queue_kept != nullptr && q < p.n_queues; ++q) {
    if (p.queue_parent[q] == kNone) continue;
    for (std::int32_t c = 0; c <= p.n_types; ++c) kept_below_[cell(p.queue_parent[q], c)] += kept_idle(q, c);
  }
  shortage_.begin(p, input.free, input.total);
  untils_.clear();
  for (std::int32_t node = 0; p.has_until != 0 && node < p.n_nodes; ++node) {
    if (p.node_until[node] != kNever) untils_.push_back(p.node_until[node]);
  }
  std::sort(untils_.begin(), untils_.end());
  untils_.erase(std::unique(untils_.begin(), untils_.end()), untils_.end());

  const auto demands = static_cast<std::size_t>(p.n_demands);
  const std::size_t cells = demands * (untils_.size() + 1);
  if (short_seen_.size() < cells) {
    short_of_.resize(cells);
    short_seen_.resize(cells, 0);
  }
  ++epoch_;
  out_of_service_.clear();
  for (std::int32_t node = 0; input.failed != nullptr && node < p.n_nodes; ++node) {
    if (unavailable(node) != 0) out_of_service_.push_back(node);
  }
}

Reason ReasonBuilder::explain(const JobPass& job) {
  if (job.lost_gpus) {
    Reason lost = of_code(ReasonCode::kNodeFailed);
    add_lost(job.job, lost);
    return lost;
  }
  if (job.outcome == Outcome::kPreempted && job.other != kNone) return of_code(ReasonCode::kLostPriority, job.other);
  if (job.outcome != Outcome::kPreempted && !job.may_run) {
    if (Reason never = certificate(job.job); never.certified) return never;
  }
  if (job.outcome == Outcome::kBudget) return of_code(ReasonCode::kBudget);
  // Other shortages show when the pass reaches it.
  if (job.outcome == Outcome::kBehind) return of_code(ReasonCode::kBehind, job.other);

  const kernel::ProblemView& p = *in_.problem;
  Reason quota;
  std::int32_t nearest = kNone;
  bool all_fail = p.option_begin[job.job] < p.option_end[job.job];
  const bool some_may = some_may_run(job.job);
  for (std::int32_t o = p.option_begin[job.job]; all_fail && o < p.option_end[job.job]; ++o) {
    if (left_out(o)) continue;
    Reason here;
    // The limit is the reason of a job that ran until now also where none of its alternatives can run any more.
    if (some_may && infeasible(in_.asked[o].demand).certified) continue;
    all_fail = quota_fails(job.job, p.demands[p.options[o].demand], false, here);
    if (quota.code != ReasonCode::kNone && here.missing >= quota.missing) continue;
    quota = here;
    nearest = o;
  }
  const bool by_quota = all_fail && quota.code != ReasonCode::kNone;
  if (by_quota && !lacks_only(job.job, nearest, quota)) quota.missing = 0;
  if (by_quota && job.outcome != Outcome::kReserved) return quota;

  bool fits = false;
  Reason reason = smallest_shortage(job.job, fits);
  if (by_quota && reason.code == ReasonCode::kNone) reason = quota;  // reserved for when jobs of its queue have ended
  if (fits && job.other != kNone) {
    reason = of_code(ReasonCode::kReservedFor, job.other);
    reason.until_us = job.other_at;
    return reason;
  }
  if (fits && job.gave_up) return of_code(ReasonCode::kBudget);
  if (fits) {  // every single condition holds, only not all at once
    const std::int32_t demand = fitting_demand(job.job);
    reason = shortage_.joint(demand);
    add_unavailable(p.demands[demand], reason);
    return reason;
  }
  // Of constraints it says when the last node that does not stay leaves, of domains when the job stops waiting for one.
  const bool other_instant =
      reason.code == ReasonCode::kNodeConstraint || reason.code == ReasonCode::kTopologyRequired || reason.code == ReasonCode::kFragmented;
  if (job.outcome == Outcome::kReserved && !other_instant) reason.until_us = job.reserve_at;
  return reason;
}

// No alternative can ever run. The evidence is that of the alternative with the smallest demand among those that fail
// alike.
Reason ReasonBuilder::certificate(std::int32_t job_index) {
  const kernel::ProblemView& p = *in_.problem;
  Reason first;
  if (p.option_begin[job_index] == p.option_end[job_index]) {
    first.code = ReasonCode::kNoGpuType;
    first.certified = true;
    return first;
  }
  for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
    const std::int32_t demand = in_.asked[o].demand;
    const Reason& never_fits = infeasible(demand);
    Reason quota;
    const bool never = never_fits.certified;
    if (!never && !quota_fails(job_index, p.demands[demand], true, quota)) return {};
    const Reason& here = never ? never_fits : quota;
    // "No GPU type" covers all alternatives; where another fails for a different cause, that is the evidence.
    const bool first_of_all = first.code == ReasonCode::kNone || first.code == ReasonCode::kNoGpuType;
    if (first_of_all || (here.code == first.code && here.asked < first.asked)) first = here;
  }
  return first;
}

bool ReasonBuilder::never_in(std::int32_t job_index, std::int32_t option) {
  const std::int32_t demand = in_.asked[option].demand;
  if (infeasible(demand).certified || apart_[static_cast<std::size_t>(demand)] != 0) return true;
  if (in_.problem->job_queue[job_index] == kNone)
    return false;  // called for every option of every job: evidence takes longer than the rest
  Reason quota;
  return quota_fails(job_index, in_.problem->demands[demand], true, quota);
}

std::int64_t ReasonBuilder::kept_idle(std::int32_t queue, std::int32_t column) const {
  if (in_.problem->queue_kept == nullptr) return 0;
  const std::size_t at = cell(queue, column);
  return std::max<std::int64_t>(0, in_.problem->queue_kept[at] - in_.queue_used[at]);
}

// `ever`: against the caps alone; else against what is left of them now. The evidence is the nearest queue's.
bool ReasonBuilder::quota_fails(std::int32_t job_index, const kernel::DemandRow& demand, bool ever, Reason& reason) const {
  const kernel::ProblemView& p = *in_.problem;
  std::array<std::int64_t, 2> within{};  // what of the job the queues below keep idle, by column: it is charged already
  for (std::int32_t q = p.job_queue[job_index], below = kNone; q != kNone; below = q, q = p.queue_parent[q]) {
    for (std::size_t c = 0; c < within.size(); ++c) {
      const std::int32_t column = c == 0 ? demand.gpu_type : p.n_types;
      const std::int64_t at = std::int64_t{q} * (p.n_types + 1) + column;
      const std::int64_t more = std::max<std::int64_t>(0, demand.quota - within[c]);
      const std::int64_t left = p.queue_cap[at] == kernel::kNoLimit ? kernel::kNoLimit : p.queue_cap[at] - (ever ? 0 : in_.queue_used[at]);
      if (more <= left) {
        if (!ever) within[c] += kept_idle(q, column);
        continue;
      }
      reason.code = ReasonCode::kQuota;
      reason.certified = ever;
      reason.queue = q;
      reason.gpu_type = column == p.n_types ? kNone : column;
      // In whole GPUs, shares rounded up.
      reason.asked = (demand.quota + kWholeGpu - 1) / kWholeGpu;
      reason.best = left < 0 ? 0 : (left + within[c]) / kWholeGpu;
      if (!ever && !kept_below_.empty()) {
        reason.free = (kept_below_[cell(q, column)] - (below == kNone ? 0 : kept_idle(below, column))) / kWholeGpu;
      }
      reason.missing = ever ? 0 : (more - left + kWholeGpu - 1) / kWholeGpu;
      return true;
    }
  }
  return false;
}

// With more of this one limit the alternative would start.
bool ReasonBuilder::lacks_only(std::int32_t job_index, std::int32_t option, const Reason& quota) {
  const kernel::ProblemView& p = *in_.problem;
  const kernel::DemandRow& demand = p.demands[p.options[option].demand];
  for (const std::int32_t column : {demand.gpu_type, p.n_types}) {
    std::int64_t more = demand.quota;
    for (std::int32_t q = p.job_queue[job_index]; q != kNone; q = p.queue_parent[q]) {
      const std::int64_t at = std::int64_t{q} * (p.n_types + 1) + column;
      const bool is_this = q == quota.queue && column == (quota.gpu_type == kNone ? p.n_types : quota.gpu_type);
      if (!is_this && p.queue_cap[at] != kernel::kNoLimit && more > p.queue_cap[at] - in_.queue_used[at]) return false;
      if (p.queue_kept != nullptr) more = kernel::passed_on(in_.queue_used[at], p.queue_kept[at], more);
    }
  }
  return demand.exact != 0 && shortage(p.options[option].demand, in_.option_run[option]).code == ReasonCode::kNone;
}

const Reason& ReasonBuilder::infeasible(std::int32_t demand) {
  const auto at = static_cast<std::size_t>(demand);
  if (never_seen_[at] != never_epoch_) {
    if (!infeasible_begun_) infeasible_.begin(*in_.problem, in_.total, in_.lasting_filters);
    infeasible_begun_ = true;
    never_seen_[at] = never_epoch_;
    never_[at] = infeasible_.find(demand);
    apart_[at] = infeasible_.never_apart(demand) ? 1 : 0;
  }
  return never_[at];
}

const Reason& ReasonBuilder::shortage(std::int32_t demand, TimeUs run) {
  const TimeUs end = after(in_.now, run);
  // Jobs that end between the same two node ends may use the same nodes.
  const auto bucket = static_cast<std::size_t>(std::lower_bound(untils_.begin(), untils_.end(), end) - untils_.begin());
  const std::size_t at = static_cast<std::size_t>(demand) * (untils_.size() + 1) + bucket;
  if (short_seen_[at] != epoch_) {
    short_seen_[at] = epoch_;
    short_of_[at] = shortage_.find(demand, end);
    add_unavailable(in_.problem->demands[demand], short_of_[at]);
  }
  return short_of_[at];
}

bool ReasonBuilder::some_may_run(std::int32_t job_index) {
  const kernel::ProblemView& p = *in_.problem;
  for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
    if (!left_out(o) && !infeasible(in_.asked[o].demand).certified) return true;
  }
  return false;
}

Reason ReasonBuilder::smallest_shortage(std::int32_t job_index, bool& fits) {
  const kernel::ProblemView& p = *in_.problem;
  // Of a type that could never hold it, no more free GPUs help; unless that is so of all, and no certificate was found to hold.
  const bool some_may = some_may_run(job_index);
  Reason best;
  for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
    if (left_out(o)) continue;
    const std::int32_t demand = p.options[o].demand;
    Reason quota;
    if (quota_fails(job_index, p.demands[demand], false, quota)) continue;
    if (some_may && infeasible(in_.asked[o].demand).certified) continue;
    const Reason& here = shortage(demand, in_.option_run[o]);
    fits = fits || here.code == ReasonCode::kNone;
    const bool smaller = here.missing > 0 && (best.missing == 0 || here.missing < best.missing);
    if (best.code == ReasonCode::kNone || smaller) best = here;
  }
  return best;
}

std::uint64_t ReasonBuilder::unavailable(std::int32_t node) const {
  return in_.failed == nullptr ? 0 : in_.failed[node] | (in_.drained[node] & ~in_.held[node]);
}

void ReasonBuilder::add_node(std::int32_t node, std::uint64_t gpus, Reason& reason) const {
  const int failed = std::popcount(gpus & in_.failed[node]);
  reason.failed += failed;
  reason.drained += std::popcount(gpus) - failed;
  if (static_cast<std::size_t>(reason.unavailable_nodes) < reason.unavailable_on.size())
    reason.unavailable_on[static_cast<std::size_t>(reason.unavailable_nodes)] = node;
  ++reason.unavailable_nodes;
}

// Of a node out of service: the job may use it, and it is large enough for some member.
bool ReasonBuilder::would_serve(const kernel::DemandRow& demand, std::int32_t node) const {
  const kernel::ProblemView& p = *in_.problem;
  const bool allowed = (p.filter_words[std::int64_t{demand.filter} * p.n_words + node / 64] >> (node % 64) & 1) != 0;
  if (!allowed) return false;
  const int gpus = std::popcount(in_.total.free[node]);
  for (std::int32_t g = demand.group_begin; g < demand.group_end; ++g) {
    const kernel::GroupRow& group = p.groups[g];
    if (group.members > 0 && gpus >= (group.require_level == 0 ? group.subtree_gpus : group.gpus)) return true;
  }
  return false;
}

// Where the gang must be in one domain, only that domain's nodes count: the one of the evidence, else the first whose return would do.
void ReasonBuilder::add_unavailable(const kernel::DemandRow& demand, Reason& reason) const {
  if (out_of_service_.empty() || reason.code == ReasonCode::kNone || reason.code == ReasonCode::kGpuMemory) return;
  const kernel::ProblemView& p = *in_.problem;
  const bool one_domain = reason.level > 0 && reason.where >= 0;
  const std::int32_t* domain_of = one_domain ? p.topology[reason.topology].node_domain + std::int64_t{reason.level} * p.n_nodes : nullptr;
  std::int32_t domain = reason.where;
  const auto add = [&] {
    for (const std::int32_t node : out_of_service_) {
      if ((!one_domain || domain_of[node] == domain) && would_serve(demand, node)) add_node(node, unavailable(node), reason);
    }
  };
  add();
  if (!one_domain || reason.unavailable_nodes > 0) return;
  const kernel::TopologyView& tree = p.topology[reason.topology];
  for (domain = tree.level_begin[reason.level]; domain < tree.level_begin[reason.level + 1]; ++domain) {
    if (p.domains.named[domain] == 0) continue;
    std::int64_t gpus = 0;
    for (std::int32_t at = p.domains.first[domain]; at < p.domains.last[domain]; ++at) {
      const std::int32_t node = tree.order[at];
      const bool allowed = (p.filter_words[std::int64_t{demand.filter} * p.n_words + node / 64] >> (node % 64) & 1) != 0;
      if (allowed) gpus += std::popcount(in_.free.free[node] | unavailable(node));
    }
    if (gpus < reason.asked) continue;
    add();
    return;
  }
}

void ReasonBuilder::add_unavailable(std::int32_t job_index, Reason& reason) const {
  const kernel::ProblemView& p = *in_.problem;
  for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
    if (left_out(o)) continue;
    const kernel::DemandRow& demand = p.demands[p.options[o].demand];
    if (reason.gpu_type != kNone && demand.gpu_type != reason.gpu_type) continue;
    add_unavailable(demand, reason);
    return;
  }
}

// Which GPUs of a job failed.
void ReasonBuilder::add_lost(std::int32_t job_index, Reason& reason) const {
  if (in_.failed == nullptr || in_.held_begin == nullptr) return;
  std::int32_t last = kNone;
  std::uint64_t gpus = 0;
  const auto add = [&] {
    if (gpus != 0) add_node(last, gpus, reason);
  };
  lost_.clear();
  for (std::int32_t h = in_.held_begin[job_index]; h < in_.held_end[job_index]; ++h)
    lost_.emplace_back(in_.held_rows[h].node, in_.held_rows[h].mask);
  std::sort(lost_.begin(), lost_.end());
  for (const auto& [node, mask] : lost_) {
    if (node != last) {
      add();
      gpus = 0;
    }
    last = node;
    gpus |= mask & in_.failed[node];
  }
  add();
}

// The first alternative of which nothing is short.
std::int32_t ReasonBuilder::fitting_demand(std::int32_t job_index) {
  const kernel::ProblemView& p = *in_.problem;
  for (std::int32_t o = p.option_begin[job_index]; o < p.option_end[job_index]; ++o) {
    if (left_out(o)) continue;
    const std::int32_t demand = p.options[o].demand;
    Reason quota;
    if (!quota_fails(job_index, p.demands[demand], false, quota) && shortage(demand, in_.option_run[o]).code == ReasonCode::kNone)
      return demand;
  }
  return p.options[p.option_begin[job_index]].demand;
}

}  // namespace berth::core
