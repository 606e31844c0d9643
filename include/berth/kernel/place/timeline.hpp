#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/place/releases.hpp"

/// What is free over time, for conservative backfill: docs/placement.md section 7.
namespace berth::kernel {

/// An instant at which something is released or reserved. Points are a list in time order and are never removed.
struct TimelinePoint {
  TimeUs at;
  std::int32_t next;    // kNone: the last
  std::int32_t change;  // the first change of a node at that instant, kNone
  std::int32_t charge;  // the first charge of a queue, kNone
  std::int32_t gives;   // 1: something is released, so that a reservation may start
};

/// What one job, or GPUs that no job holds, take from a node or give back. The changes of a node are a list in time
/// order; at one instant those that give come first.
struct NodeChange {
  TimeUs at;
  std::uint64_t mask, open;  // `open`: the GPUs that become free when they are given back
  std::int64_t cpu, memory, gpu_memory;
  std::int32_t share_ppm, node;
  std::int32_t take;
  std::int32_t next, next_here;  // of the node, of the point
  std::int32_t pad;
};

/// Millionths of GPUs of a type that a job's queue and its ancestors use more from then on.
struct QueueCharge {
  std::int64_t quota;
  std::int32_t job, type;
  std::int32_t next;  // of the point
  std::int32_t pad;
};

/// All candidates before `point` are known to fail for runs of `run` and more, of this demand and of those that need more.
struct TimelineMemo {
  TimeUs run;
  std::int32_t demand;
  std::int32_t point;  // kNone: all candidates fail
  std::int32_t round;  // it is valid in this round only
  std::int32_t pad;
};
inline constexpr std::int32_t kTimelineMemos = 32;  // of a filter

/// What a node has after its changes up to an instant, so that a window that moves on does not begin at the first.
struct NodeCursor {
  TimeUs at;
  std::int32_t next;  // the first change after `at`
  std::int32_t valid;
  std::uint64_t free;
  std::int64_t cpu, memory;
};

struct TimelineSpace {
  TimelinePoint* points;        // [1 + n_releases + 2n]
  std::int64_t* gpus;           // [points * n_types] free whole GPUs less those free now: an upper bound
  QueueCharge* charges;         // [n_releases + 2n]
  NodeChange* changes;          // [held rows + n_releases + 2 * entries]
  std::int32_t* first_change;   // [n_nodes] kNone
  NodeCursor* cursor;           // [n_nodes] not used where shares change
  std::uint8_t* node_shares;    // [n_nodes] 1: shares of its GPUs change
  std::int32_t* node_mark;      // [n_nodes] the last move that looked at it
  std::int64_t* queue_then;     // [n_queues * (n_types + 1)] usage at the point that is looked at
  std::int32_t* shared_ppm;     // [64] of the node that is looked at
  std::int64_t* shared_memory;  // [64]
  TimelineMemo* memo;           // [n_filters * kTimelineMemos]
  std::int32_t* answer;         // [1] from one thread to all
};

/// The timeline, and the least of what is free in one window of time. One thread changes it; of the copies of other
/// threads only `window` is used. A move of the window looks at the nodes that change between its old and new ends.
struct Timeline {
  const ProblemView& p;
  const PlaceRequest& request;
  TimelineSpace s;
  PassState window{};  // the least of what is free in [left, right), which always has the instant `left`
  TimeUs left = 0, right = 0;
  std::int32_t left_point = 0;   // the point at `left`
  std::int32_t right_point = 0;  // some point before `right`, or the first
  std::int32_t n_points = 0, n_charges = 0, n_changes = 0;
  std::int32_t mark = 0;
  std::int32_t round = 0;

  /// The first point is the state now, before anything is released.
  BERTH_HD TimeUs start_of(std::int32_t point) const { return point == 0 ? request.now : s.points[point].at; }
  BERTH_HD std::int64_t& gpus(std::int32_t point, std::int32_t type) const { return s.gpus[std::int64_t{point} * p.n_types + type]; }
  BERTH_HD TimeUs window_end(std::int32_t point, TimeUs run) const {
    const TimeUs start = start_of(point);
    if (run == kNever || run > kNever - 1 - start) return kNever;
    return start + run > s.points[point].at ? start + run : s.points[point].at + 1;
  }

