#include "host/core/placement/stuck_jobs.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

constexpr std::size_t kMostLooks = 32;  // jobs for which others of no smaller class are counted

bool has_gpus(Outcome outcome) { return outcome == Outcome::kPlaced || outcome == Outcome::kKept || outcome == Outcome::kMoved; }

// What a job has after a pass.
QuotaAmount amount_after(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, const kernel::PlaceResult& result,
                         std::int32_t i) {
  if (!has_gpus(result.outcome[i])) return {};
  return result.outcome[i] == Outcome::kKept ? held_amount(s, job) : asked_in(p, p.option_begin[job] + result.option[i]);
}

// Whether the job at `i` has to keep what it has where the one at `from` comes first: it is before it, or of no smaller class.
bool is_ahead(const QuotaOrder& quotas, std::span<const std::int32_t> order, std::int32_t from, std::int32_t i) {
  const std::int32_t job = order[to_index(from)], other = order[to_index(i)];
  if (i < from || i == from) return i < from;
  return quotas.class_rule() && quotas.standing(other) == quotas.standing(job) &&
         quotas.classes()[to_index(other)] >= quotas.classes()[to_index(job)];
}

const kernel::DemandRow& first_demand(const kernel::ProblemView& p, std::int32_t job) {
  return p.demands[p.options[p.option_begin[job]].demand];
}

/// A node (level 0), or a domain of a level in a topology.
struct PlaceLevel {
  std::int32_t topology = 0, level = 0;
};

// The most GPUs that a job needs in one such place.
std::int64_t need_at(const kernel::ProblemView& p, std::int32_t job, const PlaceLevel& at) {
  if (p.option_begin[job] == p.option_end[job]) return 0;
  const kernel::DemandRow& demand = first_demand(p, job);
  std::int64_t most = 0;
  for (std::int32_t g = demand.group_begin; g < demand.group_end; ++g) {
    const kernel::GroupRow& group = p.groups[g];
    const bool in_it = group.require_level == 0 || (group.require_level <= at.level && group.require_topology == at.topology);
    const bool together = group.require_level >= 0 && in_it;
    most = std::max<std::int64_t>(most, together ? std::int64_t{group.members} * group.gpus : group.gpus);
  }
  return most;
}

// GPUs of each type that are free now, or that some job of the order may give back.
void gpus_in_reach(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::vector<std::int64_t>& reach) {
  reach.assign(to_index(p.n_types), 0);
  const auto add = [&](std::int32_t node, std::uint64_t gpus) {
    if (p.node_type[node] >= 0) reach[to_index(p.node_type[node])] += std::popcount(gpus);
  };
  for (std::int32_t node = 0; node < p.n_nodes; ++node) add(node, p.node_free[node]);
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (request.victim_ok[i] == 0) continue;
    const std::int32_t job = request.order[i];
    for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) add(p.held[h].node, p.held[h].mask & p.node_open[p.held[h].node]);
  }
}

void take(const kernel::ProblemView& p, const kernel::PlaceRequest& request, const kernel::PlaceResult& result, std::int32_t i,
          std::vector<std::int64_t>& reach) {
  const auto take_one = [&](std::int32_t node, std::uint64_t gpus) {
    if (p.node_type[node] >= 0) reach[to_index(p.node_type[node])] -= std::popcount(gpus);
  };
  const std::int32_t job = request.order[i];
  if (result.outcome[i] == Outcome::kKept && request.victim_ok[i] != 0) {
    for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h)
      take_one(p.held[h].node, p.held[h].mask & p.node_open[p.held[h].node]);
  } else if (has_gpus(result.outcome[i]) && result.outcome[i] != Outcome::kKept) {
    for (std::int32_t e = result.entry_begin[i]; e < result.entry_end[i]; ++e) take_one(result.entries[e].node, result.entries[e].mask);
  }
}

// Whether some option of a job asks for no more GPUs.
bool is_in_reach(const kernel::ProblemView& p, std::int32_t job, const std::vector<std::int64_t>& reach) {
  const auto fits = [&](const kernel::OptionRow& option) {
    const kernel::DemandRow& demand = p.demands[option.demand];
    return demand.gpus > 0 && demand.gpus <= reach[to_index(demand.gpu_type)];
  };
  return std::any_of(p.options + p.option_begin[job], p.options + p.option_end[job], fits);
}

}  // namespace

