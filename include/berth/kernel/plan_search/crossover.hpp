#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/base/random.hpp"
#include "berth/kernel/plan_search/places.hpp"

/// Takes over from another plan the parts with a higher value: docs/ones-plus.md section 4.
namespace berth::kernel {

/// The parent of an individual in a generation, kNone: none.
/// Individuals that take and those that give are disjoint, so that all can work at once in place.
BERTH_HD inline std::int32_t plan_search_crossover(const PlanSearchRequest& r, std::int32_t generation, std::int32_t individual) {
  const std::int32_t here = individual % r.population;
  if (r.population < 2 || here % 2 != generation % 2 || !has_operator(r.operators, PlanSearchOperator::kCrossover)) return kNone;
  const Draws draws{r.seed, static_cast<std::uint32_t>(PlanSearchDraw::kCrossover), static_cast<std::uint32_t>(individual),
                    static_cast<std::uint32_t>(generation)};
  const std::int32_t parent = (here + 1 + 2 * below(draws.number(0), r.population / 2)) % r.population;
  const bool migrates = r.islands > 1 && has_operator(r.operators, PlanSearchOperator::kMigrate) && (generation + 1) % r.migration == 0;
  const std::int32_t island = (individual / r.population + (migrates ? 1 : 0)) % r.islands;
  return island * r.population + parent;
}

template <class Group>
struct PlanSearchCrossover {
  PlanSearchPlaces<Group>& at;
  const PlanSearchIndividual& other;

  BERTH_HD std::int32_t n_of(const PlanSearchIndividual& x, std::int32_t job) const {
    return x.option[job] < 0 ? 0 : x.entry_end[job] - x.entry_begin[job];
  }

  BERTH_HD bool differs(std::int32_t job) const {
    const PlanSearchIndividual& mine = at.x;
    if (mine.option[job] != other.option[job]) return true;
    const std::int32_t n = n_of(mine, job);
    if (n != n_of(other, job)) return true;
    for (std::int32_t e = 0; e < n; ++e) {
      const PlacedRow& a = mine.entries[mine.entry_begin[job] + e];
      const PlacedRow& b = other.entries[other.entry_begin[job] + e];
      if (a.node != b.node || a.mask != b.mask || a.group != b.group || a.member != b.member) return true;
    }
    return false;
  }

  BERTH_HD std::int32_t root(std::int32_t block) const {
    while (at.ws.parent[block] != block) {
      at.ws.parent[block] = at.ws.parent[at.ws.parent[block]];
      block = at.ws.parent[block];
    }
    return block;
  }

  /// Joins all blocks that the job uses in either plan. @returns one of them.
  BERTH_HD std::int32_t join(std::int32_t job, const PlanSearchIndividual& x, std::int32_t with) const {
    for (std::int32_t e = 0; e < n_of(x, job); ++e) {
      const std::int32_t block = root(at.v.block[x.entries[x.entry_begin[job] + e].node]);
      if (with == kNone) {
        with = block;
      } else {
        with = root(with);
        const std::int32_t low = block < with ? block : with;
        at.ws.parent[block < with ? with : block] = low;
        with = low;
      }
    }
    return with;
  }

  BERTH_HD std::int64_t value_of(const PlanSearchIndividual& x, std::int32_t job) const {
    return x.option[job] < 0 ? 0 : x.placed_value[job];
  }

  /// A block that the job uses in either plan.
  BERTH_HD std::int32_t block_of(std::int32_t job) const {
    const PlanSearchIndividual& x = at.x.option[job] >= 0 ? at.x : other;
    return at.v.block[x.entries[x.entry_begin[job]].node];
  }

