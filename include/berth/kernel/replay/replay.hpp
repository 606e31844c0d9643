#pragma once

#include <type_traits>

#include "berth/kernel/base/never_stop.hpp"
#include "berth/kernel/replay/displace.hpp"

/// A trace replayed under a queue policy: docs/replays.md. Jobs are looked at one after another; threads share what is
/// done for all lines, slots or GPUs of a pool.
namespace berth::kernel {

template <class Group, class StopToken>
struct ReplayLoop {
  Group& group;
  const ReplayView& v;
  const ReplayRequest& r;
  const ReplayWorkspace& w;
  const ReplayResult& out;
  StopToken& stop_token;
  RunningJobs<Group> running{group, v, r, w, out};
  WaitingJobs waiting{v, r, w};
  Displacement<Group> gpus{running};
  // The same in all threads.
  std::int64_t now = 0;
  std::int32_t next_job = 0, n_blocks = 0;

  BERTH_HD bool leads() const { return group.rank() == 0; }

  BERTH_HD void run() {
    begin();
    for (Key first = next_end(); advance(first); first = next_end()) {
      for (; first.hi <= static_cast<std::uint64_t>(now); first = next_end()) happen(static_cast<std::int32_t>(first.lo));
      for (; next_job < v.n_jobs && v.submit[next_job] <= now; ++next_job) {
        if (leads()) arrive(next_job);
      }
      group.sync();
      decide();
      if (stopped()) return;
    }
  }

 private:
  BERTH_HD void begin() {
    const std::int32_t size = group.size(), rank = group.rank();
    if (leads()) {
      *w.shared = {};
      *out.totals = {0, 0, 0, kReplayNever, kReplayNever, 0, 0, 0, 0, 0, 0, -1, 0};
      w.gpu_begin[0] = 0;
      for (std::int32_t p = 0; p < v.n_pools; ++p) {
        w.gpu_begin[p + 1] = w.gpu_begin[p] + static_cast<std::int32_t>(r.capacity[p]);
        w.free[p] = r.capacity[p];
        w.running[p] = w.is_due[p] = 0;
      }
    }
    group.sync();
    const std::int32_t n_gpus = w.gpu_begin[v.n_pools];
    n_blocks = (n_gpus + kSlotBlock - 1) / kSlotBlock;
    for (std::int64_t i = rank; i < words_of_set(v.n_jobs); i += size) w.waiting[i] = 0;
    for (std::int32_t l = rank; l < v.n_lines; l += size) w.head[l].job = -1;
    for (std::int32_t s = rank; s < n_blocks * kSlotBlock; s += size) w.next[s] = kReplayNever;
    for (std::int32_t b = rank; b < n_blocks; b += size) w.least[b] = kReplayNever;
    if (running.displaces()) {
      for (std::int32_t l = rank; l < v.n_lines; l += size) w.heap_size[l] = 0;
      for (std::int32_t p = rank; p < v.n_pools; p += size) w.last[p] = {0, 0};
      for (std::int32_t g = rank; g < n_gpus; g += size) w.owner[g] = gpus.kFree;
      for (std::int32_t j = rank; j < v.n_jobs; j += size) {
        w.past[j] = {running.run_of(j), 0, v.start_cost[j], 0, kReplayNever, 0, 0, 0, 0, 0, -1};
      }
    }
  }

  /// The block of slots in which something happens first, and when.
  BERTH_HD Key next_end() {
    Key first = kNoKey;
    for (std::int32_t b = group.rank(); b < n_blocks; b += group.size()) {
      const Key one{static_cast<std::uint64_t>(w.least[b]), static_cast<std::uint64_t>(b)};
      if (one < first) first = one;
    }
    return group.min(first);
  }

  /// Goes to the next instant. @returns false where nothing happens any more.
  BERTH_HD bool advance(const Key& first) {
    const std::int64_t arrival = next_job < v.n_jobs ? v.submit[next_job] : kReplayNever;
    now = first.hi < static_cast<std::uint64_t>(arrival) ? static_cast<std::int64_t>(first.hi) : arrival;
    return now != kReplayNever;
  }

  BERTH_HD void make_due(std::int32_t pool) const {
    if (w.is_due[pool] != 0) return;
    w.is_due[pool] = 1;
    w.due[w.shared->n_due++] = pool;
  }

  /// The first job of a block of slots ends, or its key changes.
  BERTH_HD void happen(std::int32_t block) {
    Key first = kNoKey;
    for (std::int32_t at = block * kSlotBlock + group.rank(); at < (block + 1) * kSlotBlock; at += group.size()) {
      const Key one{static_cast<std::uint64_t>(w.next[at]), static_cast<std::uint64_t>(at)};
      if (one < first) first = one;
    }
    const auto at = static_cast<std::int32_t>(group.min(first).lo);
    const ReplaySlot& slot = w.slot[at];  // its level may change below
    const std::int32_t job = slot.job, pool = v.line_pool[v.line[job]];
    if (leads()) make_due(pool);
    if (slot.end <= now) {
      if (leads()) {
        running.stop(slot, pool, now);
        running.report(slot, now);
      }
      if (running.displaces()) gpus.give(job, pool);
      running.remove_slot(at, pool);
    } else {
      if (leads()) running.set_next(at, pool, now);
      group.sync();
      running.find_least(block);
    }
  }

