#pragma once

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/delay_replay/workspace.hpp"
#include "berth/kernel/place/state.hpp"

/// The free GPUs of a replay, and where a gang goes: docs/placement.md, sections 2 to 4, for gangs of single GPUs.
namespace berth::kernel {

template <class Group>
struct DelayCluster {
  Group& group;
  const DelayReplayView& v;
  const DelayReplayWorkspace& w;

  /// The level that a stage requires.
  BERTH_HD std::int32_t level_of(std::int32_t stage) const { return stage < v.n_rungs ? v.rung_level[stage] : v.n_levels - 1; }

  /// All threads: the most free GPUs of a domain of the level.
  BERTH_HD std::int32_t most_free(std::int32_t level) const {
    const std::int32_t* const free = level == 0 ? w.node_free : w.domain_free;
    const std::int32_t end = level == 0 ? v.n_nodes : v.level_begin[level + 1];
    std::int32_t most = 0;
    for (std::int32_t d = (level == 0 ? 0 : v.level_begin[level]) + group.rank(); d < end; d += group.size()) {
      most = free[d] > most ? free[d] : most;
    }
    return static_cast<std::int32_t>(UINT32_MAX - group.min(UINT32_MAX - static_cast<std::uint32_t>(most)));
  }

  /// All threads, before a sync: what a node has free.
  BERTH_HD void set_free(std::int32_t node, std::uint64_t mask) const {
    if (group.rank() != 0) return;
    const std::int32_t more = popcount(mask) - w.node_free[node];
    w.free[node] = mask;
    w.node_free[node] += more;
    for (std::int32_t level = 1; level < v.n_levels; ++level) w.domain_free[v.node_domain[level * v.n_nodes + node]] += more;
  }
  /// All threads. What a job holds becomes free; it still knows what it held.
  BERTH_HD void release(std::int32_t job) const {
    if (group.rank() == 0) {
      for (std::int32_t at = w.job[job].first_part; at >= 0; at = w.part[at].next)
        set_free(w.part[at].node, w.free[w.part[at].node] | w.part[at].mask);
    }
    group.sync();
  }
  /// All threads: the reverse.
  BERTH_HD void hold(std::int32_t job) const {
    if (group.rank() == 0) {
      for (std::int32_t at = w.job[job].first_part; at >= 0; at = w.part[at].next)
        set_free(w.part[at].node, w.free[w.part[at].node] & ~w.part[at].mask);
    }
    group.sync();
  }
  /// Whether all that a job held is free.
  BERTH_HD bool is_free(std::int32_t job) const {
    for (std::int32_t at = w.job[job].first_part; at >= 0; at = w.part[at].next) {
      if ((w.part[at].mask & ~w.free[w.part[at].node]) != 0) return false;
    }
    return true;
  }
  /// One thread: the parts of a list can be used again.
  BERTH_HD void forget(std::int32_t first) const {
    while (first >= 0) {
      const std::int32_t next = w.part[first].next;
      w.part[first].next = w.shared->free_part;
      w.shared->free_part = first;
      first = next;
    }
  }
  /// One thread: whether two lists are of the same GPUs. Both are of one job, and name each node once.
  BERTH_HD bool same_gpus(std::int32_t a, std::int32_t b) const {
    for (; a >= 0; a = w.part[a].next) {
      std::int32_t other = b;
      while (other >= 0 && w.part[other].node != w.part[a].node) other = w.part[other].next;
      if (other < 0 || w.part[other].mask != w.part[a].mask) return false;
    }
    return true;
  }

  /// All threads. Takes GPUs for a gang inside one domain of `level`, which there is. Its list of parts is in the job then.
  BERTH_HD void take(std::int32_t job, std::int32_t level) const {
    if (group.rank() == 0) w.job[job].first_part = -1;
    const std::int32_t gpus = v.gpus[job];
    for (std::int32_t tried = 0; tried <= level; ++tried) {
      const Key best = best_at(tried, gpus);
      if (best == kNoKey) continue;
      fill(job, tried, static_cast<std::int32_t>(best.lo), gpus);
      return;
    }
  }