  BERTH_HD std::int32_t new_point(TimeUs at, std::int32_t after) {
    const std::int32_t i = n_points++;
    s.points[i] = {at, kNone, kNone, kNone, 0};
    for (std::int32_t t = 0; t < p.n_types; ++t) gpus(i, t) = after == kNone ? 0 : gpus(after, t);
    if (after != kNone) {
      s.points[i].next = s.points[after].next;
      s.points[after].next = i;
    }
    return i;
  }

  /// The point at an instant that is not before that of `from`.
  BERTH_HD std::int32_t point_at(TimeUs at, std::int32_t from) {
    std::int32_t i = from;
    while (s.points[i].next != kNone && s.points[s.points[i].next].at <= at) i = s.points[i].next;
    return s.points[i].at == at ? i : new_point(at, i);
  }

  BERTH_HD void add_charge(std::int32_t point, std::int32_t job, std::int32_t type, std::int64_t quota) {
    if (type < 0 || p.job_queue[job] < 0) return;
    s.charges[n_charges] = {quota, job, type, s.points[point].charge, 0};
    s.points[point].charge = n_charges++;
  }

  /// Adds a change to its point; `link` adds it to its node.
  BERTH_HD std::int32_t add_change(std::int32_t point, const NodeChange& change) {
    const std::int32_t i = n_changes++;
    s.changes[i] = change;
    s.changes[i].at = s.points[point].at;
    s.changes[i].next = kNone;
    s.changes[i].next_here = s.points[point].change;
    s.points[point].change = i;
    if (change.share_ppm != kWholeGpu) s.node_shares[change.node] = 1;
    return i;
  }
  BERTH_HD void link(std::int32_t i) {
    NodeChange& change = s.changes[i];
    std::int32_t* at = &s.first_change[change.node];
    while (*at != kNone) {
      const NodeChange& other = s.changes[*at];
      if (other.at > change.at || (other.at == change.at && other.take > change.take)) break;
      at = &s.changes[*at].next;
    }
    change.next = *at;
    *at = i;
  }

  /// Begins with the events of a pass, which are in time order. @param result  has the entries of placed jobs
  BERTH_HD void build(const PlaceResult& result, const ReleaseEvent* events, std::int32_t n) {
    n_points = n_charges = n_changes = 0;
    ++round;
    for (std::int32_t node = 0; node < p.n_nodes; ++node) {
      s.first_change[node] = kNone;
      s.node_shares[node] = 0;
      s.cursor[node].valid = 0;
      s.node_mark[node] = 0;
    }
    mark = 0;
    std::int32_t last = new_point(request.now - 1, kNone);
    s.points[last].gives = 1;
    for (std::int32_t k = 0; k < n; ++k) {
      const ReleaseEvent& e = events[k];
      const TimeUs at = e.at > request.now ? e.at : request.now;
      if (at != s.points[last].at) last = new_point(at, last);
      s.points[last].gives = 1;
      if (e.position >= 0) {
        const DemandRow& demand = p.demands[p.options[p.option_begin[e.job] + result.option[e.position]].demand];
        for (std::int32_t i = result.entry_begin[e.position]; i < result.entry_end[e.position]; ++i)
          count_released(last, add_change(last, change_of(demand, result.entries[i], false, false)));
        add_charge(last, e.job, demand.gpu_type, -demand.quota);
      } else if (e.job >= 0) {
        for (std::int32_t h = p.held_begin[e.job]; h < p.held_end[e.job]; ++h) {
          const HeldRow& row = p.held[h];
          count_released(last, add_change(last, {0, row.mask, p.node_open[row.node], row.cpu, row.memory, row.gpu_memory, row.share_ppm,
                                                 row.node, 0, kNone, kNone, 0}));
        }
        add_charge(last, e.job, p.held_type[e.job], -held_quota(p, e.job));
      } else {
        count_released(last, add_change(last, {0, e.mask, ~std::uint64_t{0}, 0, 0, 0, kWholeGpu, e.node, 0, kNone, kNone, 0}));
      }
    }
    // Added in time order, so each goes before those that were linked already.
    for (std::int32_t i = n_changes - 1; i >= 0; --i) {
      s.changes[i].next = s.first_change[s.changes[i].node];
      s.first_change[s.changes[i].node] = i;
    }
    left = right = request.now - 1;
    left_point = right_point = 0;
  }

