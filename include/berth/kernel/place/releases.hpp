#pragma once

#include <cstdint>

#include "berth/kernel/place/pass.hpp"

/// Jobs that leave and return during a scheduling pass: docs/placement.md sections 6.5 and 7.
namespace berth::kernel {

/// Quota that a running job uses, in millionths of a GPU.
BERTH_HD inline std::int64_t held_quota(const ProblemView& p, std::int32_t job) {
  std::int64_t quota = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    quota += std::int64_t{p.held[h].share_ppm} * popcount(p.held[h].mask);
  }
  return quota;
}

/// The columns of queues. `Used` is std::int64_t, const where nothing is charged.
template <class Used>
struct QueueColumnsOf {
  const std::int32_t* parent;
  const std::int64_t* cap;
  const std::int64_t* kept;  // as ProblemView::queue_kept
  Used* used;
  std::int32_t n_types;
};
using QueueColumns = QueueColumnsOf<std::int64_t>;

BERTH_HD inline QueueColumns queue_columns(const ProblemView& p, const PassState& s) {
  return {p.queue_parent, p.queue_cap, p.queue_kept, s.queue_used, p.n_types};
}

/// What of `more` a queue passes on to its parent, which is charged for what the queue keeps in any case. It ascends with `used`.
BERTH_HD inline std::int64_t passed_on(std::int64_t used, std::int64_t kept, std::int64_t more) {
  const std::int64_t after = used + more;
  return (after > kept ? after : kept) - (used > kept ? used : kept);
}

/// Charges millionths of GPUs of a type to a queue (kNone: none) and its ancestors. One thread.
BERTH_HD inline void charge_queues(const QueueColumns& queues, std::int32_t queue, std::int32_t type, std::int64_t quota) {
  std::int64_t of_type = quota, of_all = quota;
  for (std::int32_t q = queue; q >= 0; q = queues.parent[q]) {
    const std::int64_t row = std::int64_t{q} * (queues.n_types + 1);
    std::int64_t* const used = queues.used + row;
    const std::int64_t used_of_type = used[type], used_of_all = used[queues.n_types];
    used[type] += of_type;
    used[queues.n_types] += of_all;
    if (queues.kept == nullptr) continue;
    of_type = passed_on(used_of_type, queues.kept[row + type], of_type);
    of_all = passed_on(used_of_all, queues.kept[row + queues.n_types], of_all);
  }
}

/// Whether a queue (kNone: none) and its ancestors have room for a quota.
template <class Used>
BERTH_HD bool queues_have_room(const QueueColumnsOf<Used>& queues, std::int32_t queue, std::int32_t type, std::int64_t quota) {
  std::int64_t of_type = quota, of_all = quota;
  for (std::int32_t q = queue; q >= 0; q = queues.parent[q]) {
    const std::int64_t row = std::int64_t{q} * (queues.n_types + 1);
    const std::int64_t* const cap = queues.cap + row;
    const Used* const used = queues.used + row;
    const std::int64_t cap_of_type = cap[type], cap_of_all = cap[queues.n_types];
    if (cap_of_type != kNoLimit && used[type] + of_type > cap_of_type) return false;
    if (cap_of_all != kNoLimit && used[queues.n_types] + of_all > cap_of_all) return false;
    if (queues.kept == nullptr) continue;
    of_type = passed_on(used[type], queues.kept[row + type], of_type);
    of_all = passed_on(used[queues.n_types], queues.kept[row + queues.n_types], of_all);
  }
  return true;
}

/// As charge_queues, for the queue of a job. One thread.
BERTH_HD inline void charge_queue(const ProblemView& p, const PassState& s, std::int32_t job, std::int32_t type, std::int64_t quota) {
  if (type >= 0) charge_queues(queue_columns(p, s), p.job_queue[job], type, quota);
}

BERTH_HD inline bool passes_quota(const ProblemView& p, const PassState& s, std::int32_t job, std::int32_t type, std::int64_t quota) {
  return queues_have_room(queue_columns(p, s), p.job_queue[job], type, quota);
}

