#include "host/core/reasons.hpp"

#include <algorithm>

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

void ReasonBuilder::begin(const ReasonInput& input) {
  in_ = input;
  const kernel::ProblemView& p = *input.problem;
  if (in_.asked == nullptr) in_.asked = p.options;
  infeasible_.begin(p, input.total, input.lasting_filters);
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
  if (never_seen_.size() < demands) {
    never_.resize(demands);
    apart_.resize(demands);
    never_seen_.resize(demands, 0);
  }
  ++epoch_;
  if (input.cluster_version == 0 || input.cluster_version != version_) ++never_epoch_;
  version_ = input.cluster_version;
}

Reason ReasonBuilder::explain(const JobWalk& job) {
  if (job.lost_gpus) return of_code(ReasonCode::kNodeFailed);
  if (job.outcome == Outcome::kPreempted && job.other != kNone) return of_code(ReasonCode::kLostPriority, job.other);
  if (job.outcome != Outcome::kPreempted && !job.may_run) {
    if (Reason never = certificate(job.slot); never.certified) return never;
  }
  if (job.outcome == Outcome::kBudget) return of_code(ReasonCode::kBudget);
  // What else it lacks shows at its turn.
  if (job.outcome == Outcome::kBehind) return of_code(ReasonCode::kBehind, job.other);

  const kernel::ProblemView& p = *in_.problem;
  Reason quota;
  std::int32_t nearest = kNone;
  bool all_fail = job.outcome != Outcome::kReserved && p.option_begin[job.slot] < p.option_begin[job.slot + 1];
  for (std::int32_t o = p.option_begin[job.slot]; all_fail && o < p.option_begin[job.slot + 1]; ++o) {
    Reason here;
    if (infeasible(in_.asked[o].demand).certified) continue;
    all_fail = quota_fails(job.slot, p.demands[p.options[o].demand], false, here);
    if (quota.code != ReasonCode::kNone && here.missing >= quota.missing) continue;
    quota = here;
    nearest = o;
  }
  if (all_fail && quota.code != ReasonCode::kNone) {
    if (!lacks_only(job.slot, nearest, quota)) quota.missing = 0;
    return quota;
  }

  bool fits = false;
  Reason reason = smallest_shortage(job.slot, fits);
  if (fits && job.other != kNone) {
    reason = of_code(ReasonCode::kReservedFor, job.other);
    reason.until_us = job.reserve_at;
    return reason;
  }
  if (fits && job.gave_up) return of_code(ReasonCode::kBudget);
  if (fits) return shortage_.joint(fitting_demand(job.slot));  // every single condition holds, only not all at once
  // Of constraints it says when the last node that does not stay leaves.
  if (job.outcome == Outcome::kReserved && reason.code != ReasonCode::kNodeConstraint) reason.until_us = job.reserve_at;
  return reason;
}

// No alternative can ever run. The evidence is that of the alternative that asks for least, of those that fail alike.
Reason ReasonBuilder::certificate(std::int32_t slot) {
  const kernel::ProblemView& p = *in_.problem;
  Reason first;
  if (p.option_begin[slot] == p.option_begin[slot + 1]) {
    first.code = ReasonCode::kNoGpuType;
    first.certified = true;
    return first;
  }
  for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1]; ++o) {
    const std::int32_t demand = in_.asked[o].demand;
    const Reason& never_fits = infeasible(demand);
    Reason quota;
    const bool never = never_fits.certified;
    if (!never && !quota_fails(slot, p.demands[demand], true, quota)) return {};
    const Reason& here = never ? never_fits : quota;
    // "No GPU type" speaks for all alternatives; where another fails otherwise, that is the evidence.
    const bool first_of_all = first.code == ReasonCode::kNone || first.code == ReasonCode::kNoGpuType;
    if (first_of_all || (here.code == first.code && here.asked < first.asked)) first = here;
  }
  return first;
}

bool ReasonBuilder::never_in(std::int32_t slot, std::int32_t option) {
  const std::int32_t demand = in_.asked[option].demand;
  if (infeasible(demand).certified || apart_[static_cast<std::size_t>(demand)] != 0) return true;
  if (in_.problem->job_queue[slot] == kNone) return false;  // asked of every option of every job: evidence takes longer than the rest
  Reason quota;
  return quota_fails(slot, in_.problem->demands[demand], true, quota);
}