  BERTH_HD void count_released(std::int32_t point, std::int32_t change) const {
    const NodeChange& c = s.changes[change];
    if (p.node_type[c.node] >= 0) gpus(point, p.node_type[c.node]) += popcount(c.mask & c.open);
  }

  /// `reserved`: what is given back is what was taken, whatever the node's state.
  BERTH_HD NodeChange change_of(const DemandRow& demand, const PlacedRow& entry, bool take, bool reserved) const {
    const GroupRow& row = p.groups[demand.group_begin + entry.group];
    return {0,
            entry.mask,
            reserved ? ~std::uint64_t{0} : p.node_open[entry.node],
            entry.members * row.cpu,
            entry.members * row.memory,
            row.gpu_memory,
            row.share_ppm,
            entry.node,
            take ? 1 : 0,
            kNone,
            kNone,
            0};
  }

  /// Adds a job that starts at a point: at the first one it is placed now and `now` is charged already. Its nodes in
  /// the window are up to date then.
  BERTH_HD void add(const PassState& now, std::int32_t job, const DemandRow& demand, TimeUs run, const PlacedRow* entries, std::int32_t n,
                    std::int32_t point) {
    const bool reserved = point != 0;
    const TimeUs start = start_of(point);
    TimeUs end = run == kNever || run > kNever - 1 - start ? kNever : start + run;
    std::int32_t last = kNone;
    if (end != kNever) last = point_at(end, point);
    if (end != kNever) s.points[last].gives = 1;
    std::int64_t whole = 0, any = 0;
    const auto link_all = [&](std::int32_t at, bool take) {
      for (std::int32_t e = 0; e < n; ++e) link(add_change(at, change_of(demand, entries[e], take, reserved)));
      add_charge(at, job, demand.gpu_type, take ? demand.quota : -demand.quota);
    };
    for (std::int32_t e = 0; e < n; ++e) {
      any += popcount(entries[e].mask);
      if (entries[e].share_ppm == kWholeGpu) whole += popcount(entries[e].mask);
      if (entries[e].share_ppm != kWholeGpu) s.node_shares[entries[e].node] = 1;
    }
    if (reserved && end > start) {
      link_all(point, true);
      for (std::int32_t i = point; i != last; i = s.points[i].next) gpus(i, demand.gpu_type) -= whole;
    }
    if (!reserved) {
      for (std::int32_t i = last; i != kNone; i = s.points[i].next) gpus(i, demand.gpu_type) += any;
    }
    if (end != kNever && end + (reserved ? 0 : 1) > start) link_all(last, false);
    for (std::int32_t e = 0; e < n; ++e) {
      s.cursor[entries[e].node].valid = 0;
      look_at(now, entries[e].node);
    }
  }

  /// Applies one change to the resources of its node. Shares are in `shared_ppm` and `shared_memory`.
  BERTH_HD void apply(const NodeChange& c, std::uint64_t& free, std::int64_t& cpu, std::int64_t& memory) const {
    const std::int32_t sign = c.take != 0 ? 1 : -1;
    if (cpu != kNoLimit) cpu -= sign * c.cpu;
    if (memory != kNoLimit) memory -= sign * c.memory;
    std::uint64_t bits = c.mask;
    if (c.share_ppm != kWholeGpu) {
      for (std::uint64_t rest = c.mask; rest != 0; rest &= rest - 1) {
        const std::int32_t g = lowest(rest);
        s.shared_ppm[g] += sign * c.share_ppm;
        s.shared_memory[g] += sign * c.gpu_memory;
        if (c.take == 0 && s.shared_ppm[g] > 0) bits &= ~(std::uint64_t{1} << g);
      }
    }
    free = c.take != 0 ? free & ~bits : free | (bits & c.open);
  }

