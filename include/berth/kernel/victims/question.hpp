#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/victims/workspace.hpp"

/// What a question of `victims` is about: the nodes of its domain, and how many members fit on one (docs/victims.md).
namespace berth::kernel {

/// Position of each node in the order of each topology; null where positions are ranks.
struct VictimsPositions {
  const std::int32_t* position[5];  // [n_nodes]
};

/// Element body: writes the position of the node at position i.
struct VictimsPositionBody {
  const std::int32_t* order;
  std::int32_t* position;
  BERTH_HD void operator()(std::int64_t i) const { position[order[i]] = static_cast<std::int32_t>(i); }
};

/// Whether a question needs the positions of its topology.
BERTH_HD inline bool needs_positions(const ProblemView& p, const VictimsRequest& r, std::int32_t q) {
  return r.topology[q] != kNone && r.domain[q] != kNone && p.topology[r.topology[q]].ranked == 0;
}

/// GPUs, cores and memory that become free on a node.
struct VictimsRoom {
  std::int64_t cpu, memory;
  std::int32_t gpus;
};

/// One question; the same in all threads.
struct VictimsQuestion {
  const ProblemView* p;
  const GroupRow* row;
  const std::uint64_t* allowed;  // nodes of the filter
  const std::int32_t* order;     // nodes by position; null: ranks
  const std::int32_t* position;  // null: ranks
  std::int32_t first, n_nodes;   // positions of the domain
  std::int32_t n;                // candidates
  const std::int32_t* job;       // [n]
  const std::int32_t* priority;  // [n]
  const std::int64_t* cost;      // [n]
  TimeUs ends;

  BERTH_HD VictimsQuestion(const ProblemView& problem, const VictimsPositions& positions, const VictimsRequest& r, std::int32_t q)
      : p(&problem),
        row(problem.groups + problem.demands[r.demand[q]].group_begin),
        allowed(problem.filter_words + std::int64_t{problem.demands[r.demand[q]].filter} * problem.n_words),
        order(nullptr),
        position(nullptr),
        first(0),
        n_nodes(problem.n_nodes),
        n(r.candidate_end[q] - r.candidate_begin[q]),
        job(r.candidate_job + r.candidate_begin[q]),
        priority(r.candidate_priority + r.candidate_begin[q]),
        cost(r.candidate_cost + r.candidate_begin[q]),
        ends(r.ends[q]) {
    const std::int32_t topology = r.topology[q], domain = r.domain[q];
    if (topology == kNone) {
      first = domain;
      n_nodes = 1;
    } else if (domain != kNone) {
      first = problem.domains.first[domain];
      n_nodes = problem.domains.last[domain] - first;
      position = positions.position[topology];
      if (position != nullptr) order = problem.topology[topology].order;
    }
  }

  /// Rank of a node of the domain.
  BERTH_HD std::int32_t rank_of(std::int32_t node) const { return order == nullptr ? first + node : order[first + node]; }
  /// Place in the domain of a node by rank, kNone: outside.
  BERTH_HD std::int32_t node_of(std::int32_t rank) const {
    const std::int32_t node = (position == nullptr ? rank : position[rank]) - first;
    return node >= 0 && node < n_nodes ? node : kNone;
  }
  BERTH_HD bool may_use(std::int32_t rank) const {
    if ((allowed[rank >> 6] >> (rank & 63) & 1) == 0) return false;
    return p->has_until == 0 || p->node_until[rank] == kNever || (ends != kNever && ends <= p->node_until[rank]);
  }
  BERTH_HD std::int64_t cost_of(std::int32_t candidate) const { return bounded(cost[candidate]); }
  BERTH_HD static std::int64_t bounded(std::int64_t v) { return v < 0 ? 0 : v > kMostVictimCost ? kMostVictimCost : v; }

  /// Members that fit on a node with that many free GPUs, counting what becomes free.
  BERTH_HD std::int32_t members_on(std::int32_t rank, std::int32_t free, const VictimsRoom& room) const {
    const std::int32_t gpus = free + room.gpus;
    if (gpus < row->gpus || row->gpus > kMostVictimGpus) return 0;
    std::int64_t cap = row->gpus == 1 ? gpus : gpus / row->gpus;
    if (row->cpu > 0 && p->node_cpu[rank] != kNoLimit) cap = within(cap, p->node_cpu[rank], room.cpu, row->cpu);
    if (row->memory > 0 && p->node_memory[rank] != kNoLimit) cap = within(cap, p->node_memory[rank], room.memory, row->memory);
    return static_cast<std::int32_t>(cap);
  }

 private:
  BERTH_HD static std::int64_t within(std::int64_t cap, std::int64_t free, std::int64_t freed, std::int64_t per) {
    const std::int64_t has = free > INT64_MAX - freed ? INT64_MAX : free + freed;
    if (has <= 0) return 0;
    if (per < INT64_MAX / kMostVictimGpus && cap <= kMostVictimGpus && cap * per <= has) return cap;  // a division costs more
    const std::int64_t holds = has / per;
    return holds < cap ? holds : cap;
  }
};

/// Sizes of a question's workspace. @param rows_before  [n_candidates + 1] rows that the candidates before each one hold
/// @param lanes  threads of the group
BERTH_HD inline VictimsSizes victims_sizes(const ProblemView& p, const VictimsRequest& r, const std::int64_t* rows_before, std::int32_t q,
                                           std::int64_t lanes) {
  const std::int32_t topology = r.topology[q], domain = r.domain[q];
  std::int64_t nodes = p.n_nodes;
  if (topology == kNone) nodes = 1;
  if (topology != kNone && domain != kNone) nodes = std::int64_t{p.domains.last[domain]} - p.domains.first[domain];
  return {nodes, std::int64_t{r.candidate_end[q]} - r.candidate_begin[q],
          rows_before[r.candidate_end[q]] - rows_before[r.candidate_begin[q]], lanes < nodes ? lanes : nodes};
}

}  // namespace berth::kernel
