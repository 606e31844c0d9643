#pragma once

#include "berth/kernel/base/never_stop.hpp"
#include "berth/kernel/base/select.hpp"
#include "berth/kernel/delay_replay/jobs.hpp"

/// A trace replayed under `dally-manual`. Each instant at which a job comes, ends, or a lease or timer runs out has a decision. Threads
/// share what is done for all jobs, nodes or domains.
namespace berth::kernel {

template <class Group, class StopToken>
struct DelayReplayLoop {
  Group& group;
  const DelayReplayView& v;
  const DelayReplayRequest& r;
  const DelayReplayWorkspace& w;
  const DelayReplayResult& out;
  StopToken& stop_token;
  DelayCluster<Group> cluster{group, v, w};
  DelayJobs<Group> jobs{group, v, r, w};
  // The same in all threads.
  std::int64_t now = 0, decisions = 0, rejected = 0;
  std::int64_t next_end = kDelayNever, next_lease = kDelayNever, next_timer = kDelayNever;
  std::int32_t next_job = 0, n_waiting = 0, n_running = 0, n_offered = 0;
  bool timers_stale = false;                   // `next_timer` and `least` are
  bool free_stale = true;                      // `most_free`
  bool gone = false;                           // some waiting row is to be removed
  std::int32_t least[kMostDelayStages]{};      // the fewest GPUs of a job that waits in a stage
  std::int32_t most_free[kMostDelayStages]{};  // the most in one domain that the stage allows
  std::int32_t failed[kMostDelayStages]{};     // the fewest that displacing could not give in this decision

  BERTH_HD bool leads() const { return group.rank() == 0; }

  BERTH_HD void run() {
    begin();
    bool stopped = false;
    for (;;) {
      // Where no job waits, no lease ends for another.
      now = n_waiting > 0 && next_lease < next_end ? next_lease : next_end;
      now = next_timer < now ? next_timer : now;
      if (next_job < v.n_jobs && v.submit[next_job] < now) now = v.submit[next_job];
      if (now == kDelayNever) break;
      if (r.most_decisions > 0 && decisions >= r.most_decisions) stopped = true;
      // The token is the first thread's.
      if (group.any(stopped || (leads() && stop_token.stop()))) {
        stopped = true;
        break;
      }
      ++decisions;
      end_jobs();
      arrive();
      see_work();
      decide();
      if (w.shared->too_late >= 0) break;
      look_ahead();
    }
    finish(stopped);
  }

 private:
  BERTH_HD void begin() {
    const std::int32_t rank = group.rank(), size = group.size();
    for (std::int32_t j = rank; j < v.n_jobs; j += size) {
      w.job[j] = {v.work[j], v.work[j], 0, 0, 0, 0, 1, v.start_cost[j], 0, kDelayNever, kDelayNever, -1, -1, 0, 0, 0, 0};
    }
    for (std::int32_t n = rank; n < v.n_nodes; n += size) {
      w.free[n] = v.gpu_mask[n];
      w.node_free[n] = popcount(v.gpu_mask[n]);
    }
    const auto parts = static_cast<std::int32_t>(2 * w.n_gpus);
    for (std::int32_t i = rank; i < parts; i += size) w.part[i].next = i + 1 < parts ? i + 1 : -1;
    for (std::int32_t d = rank; d < v.n_domains; d += size) w.domain_free[d] = 0;
    group.sync();
    if (leads()) {
      *w.shared = {};
      w.shared->too_late = -1;
      for (std::int32_t level = 1; level < v.n_levels; ++level) {
        for (std::int32_t n = 0; n < v.n_nodes; ++n) w.domain_free[v.node_domain[level * v.n_nodes + n]] += w.node_free[n];
      }
    }
    for (std::int32_t s = 0; s < kMostDelayStages; ++s) least[s] = INT32_MAX;
  }