// `ever`: against the caps alone; else against what the caps leave now. The evidence is the nearest queue's.
bool ReasonBuilder::quota_fails(std::int32_t slot, const kernel::DemandRow& demand, bool ever, Reason& reason) const {
  const kernel::ProblemView& p = *in_.problem;
  for (std::int32_t q = p.job_queue[slot]; q != kNone; q = p.queue_parent[q]) {
    for (const std::int32_t column : {demand.gpu_type, p.n_types}) {
      const std::int64_t at = std::int64_t{q} * (p.n_types + 1) + column;
      if (p.queue_cap[at] == kernel::kNoLimit) continue;
      const std::int64_t left = p.queue_cap[at] - (ever ? 0 : in_.queue_used[at]);
      if (demand.quota <= left) continue;
      reason.code = ReasonCode::kQuota;
      reason.certified = ever;
      reason.queue = q;
      reason.gpu_type = column == p.n_types ? kNone : column;
      // In whole GPUs, shares rounded to the safe side.
      reason.asked = (demand.quota + kWholeGpu - 1) / kWholeGpu;
      reason.best = std::max<std::int64_t>(left, 0) / kWholeGpu;
      reason.missing = ever ? 0 : (demand.quota - left + kWholeGpu - 1) / kWholeGpu;
      return true;
    }
  }
  return false;
}

// With more left of this one limit the alternative would start.
bool ReasonBuilder::lacks_only(std::int32_t slot, std::int32_t option, const Reason& quota) {
  const kernel::ProblemView& p = *in_.problem;
  const kernel::DemandRow& demand = p.demands[p.options[option].demand];
  for (std::int32_t q = p.job_queue[slot]; q != kNone; q = p.queue_parent[q]) {
    for (const std::int32_t column : {demand.gpu_type, p.n_types}) {
      if (q == quota.queue && column == (quota.gpu_type == kNone ? p.n_types : quota.gpu_type)) continue;
      const std::int64_t at = std::int64_t{q} * (p.n_types + 1) + column;
      if (p.queue_cap[at] != kernel::kNoLimit && demand.quota > p.queue_cap[at] - in_.queue_used[at]) return false;
    }
  }
  return demand.exact != 0 && shortage(p.options[option].demand, in_.option_run[option]).code == ReasonCode::kNone;
}

const Reason& ReasonBuilder::infeasible(std::int32_t demand) {
  const auto at = static_cast<std::size_t>(demand);
  if (never_seen_[at] != never_epoch_) {
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
  }
  return short_of_[at];
}

Reason ReasonBuilder::smallest_shortage(std::int32_t slot, bool& fits) {
  const kernel::ProblemView& p = *in_.problem;
  const auto never = [&](std::int32_t o) { return infeasible(in_.asked[o].demand).certified; };
  // Of a type that could never hold it, no more free GPUs help; unless that is so of all, and no certificate was found to hold.
  bool some_may = false;
  for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1] && !some_may; ++o) some_may = !never(o);
  Reason best;
  for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1]; ++o) {
    const std::int32_t demand = p.options[o].demand;
    Reason quota;
    if (quota_fails(slot, p.demands[demand], false, quota)) continue;
    if (some_may && never(o)) continue;
    const Reason& here = shortage(demand, in_.option_run[o]);
    fits = fits || here.code == ReasonCode::kNone;
    const bool smaller = here.missing > 0 && (best.missing == 0 || here.missing < best.missing);
    if (best.code == ReasonCode::kNone || smaller) best = here;
  }
  return best;
}

// The first alternative of which nothing is short.
std::int32_t ReasonBuilder::fitting_demand(std::int32_t slot) {
  const kernel::ProblemView& p = *in_.problem;
  for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1]; ++o) {
    const std::int32_t demand = p.options[o].demand;
    Reason quota;
    if (!quota_fails(slot, p.demands[demand], false, quota) && shortage(demand, in_.option_run[o]).code == ReasonCode::kNone) return demand;
  }
  return p.options[p.option_begin[slot]].demand;
}

}  // namespace berth::core