/// Releases everything that a running job holds. One thread.
BERTH_HD inline void release_job(const ProblemView& p, PassState& s, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const HeldRow& r = p.held[h];
    give_mask(p, s, r.node, r.mask, p.node_open[r.node], r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  charge_queue(p, s, job, p.held_type[job], -held_quota(p, job));
}

/// The exact inverse of release_job. One thread.
BERTH_HD inline void hold_job(const ProblemView& p, PassState& s, std::int32_t job) {
  for (std::int32_t h = p.held_end[job] - 1; h >= p.held_begin[job]; --h) {
    const HeldRow& r = p.held[h];
    take_mask(p, s, r.node, r.mask, r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  charge_queue(p, s, job, p.held_type[job], held_quota(p, job));
}

/// What the reservation of EASY takes, in the state beside it.
struct Beside {
  const std::uint64_t* reserved;  // [n_nodes] its GPUs
  const std::uint8_t* returned;   // [n_jobs] 1: the job has ended when the reservation begins: its queue is not charged for it
};

/// As release_job, in the state that leaves alone a reservation: its GPUs stay taken, and so do cores and memory of its nodes.
/// One thread.
BERTH_HD inline void release_beside(const ProblemView& p, PassState& s, const Beside& beside, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const HeldRow& r = p.held[h];
    const std::uint64_t kept = beside.reserved[r.node];
    give_mask(p, s, r.node, r.mask & ~kept, p.node_open[r.node], r.share_ppm, r.gpu_memory, kept == 0 ? r.cpu : 0,
              kept == 0 ? r.memory : 0);
  }
  if (beside.returned[job] == 0) charge_queue(p, s, job, p.held_type[job], -held_quota(p, job));
}

/// The exact inverse of release_beside. One thread.
BERTH_HD inline void hold_beside(const ProblemView& p, PassState& s, const Beside& beside, std::int32_t job) {
  for (std::int32_t h = p.held_end[job] - 1; h >= p.held_begin[job]; --h) {
    const HeldRow& r = p.held[h];
    const std::uint64_t kept = beside.reserved[r.node];
    take_mask(p, s, r.node, r.mask & ~kept, r.share_ppm, r.gpu_memory, kept == 0 ? r.cpu : 0, kept == 0 ? r.memory : 0);
  }
  if (beside.returned[job] == 0) charge_queue(p, s, job, p.held_type[job], held_quota(p, job));
}

BERTH_HD inline bool row_still_free(const ProblemView& p, const PassState& s, const HeldRow& r) {
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

/// Whether a queue (kNone: none) is another one or stands above it.
BERTH_HD inline bool is_above(const ProblemView& p, std::int32_t queue, std::int32_t other) {
  while (other >= 0 && other != queue) other = p.queue_parent[other];
  return other == queue;
}

/// A job that took the place of others, in an option of this type.
struct Displacer {
  std::int32_t queue, gpu_type;
};

/// Whether the queues of a job have room for what it held, after another took its place. Asked is only what the other was charged for:
/// the rest is as it was, and may be above a limit that was lowered.
BERTH_HD inline bool has_quota_again(const ProblemView& p, const PassState& s, std::int32_t job, const Displacer& other) {
  const std::int32_t type = p.held_type[job] < 0 ? p.n_types : p.held_type[job];
  const std::int64_t quota = held_quota(p, job);
  if (passes_quota(p, s, job, type, quota)) return true;
  for (std::int32_t i = 0; i < 2; ++i) {
    const std::int32_t column = i == 0 ? type : p.n_types;
    std::int64_t more = quota;
    for (std::int32_t q = p.job_queue[job]; q >= 0; q = p.queue_parent[q]) {
      const std::int64_t at = std::int64_t{q} * (p.n_types + 1) + column;
      const bool charged = (column == p.n_types || column == other.gpu_type) && is_above(p, q, other.queue);
      if (charged && p.queue_cap[at] != kNoLimit && s.queue_used[at] + more > p.queue_cap[at]) return false;
      if (p.queue_kept != nullptr) more = passed_on(s.queue_used[at], p.queue_kept[at], more);
    }
  }
  return true;
}

/// Holds the job again if all its resources are still free after another job took its place. One thread. @returns whether it does.
BERTH_HD inline bool hold_again(const ProblemView& p, PassState& s, std::int32_t job, const Displacer& other) {
  if (!has_quota_again(p, s, job, other)) return false;
  std::int32_t h = p.held_begin[job];
  for (; h < p.held_end[job]; ++h) {
    const HeldRow& r = p.held[h];
    if (!row_still_free(p, s, r)) break;
    take_mask(p, s, r.node, r.mask, r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  if (h == p.held_end[job]) {
    charge_queue(p, s, job, p.held_type[job], held_quota(p, job));
    return true;
  }
  for (--h; h >= p.held_begin[job]; --h) {
    const HeldRow& r = p.held[h];
    give_mask(p, s, r.node, r.mask, p.node_open[r.node], r.share_ppm, r.gpu_memory, r.cpu, r.memory);
  }
  return false;
}

/// True when no node is overcommitted. Then a victim can return as long as no other job took its place. All threads.
template <class Group>
BERTH_HD bool nothing_overdrawn(Group& group, const ProblemView& p) {
  bool over = false;
  for (std::int32_t n = group.rank(); n < p.n_nodes; n += group.size()) {
    over = over || p.node_cpu[n] < 0 || p.node_memory[n] < 0;
    if (p.node_sharing[n] == 0) continue;
    const std::int64_t memory = p.node_type[n] < 0 ? 0 : p.type_memory[p.node_type[n]];
    for (std::int32_t g = p.gpu_begin[n]; g < p.gpu_begin[n + 1]; ++g) {
      over = over || p.gpu_used_ppm[g] > kWholeGpu || (memory != 0 && p.gpu_used_memory[g] > memory);
    }
  }
  return !group.any(over);
}

/// GPUs that become free later, for reservations.
struct ReleaseEvent {
  TimeUs at;
  std::int32_t job;  // index of the job, or kNone
  std::int32_t node;
  std::int32_t position;  // of a job placed in this scheduling pass, else kNone
  std::int32_t rank;      // of the job, kNone
  std::uint64_t mask;
};

BERTH_HD inline bool operator<(const ReleaseEvent& a, const ReleaseEvent& b) {
  if (a.at != b.at) return a.at < b.at;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.node < b.node;
}

/// Events in time order. One thread changes it.
struct EventList {
  const ProblemView& p;
  const PlaceRequest& request;
  const PlaceResult& result;
  const ReleaseEvent* events;
  std::int32_t n;

  /// Only what an event gives back of quotas. @returns the job that ends, kNone
  BERTH_HD std::int32_t give_quota(const PassState& s, const ReleaseEvent& e) const {
    if (e.position >= 0) {
      const DemandRow& demand = p.demands[p.options[p.option_begin[e.job] + result.option[e.position]].demand];
      charge_queue(p, s, e.job, demand.gpu_type, -demand.quota);
    } else if (e.job >= 0) {
      charge_queue(p, s, e.job, p.held_type[e.job], -held_quota(p, e.job));
    }
    return e.job;
  }
  BERTH_HD void happen(PassState& s, const ReleaseEvent& e, bool give) const {
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
      charge_queue(p, s, job, demand.gpu_type, give ? -demand.quota : demand.quota);
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
  /// Applies events, or reverts them, until `to` are applied, or all. @returns the number applied.
  BERTH_HD std::int32_t change(PassState& s, std::int32_t count, std::int32_t to) const {
    for (; count < to && count < n; ++count) happen(s, events[count], true);
    for (; count > to; --count) happen(s, events[count - 1], false);
    return count;
  }
  BERTH_HD TimeUs start(std::int32_t count) const {
    if (count == 0) return request.now;
    return events[count - 1].at > request.now ? events[count - 1].at : request.now;
  }
};

}  // namespace berth::kernel