  /// Jobs that end now.
  BERTH_HD void end_jobs() {
    while (next_end <= now) {
      const Key first = group.min(least_end());
      if (first.hi > static_cast<std::uint64_t>(now)) return;
      const std::int32_t job = w.run_job[first.lo];
      cluster.release(job);
      if (leads()) {
        DelayJob& one = w.job[job];
        jobs.stop(job, now);
        cluster.forget(one.first_part);
        one.first_part = -1;
        one.end = now;
        jobs.remove_slot(job, n_running - 1);
        ++w.shared->completed;
      }
      --n_running;
      free_stale = true;
      group.sync();
    }
  }
  BERTH_HD Key least_end() const {
    Key first = kNoKey;
    for (std::int32_t s = group.rank(); s < n_running; s += group.size()) {
      const Key one{static_cast<std::uint64_t>(w.run_end[s]), static_cast<std::uint64_t>(s)};
      if (one < first) first = one;
    }
    return first;
  }

  BERTH_HD void arrive() {
    for (; next_job < v.n_jobs && v.submit[next_job] <= now; ++next_job) {
      if (v.gpus[next_job] > w.n_gpus) {
        ++rejected;
      } else {
        insert(jobs.waiting_row(next_job, 0, v.submit[next_job], now));
      }
    }
  }

