#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/place/releases.hpp"
#include "berth/kernel/place/tree.hpp"
#include "berth/kernel/plan_search/value.hpp"
#include "berth/kernel/plan_search/workspace.hpp"

/// Placing and removing jobs in one individual: docs/ones-plus.md section 2.
namespace berth::kernel {

template <class Group>
struct PlanSearchPlaces {
  const PlanSearchView& v;
  const PlanSearchIndividual& x;
  const PlanSearchWorkspace& ws;
  Pass<Group> w;  // its state and entries are those of the individual

  BERTH_HD PlanSearchPlaces(Group& group, const PlanSearchView& view, const PlanSearchIndividual& individual,
                            const PlanSearchWorkspace& workspace)
      : v(view),
        x(individual),
        ws(workspace),
        w{group,
          view.problem,
          individual.s,
          workspace.scratch,
          individual.entries,
          individual.counts[0],
          false,
          view.max_tries,
          view.packing,
          counted_level_of(view.problem, group.rank(), group.size())} {}

  BERTH_HD bool lead() const { return w.group.rank() == 0; }
  BERTH_HD const DemandRow& demand_of(std::int32_t k) const { return w.p.demands[v.demand[k]]; }
  BERTH_HD TimeUs end_of(std::int32_t k) const { return v.run[k] == kNever || v.run[k] > kNever - 1 - v.now ? kNever : v.now + v.run[k]; }

  BERTH_HD std::int64_t value_at(std::int32_t job, std::int32_t k, std::int32_t begin, std::int32_t end, bool at_home) const {
    return plan_search_value(v, w.p, job, k, x.entries + begin, x.entries + end, at_home);
  }

  BERTH_HD std::int64_t fragment(std::int32_t node) const {
    return v.fragment == nullptr ? 0 : v.fragment[w.p.node_type[node] * kSizesPerNode + popcount(w.s.free[node])];
  }

  /// Charges or releases the entries of a job. @returns the decrease of the loss by idle GPUs. One thread.
  BERTH_HD std::int64_t charge_entries_of(std::int32_t job, std::int32_t k, std::int32_t begin, std::int32_t end, bool at_home, bool take) {
    const GroupRow* groups = w.p.groups + demand_of(k).group_begin;
    const HeldRow* held = w.p.held + w.p.held_begin[v.problem_job[job]];
    std::int64_t less = 0;
    for (std::int32_t e = begin; e < end; ++e) {
      const PlacedRow& entry = x.entries[e];
      // At its current place a job holds its actual allocation, even if its description has changed.
      const std::int64_t cpu = at_home ? held[e - begin].cpu : entry.members * groups[entry.group].cpu;
      const std::int64_t memory = at_home ? held[e - begin].memory : entry.members * groups[entry.group].memory;
      less += fragment(entry.node);
      if (take) {
        take_mask(w.p, w.s, entry.node, entry.mask, kWholeGpu, 0, cpu, memory);
      } else {
        give_mask(w.p, w.s, entry.node, entry.mask, ~std::uint64_t{0}, kWholeGpu, 0, cpu, memory);
      }
      less -= fragment(entry.node);
      own(entry, take ? job : kNone);
    }
    return less;
  }

  BERTH_HD void own(const PlacedRow& e, std::int32_t job) {
    for (std::uint64_t left = e.mask; left != 0; left &= left - 1) x.owner[w.p.gpu_begin[e.node] + lowest(left)] = job;
  }

  /// Whether the value of a job at its place is below the best value of its option.
  BERTH_HD bool is_away(std::int32_t job) const {
    return x.option[job] >= 0 && x.placed_value[job] < v.placed_value[std::int64_t{x.option[job]} * v.n_classes];
  }

  /// Maintains the list of jobs that lack their preferred option or are away. One thread.
  BERTH_HD void list_open(std::int32_t job) {
    const bool open = x.option[job] != v.preferred[job] || is_away(job);
    if (open == (x.open_at[job] >= 0)) return;
    if (open) {
      x.open_at[job] = x.counts[1];
      x.open[x.counts[1]++] = job;
    } else {
      assert(x.open_at[job] < x.counts[1]);
      const std::int32_t last = x.open[--x.counts[1]];
      x.open[x.open_at[job]] = last;
      x.open_at[last] = x.open_at[job];
      x.open_at[job] = kNone;
    }
  }

