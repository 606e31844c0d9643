#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/base/random.hpp"
#include "berth/kernel/plan_search/places.hpp"

/// One step of the local search: docs/ones-plus.md section 3.
namespace berth::kernel {

/// The nodes that are emptied to make room for one option.
struct PlanSearchRoom {
  std::int32_t topology, level, domain;  // domain: of the level, at level 0 the node; kNone: none exists
  std::int32_t first, last;              // positions in the topology's order
};

template <class Group>
struct PlanSearchStep {
  PlanSearchPlaces<Group>& at;
  const PlanSearchRequest& request;
  std::int32_t n_changes = 0;  // the same in all threads

  BERTH_HD const PlanSearchView& view() const { return at.v; }
  BERTH_HD const ProblemView& problem() const { return at.w.p; }

  /// Removes a job and records it, so that the step can be undone.
  BERTH_HD void lift(std::int32_t job) {
    at.w.group.sync();
    if (at.lead()) {
      const PlanSearchIndividual& x = at.x;
      assert(n_changes <= kMostPlanSearchMoved + kPlanSearchOffers);
      at.ws.changes[n_changes] = {job, x.option[job], x.entry_begin[job], x.entry_end[job], x.at_home[job]};
      at.leave(job);
    }
    ++n_changes;
    at.w.group.sync();
  }

  BERTH_HD void undo() {
    at.w.group.sync();
    if (at.lead()) {
      for (std::int32_t i = n_changes - 1; i >= 0; --i) at.leave(at.ws.changes[i].job);
      for (std::int32_t i = n_changes - 1; i >= 0; --i) {
        const PlanSearchChange& c = at.ws.changes[i];
        if (c.option >= 0) at.hold(c.job, c.option, c.entry_begin, c.entry_end, c.at_home != 0);
      }
    }
    at.w.group.sync();
  }

  /// The smallest domain around a node that could hold the option when empty: of the topology it requires, else of the switches.
  BERTH_HD PlanSearchRoom room_around(std::int32_t node, const DemandRow& d) const {
    const ProblemView& p = problem();
    const GroupRow& row = p.groups[d.group_begin];
    const bool require = row.require_level >= 1;
    PlanSearchRoom room{require ? row.require_topology : 0, 0, node, 0, 0};
    const TopologyView& topology = p.topology[room.topology];
    std::int64_t gpus = view().node_room[node];
    while (gpus < d.gpus && room.level < topology.levels - 1) {
      ++room.level;
      room.domain = topology.node_domain[std::int64_t{room.level} * p.n_nodes + node];
      gpus = view().room[room.domain];
    }
    if (gpus < d.gpus || (require && room.level > row.require_level) || (row.require_level == 0 && room.level > 0)) room.domain = kNone;
    if (room.level > 0 && room.domain >= 0) {
      room.first = p.domains.first[room.domain];
      room.last = p.domains.last[room.domain];
    }
    return room;
  }

  BERTH_HD std::int64_t free_of(const PlanSearchRoom& room) const {
    if (room.level == 0) return popcount(at.w.s.free[room.domain]);
    return free_in(problem(), at.w.s, room.topology, room.level, room.domain);
  }

  BERTH_HD std::int32_t node_of(const PlanSearchRoom& room, std::int32_t i, std::int32_t start) const {
    if (room.level == 0) return room.domain;
    const std::int32_t n = room.last - room.first;
    return problem().topology[room.topology].order[room.first + (start + i) % n];
  }

  /// The node around which room is made: any node of the type, or a node of some open job.
  BERTH_HD std::int32_t anchor(const DemandRow& d, const RandomBlock& draw) const {
    const std::int32_t n_open = at.x.counts[1];
    if ((draw.word[3] & 1) != 0 && n_open > 0) {
      const std::int32_t other = at.x.open[below(draw.word[0], n_open)];
      if (at.x.option[other] >= 0) {
        const std::int32_t n = at.x.entry_end[other] - at.x.entry_begin[other];
        const std::int32_t node = at.x.entries[at.x.entry_begin[other] + below(draw.word[1], n)].node;
        if (problem().node_type[node] == d.gpu_type) return node;
      }
    }
    const std::int32_t* nodes = view().type_node + view().type_begin[d.gpu_type];
    return nodes[below(draw.word[2], view().type_begin[d.gpu_type + 1] - view().type_begin[d.gpu_type])];
  }

  /// Removes the jobs of a room one after another, starting at its anchor, until the option fits.
  BERTH_HD BERTH_NOINLINE bool make_room(std::int32_t job, std::int32_t k, std::int64_t than, const RandomBlock& draw) {
    const ProblemView& p = problem();
    const DemandRow& d = at.demand_of(k);
    if (view().type_begin[d.gpu_type] == view().type_begin[d.gpu_type + 1]) return false;
    const std::int32_t node = anchor(d, draw);
    const PlanSearchRoom room = room_around(node, d);
    if (room.domain < 0) return false;
    const std::int32_t n = room.level == 0 ? 1 : room.last - room.first;
    std::int32_t from = 0;
    while (room.level > 0 && p.topology[room.topology].order[room.first + from] != node) ++from;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t here = node_of(room, i, from);
      if (!in_filter(p, d.filter, here)) continue;
      for (std::int32_t g = p.gpu_begin[here]; g < p.gpu_begin[here + 1]; ++g) {
        const std::int32_t other = at.x.owner[g];
        if (other < 0) continue;
        if (n_changes == kMostPlanSearchMoved + 1) return false;
        lift(other);
        if (free_of(room) >= d.gpus && at.place_for_more(job, k, than)) return true;
      }
    }
    return false;
  }