  /// Computes the window's part of one node from the state now.
  BERTH_HD void look_at(const PassState& now, std::int32_t node) {
    std::uint64_t free = now.free[node];
    std::int64_t cpu = now.cpu[node], memory = now.memory[node];
    const std::int32_t base = p.gpu_begin[node];
    const std::int32_t n = s.node_shares[node] != 0 ? p.gpu_begin[node + 1] - base : 0;
    for (std::int32_t g = 0; g < n; ++g) {
      s.shared_ppm[g] = now.used_ppm[base + g];
      s.shared_memory[g] = now.used_memory[base + g];
    }
    std::int32_t i = s.first_change[node];
    NodeCursor& cursor = s.cursor[node];
    if (n == 0 && cursor.valid != 0 && cursor.at <= left) {
      free = cursor.free;
      cpu = cursor.cpu;
      memory = cursor.memory;
      i = cursor.next;
    }
    for (; i != kNone && s.changes[i].at <= left; i = s.changes[i].next) apply(s.changes[i], free, cpu, memory);
    cursor = {left, i, 1, free, cpu, memory};
    // The GPU is in whole use when it is neither free nor shared: then no share fits.
    const auto used = [&](std::int32_t g) { return (free >> g & 1) == 0 && s.shared_ppm[g] == 0 ? kWholeGpu : s.shared_ppm[g]; };
    std::uint64_t least_free = free;
    std::int64_t least_cpu = cpu, least_memory = memory;
    for (std::int32_t g = 0; g < n; ++g) {
      window.used_ppm[base + g] = used(g);
      window.used_memory[base + g] = s.shared_memory[g];
    }
    while (i != kNone && s.changes[i].at < right) {
      const TimeUs at = s.changes[i].at;
      for (; i != kNone && s.changes[i].at == at; i = s.changes[i].next) apply(s.changes[i], free, cpu, memory);
      least_free &= free;
      if (cpu < least_cpu) least_cpu = cpu;
      if (memory < least_memory) least_memory = memory;
      for (std::int32_t g = 0; g < n; ++g) {
        if (used(g) > window.used_ppm[base + g]) window.used_ppm[base + g] = used(g);
        if (s.shared_memory[g] > window.used_memory[base + g]) window.used_memory[base + g] = s.shared_memory[g];
      }
    }
    window.cpu[node] = least_cpu;
    window.memory[node] = least_memory;
    set_free(p, window, node, least_free);
  }

  /// Looks at the nodes of a point with changes that give, or take, once a move.
  BERTH_HD void look_at_point(const PassState& now, std::int32_t point, std::int32_t take) {
    for (std::int32_t i = s.points[point].change; i != kNone; i = s.changes[i].next_here) {
      const NodeChange& change = s.changes[i];
      if (change.take != take || s.node_mark[change.node] == mark) continue;
      s.node_mark[change.node] = mark;
      look_at(now, change.node);
    }
  }

  /// Moves the window. Its left end matters to nodes that are given back between, its right end to nodes that are taken.
  /// @param last  the last point before `end`
  BERTH_HD void move(const PassState& now, std::int32_t point, TimeUs end, std::int32_t last) {
    const TimeUs old_left = left, old_right = right;
    const std::int32_t from_left = old_left < s.points[point].at ? left_point : point;
    const std::int32_t from_right = old_right < end ? right_point : last;
    left = s.points[point].at;
    right = end;
    left_point = point;
    right_point = last;
    ++mark;
    const TimeUs until = old_left < left ? left : old_left;
    for (std::int32_t i = s.points[from_left].next; i != kNone && s.points[i].at <= until; i = s.points[i].next) look_at_point(now, i, 0);
    const TimeUs first = old_right < right ? old_right : right, after = old_right < right ? right : old_right;
    for (std::int32_t i = from_right; i != kNone && s.points[i].at < after; i = s.points[i].next) {
      if (s.points[i].at >= first) look_at_point(now, i, 1);
    }
  }
};

}  // namespace berth::kernel