  /// Places a job that has no GPUs at known entries. One thread.
  BERTH_HD void hold(std::int32_t job, std::int32_t k, std::int32_t begin, std::int32_t end, bool at_home) {
    assert(x.option[job] < 0 && v.option_begin[job] <= k && k < v.option_begin[job + 1]);
    const DemandRow& d = demand_of(k);
    const std::int64_t here = value_at(job, k, begin, end, at_home);
    const std::int64_t score = here + charge_entries_of(job, k, begin, end, at_home, true);
    charge_queue(w.p, w.s, v.problem_job[job], d.gpu_type, d.quota);
    x.option[job] = k;
    x.entry_begin[job] = begin;
    x.entry_end[job] = end;
    x.at_home[job] = at_home ? 1 : 0;
    x.placed_value[job] = here;
    *x.score += score;
    list_open(job);
  }

  /// Releases all GPUs of a job, if it has any. One thread.
  BERTH_HD void leave(std::int32_t job) {
    const std::int32_t k = x.option[job];
    if (k < 0) return;
    const DemandRow& d = demand_of(k);
    const std::int32_t begin = x.entry_begin[job], end = x.entry_end[job];
    const bool at_home = x.at_home[job] != 0;
    const std::int64_t score = charge_entries_of(job, k, begin, end, at_home, false) - x.placed_value[job];
    charge_queue(w.p, w.s, v.problem_job[job], d.gpu_type, -d.quota);
    x.option[job] = kNone;
    *x.score += score;
    list_open(job);
  }

  BERTH_HD bool may_have(std::int32_t job, const DemandRow& d) const {
    return w.s.type_free[d.gpu_type] >= d.gpus && passes_quota(w.p, w.s, v.problem_job[job], d.gpu_type, d.quota);
  }
  BERTH_HD bool may_go_home(std::int32_t job) const { return may_have(job, demand_of(v.current[job])) && home_is_free(job); }

  BERTH_HD bool home_is_free(std::int32_t job) const {
    const std::int32_t first = w.p.held_begin[v.problem_job[job]];
    for (std::int32_t h = first; h < w.p.held_end[v.problem_job[job]]; ++h) {
      const HeldRow& row = w.p.held[h];
      if ((row.mask & ~w.s.free[row.node]) != 0) return false;
      const bool needs_cpu = row.cpu > 0 && w.s.cpu[row.node] != kNoLimit,
                 needs_memory = row.memory > 0 && w.s.memory[row.node] != kNoLimit;
      std::int64_t cpu = row.cpu, memory = row.memory;
      for (std::int32_t before = first; (needs_cpu || needs_memory) && before < h; ++before) {  // groups may share a node
        if (w.p.held[before].node != row.node) continue;
        cpu += w.p.held[before].cpu;
        memory += w.p.held[before].memory;
      }
      if ((needs_cpu && w.s.cpu[row.node] < cpu) || (needs_memory && w.s.memory[row.node] < memory)) return false;
    }
    return true;
  }

  BERTH_HD void go_home(std::int32_t job) {
    const std::int32_t from = w.n_entries;
    const std::int32_t first = w.p.held_begin[v.problem_job[job]];
    const std::int32_t n = w.p.held_end[v.problem_job[job]] - first;
    w.group.sync();
    if (lead()) {
      for (std::int32_t h = 0; h < n; ++h)
        x.entries[from + h] = {w.p.held[first + h].node, 0, h, 1, w.p.held[first + h].mask, kWholeGpu, 0};
      hold(job, v.current[job], from, from + n, true);
    }
    w.n_entries = from + n;
    w.group.sync();
  }

  /// Places a job without GPUs in one of its options: at its current place if that is free, else by the rule of a scheduling pass.
  BERTH_HD BERTH_NOINLINE bool place(std::int32_t job, std::int32_t k) {
    const DemandRow& d = demand_of(k);
    if (!may_have(job, d)) return false;
    if (k == v.current[job] && home_is_free(job)) {
      go_home(job);
      return true;
    }
    const std::int32_t from = w.n_entries;
    if (!place_demand(w, d, end_of(k))) return false;
    w.group.sync();
    if (lead()) {
      // Idle GPUs are counted per entry.
      const GroupRow* groups = w.p.groups + d.group_begin;
      for (std::int32_t e = w.n_entries - 1; e >= from; --e) {
        const PlacedRow& entry = x.entries[e];
        give_mask(w.p, w.s, entry.node, entry.mask, ~std::uint64_t{0}, kWholeGpu, 0, entry.members * groups[entry.group].cpu,
                  entry.members * groups[entry.group].memory);
      }
      hold(job, k, from, w.n_entries, false);
    }
    w.group.sync();
    return true;
  }

