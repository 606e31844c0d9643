#pragma once

#include <cstdint>

#include "berth/kernel/walk.hpp"

/// Jobs leaving and coming back during a walk: docs/placement.md sections 6.5 and 7.
namespace berth::kernel {

BERTH_HD inline std::int64_t held_gpus(const ProblemView& p, std::int32_t job) {
  std::int64_t gpus = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) {
    if (p.held[h].share_ppm == kWholeGpu) gpus += popcount(p.held[h].mask);
  }
  return gpus;
}

/// GPUs that may become free when the job leaves: an upper bound that counts shared ones as whole.
BERTH_HD inline std::int64_t touched_gpus(const ProblemView& p, std::int32_t job) {
  std::int64_t gpus = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) gpus += popcount(p.held[h].mask);
  return gpus;
}

/// Adds GPUs of a type to the use of a queue and all above it. One thread.
BERTH_HD inline void charge_queue(const ProblemView& p, WalkState& s, std::int32_t job, std::int32_t type, std::int64_t gpus) {
  if (type < 0) return;
  for (std::int32_t q = p.job_queue[job]; q >= 0; q = p.queue_parent[q]) {
    s.queue_used[std::int64_t{q} * (p.n_types + 1) + type] += gpus;
    s.queue_used[std::int64_t{q} * (p.n_types + 1) + p.n_types] += gpus;
  }
}

BERTH_HD inline bool passes_quota(const ProblemView& p, const WalkState& s, std::int32_t job, std::int32_t type, std::int64_t gpus) {
  for (std::int32_t q = p.job_queue[job]; q >= 0; q = p.queue_parent[q]) {
    const std::int64_t row = std::int64_t{q} * (p.n_types + 1);
    if (p.queue_cap[row + type] != kNoLimit && s.queue_used[row + type] + gpus > p.queue_cap[row + type]) return false;
    if (p.queue_cap[row + p.n_types] != kNoLimit && s.queue_used[row + p.n_types] + gpus > p.queue_cap[row + p.n_types]) return false;
  }
  return true;
}