  /// All threads: a row joins those that wait.
  BERTH_HD void insert(const DelayWaiting& row) {
    const std::int32_t at = place_of(row.seen, row.since, row.job), step = group.size();
    for (std::int32_t last = n_waiting; last > at; last -= step) {
      const std::int32_t i = last - 1 - group.rank();
      DelayWaiting moved{};
      if (i >= at) moved = w.waiting[i];
      group.sync();
      if (i >= at) w.waiting[i + 1] = moved;
    }
    if (leads()) w.waiting[at] = row;
    ++n_waiting;
    if (row.until < next_timer) next_timer = row.until;
    if (row.gpus < least[row.stage]) least[row.stage] = row.gpus;
    group.sync();
  }
  /// The number of waiting rows before such a job.
  BERTH_HD std::int32_t place_of(std::int64_t seen, std::int64_t since, std::int32_t job) const {
    std::int32_t from = 0, to = n_waiting;
    while (from < to) {
      const std::int32_t middle = from + (to - from) / 2;
      if (before(w.waiting[middle], seen, since, job)) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  /// Decisions see the work of a job as it is while it pays for a change, and once after that. Else they add what its rate gives.
  BERTH_HD void see_work() {
    for (std::int32_t s = group.rank(); s < n_running; s += group.size()) {
      DelayJob& one = w.job[w.run_job[s]];
      if (one.pays == 0) continue;
      one.seen_left = jobs.left_at(one, now);
      one.seen_at = now;
      one.pays = now < one.working_from ? 1 : 0;
    }
  }

  BERTH_HD void decide() {
    if (next_timer <= now) {
      for (std::int32_t i = group.rank(); i < n_waiting; i += group.size()) {
        if (w.waiting[i].until <= now) jobs.set_stage(w.waiting[i], now);
      }
      timers_stale = true;
    }
    if (timers_stale) add_up();
    offer();
    if (n_waiting == 0) return;
    if (free_stale) measure();
    std::int64_t offered = 0;
    for (std::int32_t k = group.rank(); k < n_offered; k += group.size()) offered += v.gpus[w.offered[k].job];
    offered = group.sum(offered);
    bool any = false;
    for (std::int32_t s = 0; s <= v.n_rungs; ++s) {
      any = any || least[s] <= most_free[s] + offered;
      failed[s] = INT32_MAX;
    }
    if (any) pass(static_cast<std::int32_t>(offered));
  }

  /// Jobs whose leases have ended now. Each has another one if it keeps its GPUs.
  BERTH_HD void offer() {
    n_offered = 0;
    if (next_lease > now) return;
    n_offered = select(
        group, n_running, [&](std::int32_t s) { return w.lease_end[s] <= now; },
        [&](std::int32_t s, std::int32_t at) {
          w.offered[at] = {0, w.run_job[s], 0};
          w.lease_end[s] = jobs.lease_end(now);
        });
    group.sync();
  }

  /// The most free GPUs of the stages.
  BERTH_HD void measure() {
    for (std::int32_t s = 0; s <= v.n_rungs; ++s) most_free[s] = cluster.most_free(cluster.level_of(s));
    free_stale = false;
  }

  /// Jobs in order. Of those that wait only the ones are looked at that may find room.
  BERTH_HD void pass(std::int32_t offered_gpus) {
    for (std::int32_t k = group.rank(); k < n_offered; k += group.size()) w.offered[k].seen = jobs.sensitivity_now(w.offered[k].job, now);
    group.sync();
    if (leads()) sort_offered(w.offered, n_offered);
    group.sync();
    const std::int32_t n = n_waiting;
    std::int32_t i = 0, n_lost = 0;
    for (std::int32_t k = 0; k <= n_offered; ++k) {
      const bool last = k == n_offered;
      const std::int32_t end = last ? n : place_of(w.offered[k].seen, now, w.offered[k].job);
      for (i = next_that_may(i, end, last ? 0 : offered_gpus); i < end; i = next_that_may(i + 1, end, last ? 0 : offered_gpus)) {
        const DelayWaiting row = w.waiting[i];
        if (!find_room(row.job, row.gpus, row.stage, k)) continue;
        start(i, row.job);
      }
      if (last) break;
      const std::int32_t job = w.offered[k].job;
      if (w.offered[k].displaced != 0) n_lost += replace(job, k);
      offered_gpus -= v.gpus[job];
    }
    if (gone) remove_started();
    // Rows come after those that are gone, so that there is room.
    for (std::int32_t k = 0; n_lost > 0 && k < n_offered; ++k) {
      const std::int32_t job = w.offered[k].job;
      if (w.offered[k].displaced != 2) continue;
      const DelayJob& one = w.job[job];
      insert(jobs.waiting_row(job, jobs.sensitivity(job, one.seen_left, one.held), now, now));
    }
  }

  /// The next waiting row from `i` on that finds room in free GPUs, or may by displacing.
  BERTH_HD std::int32_t next_that_may(std::int32_t i, std::int32_t end, std::int32_t offered) const {
    for (; i < end; i += group.size()) {
      const std::int32_t at = i + group.rank();
      std::uint32_t found = UINT32_MAX;
      if (at < end) {
        const DelayWaiting& row = w.waiting[at];
        const bool may =
            row.gpus <= most_free[row.stage] || (offered > 0 && row.gpus <= most_free[row.stage] + offered && row.gpus < failed[row.stage]);
        if (may) found = static_cast<std::uint32_t>(at);
      }
      found = group.min(found);
      if (found != UINT32_MAX) return static_cast<std::int32_t>(found);
    }
    return end;
  }

  /// All threads. Takes GPUs for a job, which are free, or those of jobs that are offered from `k` on.
  BERTH_HD bool find_room(std::int32_t job, std::int32_t gpus, std::int32_t stage, std::int32_t k) {
    const std::int32_t level = cluster.level_of(stage);
    if (gpus <= most_free[stage]) {
      cluster.take(job, level);
      measure();
      return true;
    }
    if (gpus >= failed[stage]) return false;
    std::int32_t n = 0;
    for (std::int32_t c = n_offered - 1; c >= k; --c) {
      if (w.offered[c].displaced != 0) continue;
      if (leads()) w.listed[n] = c;
      ++n;
    }
    group.sync();
    std::int32_t released = 0, low = 0, high = 0;
    for (std::int32_t to = 1; low < n; to *= 2) {
      high = to < n ? to : n;
      change(released, high);
      if (cluster.most_free(level) >= gpus) break;
      low = high;
    }
    if (low == n) {
      change(released, 0);
      failed[stage] = gpus;
      return false;
    }
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      change(released, middle);
      if (cluster.most_free(level) >= gpus) {
        high = middle;
      } else {
        low = middle;
      }
    }
    change(released, high);
    cluster.take(job, level);
    for (std::int32_t c = high - 1; c >= 0; --c) {
      DelayOffered& victim = w.offered[w.listed[c]];
      const bool back = cluster.is_free(victim.job);
      group.sync();
      if (back) {
        cluster.hold(victim.job);
      } else if (leads()) {
        victim.displaced = 1;
      }
    }
    measure();
    return true;
  }
  /// The first `to` of the listed jobs are released.
  BERTH_HD void change(std::int32_t& released, std::int32_t to) const {
    for (; released < to; ++released) cluster.release(w.offered[w.listed[released]].job);
    for (; released > to; --released) cluster.hold(w.offered[w.listed[released - 1]].job);
  }

  /// A waiting job has got its GPUs.
  BERTH_HD void start(std::int32_t row, std::int32_t job) {
    if (leads()) {
      w.waiting[row].stage = -1;
      DelayJob& one = w.job[job];
      if (one.start == kDelayNever) one.start = now;
      ++one.starts;
      ++w.shared->starts;
      jobs.add_slot(job, n_running);
      const std::int64_t cost = one.owed;
      one.owed = 0;
      jobs.work(job, cluster, now, cost);
    }
    ++n_running;
    gone = true;
    group.sync();
  }

  /// A displaced job finds other GPUs, or has none. @returns 1 where it has none
  BERTH_HD std::int32_t replace(std::int32_t job, std::int32_t k) {
    const DelayWaiting row = jobs.waiting_row(job, 0, now, now);
    const std::int32_t had = w.job[job].first_part;
    group.sync();
    const bool placed = find_room(job, row.gpus, row.stage, k + 1);
    if (leads()) {
      DelayJob& one = w.job[job];
      const bool returns = placed && cluster.same_gpus(one.first_part, had);
      cluster.forget(had);
      if (!returns) {
        jobs.stop(job, now);
        if (placed) {
          ++one.moves;
          ++w.shared->moves;
          jobs.work(job, cluster, now, v.move_cost[job]);
        } else {
          one.first_part = -1;
          one.owed += v.resume_cost[job];
          ++one.preemptions;
          ++w.shared->preemptions;
          jobs.remove_slot(job, n_running - 1);
          w.offered[k].displaced = 2;
        }
      }
    }
    group.sync();
    if (placed) return 0;
    --n_running;
    return 1;
  }

  BERTH_HD void remove_started() {
    std::int64_t kept = 0;
    for (std::int32_t base = 0; base < n_waiting; base += group.size()) {
      const std::int32_t i = base + group.rank();
      DelayWaiting row{};
      row.stage = -1;
      if (i < n_waiting) row = w.waiting[i];
      std::int64_t all = 0;
      const std::int64_t at = kept + group.scan(row.stage >= 0 ? 1 : 0, all);
      if (row.stage >= 0) w.waiting[at] = row;
      kept += all;
    }
    n_waiting = static_cast<std::int32_t>(kept);
    gone = false;
    timers_stale = true;
    group.sync();
  }

  /// When a timer runs out, and the least demands by stage.
  BERTH_HD void add_up() {
    timers_stale = false;
    std::uint64_t first = UINT64_MAX;
    for (std::int32_t s = 0; s <= v.n_rungs; ++s) least[s] = INT32_MAX;
    for (std::int32_t i = group.rank(); i < n_waiting; i += group.size()) {
      const DelayWaiting& row = w.waiting[i];
      if (static_cast<std::uint64_t>(row.until) < first) first = static_cast<std::uint64_t>(row.until);
      if (row.gpus < least[row.stage]) least[row.stage] = row.gpus;
    }
    const Key soonest = group.min(Key{first, 0});
    next_timer = soonest.hi >= static_cast<std::uint64_t>(kDelayNever) ? kDelayNever : static_cast<std::int64_t>(soonest.hi);
    for (std::int32_t s = 0; s <= v.n_rungs; ++s) {
      least[s] = static_cast<std::int32_t>(group.min(static_cast<std::uint32_t>(least[s])));
    }
  }

  BERTH_HD void look_ahead() {
    if (timers_stale) add_up();
    std::int64_t end = kDelayNever, lease = kDelayNever;
    for (std::int32_t s = group.rank(); s < n_running; s += group.size()) {
      end = w.run_end[s] < end ? w.run_end[s] : end;
      lease = w.lease_end[s] < lease ? w.lease_end[s] : lease;
    }
    const Key first = group.min(Key{static_cast<std::uint64_t>(end), 0});
    const Key slice = group.min(Key{static_cast<std::uint64_t>(lease), 0});
    next_end = static_cast<std::int64_t>(first.hi);
    next_lease = static_cast<std::int64_t>(slice.hi);
  }

  BERTH_HD void finish(bool stopped) {
    // Jobs that run still have what they held until now.
    for (std::int32_t s = group.rank(); s < n_running; s += group.size()) {
      if (now != kDelayNever) jobs.stop(w.run_job[s], now);
    }
    group.sync();
    Wide jct = 0, held = 0, gpu_us = 0, paid = 0;
    std::int64_t last = -1;
    const auto put = [](auto* column, std::int32_t j, auto value) {
      if (column != nullptr) column[j] = value;
    };
    for (std::int32_t j = group.rank(); j < v.n_jobs; j += group.size()) {
      const DelayJob& one = w.job[j];
      put(out.start, j, one.start);
      put(out.end, j, one.end);
      put(out.held, j, one.held);
      put(out.paid, j, one.paid);
      put(out.starts, j, one.starts);
      put(out.preemptions, j, one.preemptions);
      put(out.moves, j, one.moves);
      if (one.end == kDelayNever) continue;
      jct += one.end - v.submit[j];
      held += one.held;
      gpu_us += Wide{one.held} * v.gpus[j];
      paid += Wide{one.paid} * v.gpus[j];
      last = one.end > last ? one.end : last;
    }
    const Wide all_jct = sum(jct), all_held = sum(held), all_gpu_us = sum(gpu_us), all_paid = sum(paid);
    const Key latest = group.min(Key{~static_cast<std::uint64_t>(last + 1), 0});
    if (leads()) {
      const auto end = static_cast<std::int64_t>(~latest.hi);
      *out.totals = {all_jct,
                     all_jct - all_held,
                     all_gpu_us,
                     all_paid,
                     end == 0 ? kDelayNever : end - 1,
                     w.shared->completed,
                     rejected,
                     w.shared->starts,
                     w.shared->preemptions,
                     w.shared->moves,
                     decisions,
                     w.shared->too_late,
                     stopped ? 1 : 0};
    }
    group.sync();
  }
  /// The sum over all threads of numbers from 0 to below 2^125.
  BERTH_HD Wide sum(Wide part) const {
    Wide all = 0;
    for (std::int32_t digit = 0; digit < 4; ++digit) {
      const auto bits = static_cast<std::int64_t>(static_cast<UnsignedWide>(part) >> (32 * digit) & 0xffffffffU);
      all += Wide{group.sum(bits)} << (32 * digit);
    }
    return all;
  }
};

/// Runs one replay. All threads of the group call it; `result` is complete after the last sync.
template <class Group, class StopToken>
BERTH_HD void delay_replay(Group& group, const DelayReplayView& view, const DelayReplayRequest& request, const DelayReplayWorkspace& ws,
                           const DelayReplayResult& result, StopToken& stop_token) {
  DelayReplayLoop<Group, StopToken> loop{group, view, request, ws, result, stop_token};
  loop.run();
}

template <class Group>
BERTH_HD void delay_replay(Group& group, const DelayReplayView& view, const DelayReplayRequest& request, const DelayReplayWorkspace& ws,
                           const DelayReplayResult& result) {
  NeverStop stop_token;
  delay_replay(group, view, request, ws, result, stop_token);
}

}  // namespace berth::kernel