  /// The same, but only if the value exceeds a limit.
  BERTH_HD bool place_for_more(std::int32_t job, std::int32_t k, std::int64_t than) {
    const std::int32_t from = w.n_entries;
    if (!place(job, k)) return false;
    w.group.sync();
    if (x.placed_value[job] > than) return true;
    w.group.sync();
    if (lead()) leave(job);
    w.n_entries = from;
    w.group.sync();
    return false;
  }

  /// Gives idle GPUs to jobs without any: in order, the best option of each job that fits and does not lower the score.
  BERTH_HD void fill() {
    for (std::int32_t i = w.group.rank(); i < w.p.n_demands; i += w.group.size()) ws.known[i] = 0;
    w.group.sync();
    // Each thread looks at one job. What is free and the quota that is left only decrease, so a job for which they are too little
    // now need not be tried later.
    for (std::int32_t first = 0; first < v.n_jobs; first += w.group.size()) {
      const std::int32_t mine = first + w.group.rank();
      const bool may = mine < v.n_jobs && may_fill(v.fill_order[mine]);
      for (std::int32_t from = first;;) {
        const Key next = w.group.min(may && mine >= from ? Key{static_cast<std::uint64_t>(mine), 0} : kNoKey);
        if (next == kNoKey) break;
        from = static_cast<std::int32_t>(next.hi) + 1;
        fill_job(v.fill_order[from - 1]);
      }
    }
  }

  /// Whether a demand failed before, so that it fails again: free GPUs only decrease in `fill`.
  BERTH_HD bool is_remembered(std::int32_t job, std::int32_t k) const {
    return demand_of(k).exact != 0 && w.p.has_until == 0 && k != v.current[job];
  }
  BERTH_HD bool may_fill(std::int32_t job) const {
    bool may = false;
    for (std::int32_t r = v.rank_begin[job]; x.option[job] < 0 && !may && r < v.rank_begin[job + 1]; ++r) {
      const std::int32_t k = v.ranked[r];
      may = !(is_remembered(job, k) && ws.known[v.demand[k]] != 0) && may_have(job, demand_of(k));
    }
    return may;
  }
  BERTH_HD void fill_job(std::int32_t job) {
    const std::int64_t before = *x.score;
    const std::int32_t from = w.n_entries;
    for (std::int32_t r = v.rank_begin[job]; r < v.rank_begin[job + 1]; ++r) {
      const std::int32_t k = v.ranked[r];
      const DemandRow& d = demand_of(k);
      const bool memo = is_remembered(job, k);
      if (memo && ws.known[v.demand[k]] != 0) continue;
      const bool quota = passes_quota(w.p, w.s, v.problem_job[job], d.gpu_type, d.quota);
      if (place(job, k)) {
        if (keep_if_more(job, before, from)) break;
        continue;
      }
      if (!memo || !quota) continue;
      w.group.sync();
      if (lead()) ws.known[v.demand[k]] = 1;
      w.group.sync();
    }
  }

  /// One more job may increase the loss by idle GPUs beyond its own value; then it is removed again.
  BERTH_HD bool keep_if_more(std::int32_t job, std::int64_t before, std::int32_t from) {
    w.group.sync();
    if (*x.score >= before) return true;
    w.group.sync();
    if (lead()) leave(job);
    w.n_entries = from;
    w.group.sync();
    return false;
  }

  /// Closes the gaps between entries when they use too much space.
  BERTH_HD void pack_entries() {
    const auto gpus = static_cast<std::int32_t>(plan_search_entries(w.p.gpu_begin[w.p.n_nodes]) / 3);
    if (w.n_entries <= 2 * gpus) return;
    w.group.sync();
    if (lead()) {
      std::int32_t n = 0;
      for (std::int32_t job = 0; job < v.n_jobs; ++job) {
        if (x.option[job] < 0) continue;
        const std::int32_t begin = n;
        for (std::int32_t e = x.entry_begin[job]; e < x.entry_end[job]; ++e) ws.packed[n++] = x.entries[e];
        x.entry_begin[job] = begin;
        x.entry_end[job] = n;
      }
      ws.shared[0] = n;
    }
    w.group.sync();
    w.n_entries = static_cast<std::int32_t>(ws.shared[0]);
    for (std::int32_t e = w.group.rank(); e < w.n_entries; e += w.group.size()) x.entries[e] = ws.packed[e];
    w.group.sync();
  }

  /// Records the number of entries in the individual. All threads, at the end.
  BERTH_HD void close() {
    w.group.sync();
    if (lead()) x.counts[0] = w.n_entries;
    w.group.sync();
  }
};

}  // namespace berth::kernel