  BERTH_HD void arrive(std::int32_t job) const {
    const std::int32_t pool = v.line_pool[v.line[job]];
    if (v.line_gpus[v.line[job]] > r.capacity[pool]) {
      running.reject(job, now);
      return;
    }
    waiting.add(job);
    make_due(pool);
  }

  BERTH_HD void decide() {
    const std::int32_t n_due = w.shared->n_due;
    if (r.strict != 0) {
      if (n_due > 0) decide_over(0, v.n_lines);
    } else {
      for (std::int32_t i = 0; i < n_due; ++i) decide_over(v.pool_line[w.due[i]], v.pool_line[w.due[i] + 1]);
    }
    group.sync();
    if (leads()) {
      for (std::int32_t i = 0; i < n_due; ++i) w.is_due[w.due[i]] = 0;
      w.shared->n_due = 0;
      ++out.totals->decisions;
    }
  }

  /// The first job of some lines that is behind a place and may find room, or was displaced. kNoKey: none.
  BERTH_HD Key next_to_try(std::int32_t begin, std::int32_t end, const Key& behind, std::int64_t too_many) {
    Key best = kNoKey;
    for (std::int32_t l = begin + group.rank(); l < end; l += group.size()) {
      const ReplayHead head = w.head[l];
      if (head.job < 0) continue;
      const std::int64_t need = v.line_gpus[l];
      const std::int32_t pool = v.line_pool[l];
      const Key place = place_key(head.key, head.job, static_cast<std::uint32_t>(l));
      if (r.strict == 0 && need > w.free[pool] && (!running.displaces() || need >= too_many || w.last[pool] < place)) continue;
      if (behind < place && place < best) best = place;
    }
    for (std::int32_t i = group.rank(); i < w.shared->n_displaced; i += group.size()) {
      if (w.displaced[i].state != DisplacedRow::kUntried) continue;
      const std::int32_t job = w.displaced[i].job;
      const Key place = place_key(w.past[job].key, job, static_cast<std::uint32_t>(v.n_lines + i));
      if (place < best) best = place;
    }
    return group.min(best);
  }

  /// Jobs of some lines are tried in order, each once. Where one finds no room, none behind it that has as many GPUs does,
  /// until others are displaced.
  BERTH_HD void decide_over(std::int32_t begin, std::int32_t end) {
    Key behind{0, 0};  // no place is as early
    std::int64_t too_many = INT64_MAX;
    for (;;) {
      const Key place = next_to_try(begin, end, behind, too_many);
      if (place == kNoKey) break;
      behind = place;
      const std::int32_t job = job_of(place), again = last_of(place) - v.n_lines, pool = v.line_pool[v.line[job]];
      const std::int64_t need = v.line_gpus[v.line[job]];
      bool room = need <= w.free[pool];
      group.sync();
      if (running.displaces()) {
        if (room) {
          gpus.take(job, pool);
        } else if (gpus.make_room(place, pool, now)) {
          room = true;
          too_many = INT64_MAX;
        }
      }
      if (!room) {
        too_many = need < too_many ? need : too_many;
        if (r.strict != 0) break;
        if (leads() && again >= 0) w.displaced[again].state = DisplacedRow::kTried;
      } else if (leads()) {
        if (again >= 0) {
          w.displaced[again].state = DisplacedRow::kMoved;
        } else {
          waiting.remove_first(v.line[job]);
        }
        running.start(job, pool, now, again >= 0);
      }
      group.sync();
    }
    if (running.displaces()) end_displacing();
  }

  /// What was displaced and found no other place waits.
  BERTH_HD void end_displacing() {
    if (leads()) {
      for (std::int32_t i = 0; i < w.shared->n_displaced; ++i) {
        if (w.displaced[i].state == DisplacedRow::kMoved) continue;
        const std::int32_t job = w.displaced[i].job;
        ++out.totals->preemptions;
        ++w.past[job].preemptions;
        w.past[job].owed += v.restart_cost[job];
        waiting.add_again(job);
      }
      w.shared->n_displaced = 0;
    }
    group.sync();
  }

  BERTH_HD bool stopped() {
    if constexpr (std::is_same_v<StopToken, NeverStop>) {
      return false;
    } else {
      if (leads() && out.totals->decisions % 1024 == 1 && stop_token.stop()) w.shared->stop = out.totals->stopped = 1;
      group.sync();
      return w.shared->stop != 0;
    }
  }
};

/// Replays the trace. O(n_jobs (lines + slots / kSlotBlock)) where no job is displaced.
template <class Group, class StopToken = NeverStop>
BERTH_HD void replay(Group& group, const ReplayView& v, const ReplayRequest& request, const ReplayWorkspace& ws, const ReplayResult& result,
                     StopToken&& stop_token = StopToken{}) {
  ReplayLoop<Group, std::remove_reference_t<StopToken>>{group, v, request, ws, result, stop_token}.run();
}

}  // namespace berth::kernel
