#pragma once

#include "berth/kernel/delay_replay/cluster.hpp"

/// Jobs of a replay that run and wait: their work, their leases and the level that they wait for (docs/dally.md).
namespace berth::kernel {

template <class Group>
struct DelayJobs {
  Group& group;
  const DelayReplayView& v;
  const DelayReplayRequest& r;
  const DelayReplayWorkspace& w;

  static constexpr std::int64_t kIdealSpeed = 1'000'000'000;  // Nw_sens of a job that the network does not slow down
  static constexpr std::int64_t kLatest = std::int64_t{1} << 58;
  static_assert(kLatest == kMaxTimeUs);

  /// Work done in a time at a rate.
  BERTH_HD static std::int64_t done_in(std::int64_t rate, std::int64_t us) { return mul_div(rate, us, 1'000'000); }

  BERTH_HD std::int64_t left_at(const DelayJob& job, std::int64_t now) const {
    if (now <= job.working_from) return job.left;
    const std::int64_t left = job.left - done_in(job.rate, now - job.working_from);
    return left > 0 ? left : 0;
  }
  BERTH_HD std::int64_t seen_left_at(const DelayJob& job, std::int64_t now) const {
    const std::int64_t left = job.seen_left - done_in(job.rate, now - job.seen_at);
    return left > 0 ? left : 0;
  }
  /// Nw_sens of a job with so much work left and such a time with GPUs.
  BERTH_HD std::int64_t sensitivity(std::int32_t job, std::int64_t seen_left, std::int64_t run) const {
    if (run <= 0) return 0;
    if (v.ideal_rate[job] <= 0) return kIdealSpeed;
    return mul_div(mul_div(v.work[job] - seen_left, 1'000'000, v.ideal_rate[job]), kIdealSpeed, run);
  }
  BERTH_HD std::int64_t sensitivity_now(std::int32_t job, std::int64_t now) const {
    const DelayJob& one = w.job[job];
    return sensitivity(job, seen_left_at(one, now), one.held + (now - one.held_from));
  }
  BERTH_HD std::int64_t lease_end(std::int64_t from) const {
    return saturating_add(r.common != 0 ? from / r.lease * r.lease : from, r.lease);
  }

  /// The stage of a job that waits since then, and when it ends.
  BERTH_HD void set_stage(DelayWaiting& row, std::int64_t now) const {
    const std::int64_t* const timers = r.timers + std::int64_t{v.timer_class[row.job]} * v.n_rungs;
    std::int32_t stage = 0;
    std::int64_t first = kDelayNever;  // of the timers from this stage on
    for (std::int32_t rung = 0; rung < v.n_rungs; ++rung) {
      const std::int64_t wait = v.rung_gpus[rung] >= row.gpus ? timers[rung] : 0;
      if (now - row.since >= wait) {
        stage = rung + 1;
        first = kDelayNever;
      } else {
        first = wait < first ? wait : first;
      }
    }
    row.stage = stage;
    row.until = stage == v.n_rungs ? kDelayNever : saturating_add(row.since, first);
  }
  BERTH_HD DelayWaiting waiting_row(std::int32_t job, std::int64_t seen, std::int64_t since, std::int64_t now) const {
    DelayWaiting row{seen, since, 0, job, v.gpus[job], 0, 0};
    set_stage(row, now);
    return row;
  }

  /// One thread. A job has got its GPUs, and its costs are `cost`. It is in the slot.
  BERTH_HD void work(std::int32_t job, const DelayCluster<Group>& cluster, std::int64_t now, std::int64_t cost) const {
    DelayJob& one = w.job[job];
    one.rate = cluster.rate_of(job);
    one.held_from = one.seen_at = now;
    one.working_from = saturating_add(now, cost);
    one.pays = cost > 0 ? 1 : 0;
    const std::int64_t needs = saturate(ceil_div(Wide{one.left} * 1'000'000, Wide{one.rate}));
    const std::int64_t end = saturating_add(one.working_from, needs > 1 ? needs : 1);
    if (end > kLatest) w.shared->too_late = job;
    w.run_end[one.slot] = end;
    w.lease_end[one.slot] = lease_end(now);
  }
  /// One thread. It gives up its GPUs, or changes them.
  BERTH_HD void stop(std::int32_t job, std::int64_t now) const {
    DelayJob& one = w.job[job];
    one.left = left_at(one, now);
    one.seen_left = seen_left_at(one, now);
    one.paid += (now < one.working_from ? now : one.working_from) - one.held_from;
    one.held += now - one.held_from;
  }
  BERTH_HD void add_slot(std::int32_t job, std::int32_t slot) const {
    w.job[job].slot = slot;
    w.run_job[slot] = job;
  }
  /// One thread. The last of the slots takes its place.
  BERTH_HD void remove_slot(std::int32_t job, std::int32_t last) const {
    const std::int32_t slot = w.job[job].slot;
    w.run_job[slot] = w.run_job[last];
    w.run_end[slot] = w.run_end[last];
    w.lease_end[slot] = w.lease_end[last];
    w.job[w.run_job[slot]].slot = slot;
    w.job[job].slot = -1;
  }
};

BERTH_HD inline bool before(const DelayWaiting& a, std::int64_t seen, std::int64_t since, std::int32_t job) {
  return a.seen != seen ? a.seen < seen : a.since != since ? a.since < since : a.job < job;
}

/// Sorts jobs whose leases have ended. One thread.
BERTH_HD inline void sort_offered(DelayOffered* rows, std::int32_t n) {
  const auto less = [](const DelayOffered& a, const DelayOffered& b) { return a.seen != b.seen ? a.seen < b.seen : a.job < b.job; };
  const auto sift = [&](std::int32_t i, std::int32_t size) {
    const DelayOffered row = rows[i];
    for (std::int32_t child = 2 * i + 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && less(rows[child], rows[child + 1])) ++child;
      if (!less(row, rows[child])) break;
      rows[i] = rows[child];
      i = child;
    }
    rows[i] = row;
  };
  for (std::int32_t i = n / 2; i-- > 0;) sift(i, n);
  while (n > 1) {
    const DelayOffered top = rows[0];
    rows[0] = rows[--n];
    rows[n] = top;
    sift(0, n);
  }
}

}  // namespace berth::kernel