  /// Places the removed jobs in what is left: largest first, in their former option, else in the best that fits.
  BERTH_HD void settle() {
    at.w.group.sync();
    if (at.lead()) {
      for (std::int32_t i = 2; i < n_changes; ++i) {
        const PlanSearchChange c = at.ws.changes[i];
        std::int32_t to = i;
        for (; to > 1 && before(c, at.ws.changes[to - 1]); --to) at.ws.changes[to] = at.ws.changes[to - 1];
        at.ws.changes[to] = c;
      }
    }
    at.w.group.sync();
    for (std::int32_t i = 1; i < n_changes; ++i) {
      const PlanSearchChange c = at.ws.changes[i];
      if (at.place(c.job, c.option)) continue;
      for (std::int32_t r = view().rank_begin[c.job]; r < view().rank_begin[c.job + 1]; ++r) {
        if (view().ranked[r] != c.option && at.place(c.job, view().ranked[r])) break;
      }
    }
  }

  BERTH_HD bool before(const PlanSearchChange& a, const PlanSearchChange& b) const {
    const std::int64_t has_a = at.demand_of(a.option).gpus;
    const std::int64_t has_b = at.demand_of(b.option).gpus;
    return has_a != has_b ? has_a > has_b : a.job < b.job;
  }

  /// The option that a job tries: its preferred option, or any with a positive value.
  BERTH_HD std::int32_t option_to_try(std::int32_t job, bool wanted, std::uint32_t draw) const {
    const std::int32_t first = view().rank_begin[job];
    const std::int32_t n = view().rank_begin[job + 1] - first;
    if (n == 0) return kNone;
    return wanted && view().preferred[job] >= 0 ? view().preferred[job] : view().ranked[first + below(draw, n)];
  }

  /// In its current option a job must gain value, otherwise nothing has changed. In another option any value is accepted.
  BERTH_HD std::int64_t than_in(std::int32_t job, std::int32_t k) const {
    return k == at.x.option[job] ? at.x.placed_value[job] : INT64_MIN;
  }

  BERTH_HD bool exchange(std::int32_t job, std::int32_t k, const RandomBlock& draw) {
    const std::int64_t than = than_in(job, k);
    lift(job);
    if (has_operator(request.operators, PlanSearchOperator::kGrow) && at.place_for_more(job, k, than)) return true;
    if (!has_operator(request.operators, PlanSearchOperator::kMakeRoom) || !make_room(job, k, than, draw)) return false;
    settle();
    return true;
  }

  BERTH_HD bool changed(std::int32_t job) const {
    for (std::int32_t i = 0; i < n_changes; ++i) {
      if (at.ws.changes[i].job == job) return true;
    }
    return false;
  }

  /// Offers idle GPUs to some of the jobs that lack their preferred option.
  BERTH_HD void offer(const RandomBlock& draw) {
    for (std::int32_t i = 0; i < kPlanSearchOffers; ++i) {
      at.w.group.sync();
      const std::int32_t n_open = at.x.counts[1];
      if (n_open == 0) return;
      const std::int32_t job = at.x.open[below(draw.word[i], n_open)];
      if (changed(job)) continue;
      if (at.x.option[job] >= 0) {
        upgrade(job);
        continue;
      }
      for (std::int32_t r = view().rank_begin[job]; r < view().rank_begin[job + 1]; ++r) {
        lift(job);
        if (at.place(job, view().ranked[r])) break;
        --n_changes;
      }
    }
  }

  BERTH_HD void upgrade(std::int32_t job) {
    const std::int32_t k = view().preferred[job];
    if (k < 0) return;
    const std::int64_t than = than_in(job, k);
    lift(job);
    if (at.place_for_more(job, k, than)) return;
    at.w.group.sync();
    if (at.lead()) {
      const PlanSearchChange& c = at.ws.changes[n_changes - 1];
      at.hold(c.job, c.option, c.entry_begin, c.entry_end, c.at_home != 0);
    }
    at.w.group.sync();
    --n_changes;
  }

  /// Steps that lower the value are undone.
  BERTH_HD BERTH_NOINLINE void run(std::int32_t generation, std::int32_t individual, std::int32_t step) {
    const Draws draws{request.seed, static_cast<std::uint32_t>(PlanSearchDraw::kStep), static_cast<std::uint32_t>(individual),
                      static_cast<std::uint32_t>(generation)};
    const RandomBlock draw = draws.block(static_cast<std::uint32_t>(3 * step));
    const RandomBlock more = draws.block(static_cast<std::uint32_t>(3 * step + 1));
    const std::int32_t n_open = at.x.counts[1];
    const std::int32_t job =
        (draw.word[0] & 3) != 0 && n_open > 0 ? at.x.open[below(draw.word[1], n_open)] : below(draw.word[1], view().n_jobs);
    const std::int32_t k = option_to_try(job, (draw.word[0] & 4) != 0, draw.word[2]);
    if (k < 0 || (k == at.x.option[job] && !at.is_away(job))) return;
    at.pack_entries();
    const std::int64_t score = *at.x.score;
    const std::int32_t entries = at.w.n_entries;
    n_changes = 0;
    const bool done = exchange(job, k, more);
    if (done && has_operator(request.operators, PlanSearchOperator::kOffer)) {
      offer(draws.block(static_cast<std::uint32_t>(3 * step + 2)));
    }
    at.w.group.sync();
    if (done && (*at.x.score >= score || step < at.x.counts[2])) return;
    undo();
    at.w.n_entries = entries;
  }
};

}  // namespace berth::kernel