  /// Finds the components of blocks and the gain of each in the other plan. Marks the jobs in components with a gain. One thread.
  BERTH_HD bool weigh() const {
    const ProblemView& p = at.w.p;
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] != 0) join(job, other, join(job, at.x, kNone));
    }
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] != 0) at.ws.gain[root(block_of(job))] += value_of(other, job) - value_of(at.x, job);
    }
    for (std::int32_t n = 0; at.v.fragment != nullptr && n < p.n_nodes; ++n) {
      const std::int64_t* lost = at.v.fragment + p.node_type[n] * kSizesPerNode;
      at.ws.gain[root(at.v.block[n])] += lost[popcount(at.w.s.free[n])] - lost[popcount(other.s.free[n])];
    }
    bool any = false;
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] == 0) continue;
      at.ws.mark[job] = at.ws.gain[root(block_of(job))] > 0 ? 1 : 0;
      any = any || at.ws.mark[job] != 0;
    }
    return any;
  }

  /// Whether the takeover leaves every queue within its limits. A limit may be lowered below what runs: a queue may exceed it no further
  /// than before, and only where everything in it runs on unchanged. One thread.
  BERTH_HD bool queues_allow() {
    const ProblemView& p = at.w.p;
    const std::int64_t n = std::int64_t{p.n_queues} * (p.n_types + 1);
    if (n == 0) return true;
    const auto charge = [&](std::int64_t sign) {
      for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
        if (at.ws.mark[job] == 0) continue;
        for (const PlanSearchIndividual* x : {&at.x, &other}) {
          if (x->option[job] < 0) continue;
          const DemandRow& d = at.demand_of(x->option[job]);
          charge_queue(p, at.w.s, at.v.problem_job[job], d.gpu_type, x == &other ? sign * d.quota : -sign * d.quota);
        }
      }
    };
    for (std::int64_t q = 0; q < n; ++q) at.ws.queue_before[q] = at.w.s.queue_used[q];
    charge(1);
    bool allowed = true;
    for (std::int64_t q = 0; q < n; ++q) {
      const std::int64_t used = at.w.s.queue_used[q];
      allowed = allowed && (p.queue_cap[q] == kNoLimit || used <= p.queue_cap[q] || used <= at.ws.queue_before[q]);
    }
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] == 0 || other.option[job] < 0 || other.at_home[job] != 0) continue;
      allowed = allowed && passes_quota(p, at.w.s, at.v.problem_job[job], at.demand_of(other.option[job]).gpu_type, 0);
    }
    charge(-1);
    return allowed;
  }

  /// One thread. @returns the end of the entries.
  BERTH_HD std::int32_t take_over() {
    const PlanSearchIndividual& x = at.x;
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] != 0) at.leave(job);
    }
    std::int32_t to = at.w.n_entries;
    for (std::int32_t job = 0; job < at.v.n_jobs; ++job) {
      if (at.ws.mark[job] == 0 || other.option[job] < 0) continue;
      assert(x.option[job] < 0);
      const std::int32_t from = to;
      for (std::int32_t e = other.entry_begin[job]; e < other.entry_end[job]; ++e) x.entries[to++] = other.entries[e];
      at.hold(job, other.option[job], from, to, other.at_home[job] != 0);
    }
    return to;
  }

  /// @returns whether the two plans differ.
  BERTH_HD bool run() {
    at.pack_entries();
    auto& group = at.w.group;
    for (std::int32_t b = group.rank(); b < at.v.n_blocks; b += group.size()) {
      at.ws.parent[b] = b;
      at.ws.gain[b] = 0;
    }
    bool any = false;
    for (std::int32_t job = group.rank(); job < at.v.n_jobs; job += group.size()) {
      at.ws.mark[job] = differs(job) ? 1 : 0;
      any = any || at.ws.mark[job] != 0;
    }
    if (!group.any(any)) return false;
    group.sync();
    if (at.lead()) at.ws.shared[0] = weigh() && queues_allow() ? take_over() : at.w.n_entries;
    group.sync();
    at.w.n_entries = static_cast<std::int32_t>(at.ws.shared[0]);
    return true;
  }
};

}  // namespace berth::kernel