  /// One thread: the rate of a job at its place.
  BERTH_HD std::int64_t rate_of(std::int32_t job) const {
    std::int32_t nodes = 0, most = 0, level = 0;
    const std::int32_t first = w.job[job].first_part;
    for (std::int32_t at = first; at >= 0; at = w.part[at].next) {
      const std::int32_t gpus = popcount(w.part[at].mask);
      most = gpus > most ? gpus : most;
      ++nodes;
      const std::int32_t a = w.part[first].node, b = w.part[at].node;
      const auto apart = [&] { return level == 0 ? a != b : v.node_domain[level * v.n_nodes + a] != v.node_domain[level * v.n_nodes + b]; };
      while (level < v.n_levels - 1 && apart()) ++level;
    }
    return v.rate[v.rate_begin[job] + rate_row(v, v.gpus[job], level, nodes, most)];
  }

 private:
  /// The domain with least free GPUs that has enough, the first of equal ones.
  BERTH_HD Key best_at(std::int32_t level, std::int32_t gpus) const {
    const std::int32_t* const free = level == 0 ? w.node_free : w.domain_free;
    const std::int32_t end = level == 0 ? v.n_nodes : v.level_begin[level + 1];
    Key best = kNoKey;
    for (std::int32_t d = (level == 0 ? 0 : v.level_begin[level]) + group.rank(); d < end; d += group.size()) {
      const Key one{static_cast<std::uint64_t>(free[d]), static_cast<std::uint64_t>(d)};
      if (free[d] >= gpus && one < best) best = one;
    }
    return group.min(best);
  }
  /// The tightest child that has all that is left, else the one that has most. One that was taken has nothing.
  BERTH_HD Key best_child(std::int32_t level, std::int32_t domain, std::int32_t left) const {
    const std::int32_t* const free = level == 1 ? w.node_free : w.domain_free;
    Key best = kNoKey;
    for (std::int32_t c = v.child_first[domain] + group.rank(); c < v.child_last[domain]; c += group.size()) {
      if (free[c] == 0) continue;
      // Those with enough come first.
      const bool enough = free[c] >= left;
      const std::uint64_t offer =
          static_cast<std::uint32_t>(enough ? free[c] : INT32_MAX - free[c]) | (enough ? 0 : std::uint64_t{1} << 32);
      const Key one{offer, static_cast<std::uint64_t>(c)};
      if (one < best) best = one;
    }
    return group.min(best);
  }
  BERTH_HD void fill(std::int32_t job, std::int32_t level, std::int32_t domain, std::int32_t gpus) const {
    struct Frame {
      std::int32_t domain, left;
    };
    if (level == 0) return take_node(job, domain, gpus);
    Frame open[kMaxLevels];  // by level
    open[level] = {domain, gpus};
    const std::int32_t top = level;
    while (level <= top) {
      Frame& frame = open[level];
      if (frame.left == 0) {
        ++level;
        continue;
      }
      const auto child = static_cast<std::int32_t>(best_child(level, frame.domain, frame.left).lo);
      const std::int32_t has = level == 1 ? w.node_free[child] : w.domain_free[child];
      const std::int32_t give = has < frame.left ? has : frame.left;
      frame.left -= give;
      group.sync();  // all have read what is free
      if (level == 1) {
        take_node(job, child, give);
      } else {
        open[--level] = {child, give};
      }
    }
  }
  BERTH_HD void take_node(std::int32_t job, std::int32_t node, std::int32_t gpus) const {
    if (group.rank() == 0) {
      ProblemView inner{};  // what it reads of a problem
      inner.inner_begin = v.inner_begin;
      inner.inner_mask = v.inner_mask;
      const std::uint64_t mask = pick_gpus(inner, node, w.free[node], gpus);
      set_free(node, w.free[node] & ~mask);
      const std::int32_t at = w.shared->free_part;
      w.shared->free_part = w.part[at].next;
      w.part[at] = {mask, node, w.job[job].first_part};
      w.job[job].first_part = at;
    }
    group.sync();
  }
};

}  // namespace berth::kernel