std::span<const std::int32_t> StuckJobs::find(const kernel::ProblemView& p, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                                              const kernel::PlaceResult& result) {
  stuck_.clear();
  const std::span<const std::int32_t> order(request.order, to_index(request.n));
  const auto is_stuck = [&](std::int32_t i) {
    return !has_gpus(result.outcome[i]) && result.outcome[i] != Outcome::kBehind &&
           quotas.standing(request.order[i]) != QuotaStanding::kBorrowing;
  };
  std::int32_t first = 0;
  while (first < request.n && !is_stuck(first)) ++first;
  if (first == request.n) return stuck_;
  gpus_in_reach(p, request, reach_);
  std::size_t looks = kMostLooks;
  for (std::int32_t i = first; i-- > 0;) take(p, request, result, i, reach_);
  for (std::int32_t i = first; i < request.n && stuck_.size() < kMostStuckJobs && looks > 0; ++i) {
    if (!is_stuck(i)) {
      take(p, request, result, i, reach_);
    } else if (is_in_reach(p, request.order[i], reach_)) {
      --looks;
      own_ = reach_;
      for (std::int32_t j = i + 1; j < request.n && quotas.class_rule(); ++j) {
        if (is_ahead(quotas, order, i, j)) take(p, request, result, j, own_);
      }
      if (is_in_reach(p, request.order[i], own_)) stuck_.push_back(i);
    }
  }
  return stuck_;
}

std::span<const std::int32_t> StuckJobs::put_first(const kernel::ProblemView& p, const QuotaOrder& quotas,
                                                   std::span<const std::int32_t> order, std::int32_t from,
                                                   std::vector<std::int32_t>& other) {
  const std::int32_t job = order[to_index(from)];
  const kernel::GroupRow& group = p.groups[first_demand(p, job).group_begin];
  const PlaceLevel place{group.require_topology, std::max(0, group.require_level)};
  const std::int64_t need = need_at(p, job, place);
  const auto rank = [&](std::int32_t i) {  // 0: before it, 2: behind it
    if (i == from) return 1;
    const std::int32_t one = order[to_index(i)];
    if (quotas.standing(one) != quotas.standing(job)) return i < from ? 0 : 2;
    return is_ahead(quotas, order, from, i) && need_at(p, one, place) >= need ? 0 : 2;
  };
  to_.resize(order.size());
  other.resize(order.size());
  std::int32_t next = 0;
  for (const int of : {0, 1, 2}) {
    for (std::int32_t i = 0; i < std::ssize(order); ++i) {
      if (rank(i) != of) continue;
      other[to_index(next)] = order[to_index(i)];
      to_[to_index(i)] = next++;
    }
  }
  return to_;
}

bool first_starts(const StateImpl& s, const kernel::ProblemView& p, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                  const kernel::PlaceResult& before, const PassWithFirst& with) {
  const kernel::PlaceResult& now = with.result;
  const auto at = [&](std::int32_t i) { return with.to[to_index(i)]; };
  const std::int32_t job = request.order[with.from];
  if (!has_gpus(now.outcome[at(with.from)]) || !quotas.is_claimed(s, job, amount_after(s, p, job, now, at(with.from)))) return false;
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (!is_ahead(quotas, {request.order, to_index(request.n)}, with.from, i)) continue;
    if (has_gpus(before.outcome[i])) {
      const std::int32_t one = request.order[i];
      const QuotaAmount had = amount_after(s, p, one, before, i), has = amount_after(s, p, one, now, at(i));
      if (has.type != had.type || has.gpus != had.gpus || has.cpu > had.cpu || has.memory > had.memory) return false;
    } else if (before.outcome[i] == Outcome::kReserved && !has_gpus(now.outcome[at(i)])) {
      if (now.outcome[at(i)] != Outcome::kReserved || now.reserve_at[at(i)] > before.reserve_at[i]) return false;
    }
  }
  return true;
}

void StuckJobs::order_as_before(const QuotaOrder& quotas, const kernel::PlaceRequest& request, const kernel::PlaceResult& before,
                                const PassWithFirst& with) {
  const std::span<const std::int32_t> order(request.order, to_index(request.n));
  const kernel::PlaceResult& r = with.result;
  from_.resize(with.to.size());
  for (std::int32_t i = 0; i < request.n; ++i) from_[to_index(with.to[to_index(i)])] = i;
  const auto reorder = [&](auto* column, auto& now) {
    now.assign(column, column + request.n);
    for (std::int32_t i = 0; i < request.n; ++i) column[i] = now[to_index(with.to[to_index(i)])];
  };
  for (auto* column : {r.option, r.entry_begin, r.entry_end, r.displaced_by}) reorder(column, ints_);
  reorder(r.outcome, outcomes_);
  reorder(r.reserve_at, times_);
  for (std::int32_t i = 0; i < request.n; ++i) {
    std::int32_t& by = r.displaced_by[i];
    if (by >= 0) by = from_[to_index(by)];
    // The job that is first displaces it here, but it would leave without that, too.
    const std::int32_t other = before.displaced_by[i];
    if (by == with.from && other >= 0 && is_ahead(quotas, order, with.from, i) &&
        (r.outcome[other] == Outcome::kPlaced || r.outcome[other] == Outcome::kMoved))
      by = other;
  }
}

}  // namespace berth::core