/// A running job gives back all it holds. One thread.
BERTH_HD inline void release_job(const ProblemView& p, WalkState& s, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) {
    const HeldRow& r = p.held[h];
    give_mask(p, s, r.node, r.mask, p.node_open[r.node], r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  charge_queue(p, s, job, p.held_type[job], -held_gpus(p, job));
}

/// The exact inverse of release_job. One thread.
BERTH_HD inline void hold_job(const ProblemView& p, WalkState& s, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job + 1] - 1; h >= p.held_begin[job]; --h) {
    const HeldRow& r = p.held[h];
    take_mask(p, s, r.node, r.mask, r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  charge_queue(p, s, job, p.held_type[job], held_gpus(p, job));
}

BERTH_HD inline bool row_still_free(const ProblemView& p, const WalkState& s, const HeldRow& r) {
  if (s.cpu[r.node] != kNoLimit && r.cpu > 0 && s.cpu[r.node] < r.cpu) return false;
  if (s.memory[r.node] != kNoLimit && r.memory > 0 && s.memory[r.node] < r.memory) return false;
  const std::uint64_t open = p.node_open[r.node];
  if (r.share_ppm == kWholeGpu) return (r.mask & open & ~s.free[r.node]) == 0;
  for (std::uint64_t left = r.mask; left != 0; left &= left - 1) {
    const std::int32_t g = lowest(left);
    const std::int64_t i = std::int64_t{p.gpu_begin[r.node]} + g;
    const bool whole_free = (s.free[r.node] >> g & 1) != 0;
    if (!whole_free && s.used_ppm[i] == 0 && (open >> g & 1) != 0) return false;
    if (s.used_ppm[i] + r.share_ppm > kWholeGpu) return false;
    const std::int64_t memory = p.type_memory[p.node_type[r.node]];
    if (memory != 0 && r.gpu_memory != 0 && s.used_memory[i] + r.gpu_memory > memory) return false;
  }
  return true;
}

/// Holds the job again if everything it had is still free. One thread. @returns whether it does.
BERTH_HD inline bool hold_again(const ProblemView& p, WalkState& s, std::int32_t job) {
  if (!passes_quota(p, s, job, p.held_type[job] < 0 ? p.n_types : p.held_type[job], held_gpus(p, job))) return false;
  std::int32_t h = p.held_begin[job];
  for (; h < p.held_begin[job + 1]; ++h) {
    const HeldRow& r = p.held[h];
    if (!row_still_free(p, s, r)) break;
    take_mask(p, s, r.node, r.mask, r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  if (h == p.held_begin[job + 1]) {
    charge_queue(p, s, job, p.held_type[job], held_gpus(p, job));
    return true;
  }
  for (--h; h >= p.held_begin[job]; --h) {
    const HeldRow& r = p.held[h];
    give_mask(p, s, r.node, r.mask, p.node_open[r.node], r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  return false;
}

/// Running jobs that may be displaced, least important first: a list over positions of the order.
struct VictimList {
  const ProblemView& p;
  const PlaceRequest& request;
  const std::int32_t* before;  // [n + 1] previous candidate position of each candidate; [n]: the last candidate
  const std::int32_t* after;   // [n + 1]
  std::int32_t position;       // of the job that wants to start
  std::int32_t last;           // position of the last one released, n: none

  BERTH_HD bool eligible(std::int32_t i) const {
    return request.class_rule == 0 || request.preemption_class[request.order[i]] < request.preemption_class[request.order[position]];
  }
  /// Releases one more; false when there is none. One thread of the group changes the state; the caller syncs.
  BERTH_HD bool forward(WalkState& s, bool lead) {
    std::int32_t i = before[last];
    while (i > position && !eligible(i)) i = before[i];
    if (i <= position) return false;
    last = i;
    if (lead) release_job(p, s, request.order[i]);
    return true;
  }
  BERTH_HD void backward(WalkState& s, bool lead) {
    if (lead) hold_job(p, s, request.order[last]);
    do {
      last = after[last];
    } while (last < request.n && !eligible(last));
  }
  BERTH_HD TimeUs start(std::int32_t) const { return request.now; }
};

/// Something that becomes free later, for reservations.
struct Event {
  TimeUs at;
  std::int32_t job;  // slot, or kNone
  std::int32_t node;
  std::int32_t position;  // of a job placed in this walk, else kNone
  std::int32_t rank;      // of the job, kNone
  std::uint64_t mask;
};

BERTH_HD inline bool operator<(const Event& a, const Event& b) {
  if (a.at != b.at) return a.at < b.at;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.node < b.node;
}

/// Events in time order.
struct EventList {
  const ProblemView& p;
  const PlaceRequest& request;
  const PlaceResult& result;
  const Event* events;
  std::int32_t n;
  std::int32_t done;  // released so far

  BERTH_HD void change(WalkState& s, const Event& e, bool give) const {
    if (e.position >= 0) {
      const std::int32_t job = e.job;
      const OptionRow& option = p.options[p.option_begin[job] + result.option[e.position]];
      const DemandRow& demand = p.demands[option.demand];
      for (std::int32_t k = result.entry_begin[e.position]; k < result.entry_end[e.position]; ++k) {
        const PlacedRow& entry = result.entries[k];
        const GroupRow& row = p.groups[demand.group_begin + entry.group];
        if (give) {
          give_mask(p, s, entry.node, entry.mask, p.node_open[entry.node], row.share_ppm, row.gpu_memory, entry.members * row.cpu,
                    entry.members * row.memory);
        } else {
          take_mask(p, s, entry.node, entry.mask, row.share_ppm, row.gpu_memory, entry.members * row.cpu, entry.members * row.memory);
        }
      }
      charge_queue(p, s, job, demand.gpu_type, give ? -demand.gpus : demand.gpus);
    } else if (e.job >= 0) {
      if (give) {
        release_job(p, s, e.job);
      } else {
        hold_job(p, s, e.job);
      }
    } else {
      set_free(p, s, e.node, give ? s.free[e.node] | e.mask : s.free[e.node] & ~e.mask);
    }
  }
  BERTH_HD bool forward(WalkState& s, bool lead) {
    if (done == n) return false;
    if (lead) change(s, events[done], true);
    ++done;
    return true;
  }
  BERTH_HD void backward(WalkState& s, bool lead) {
    --done;
    if (lead) change(s, events[done], false);
  }
  BERTH_HD TimeUs start(std::int32_t count) const {
    if (count == 0) return request.now;
    return events[count - 1].at > request.now ? events[count - 1].at : request.now;
  }
};

}  // namespace berth::kernel
