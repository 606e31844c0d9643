#pragma once

#include "berth/kernel/replay/waiting.hpp"

/// Running jobs of a replay: their slots, what they have done, and their keys.
namespace berth::kernel {

inline constexpr std::int64_t kReplayNever = INT64_MAX;
inline constexpr std::int64_t kReplayLatest = std::int64_t{1} << 58;  // kMaxTimeUs

/// Functions without `group` are called by one thread, or only read.
template <class Group>
struct RunningJobs {
  Group& group;
  const ReplayView& v;
  const ReplayRequest& r;
  const ReplayWorkspace& w;
  const ReplayResult& out;

  BERTH_HD bool displaces() const { return r.kind != ReplayKey::kFixed; }
  BERTH_HD std::int64_t run_of(std::int32_t job) const { return r.run != nullptr ? r.run[job] : v.run[job]; }
  BERTH_HD std::int64_t left_of(const ReplaySlot& slot, std::int64_t now) const {
    const std::int64_t left = displaces() ? w.past[slot.job].left : run_of(slot.job);
    if (now <= slot.works_from) return left;
    const std::int64_t after = left - (now - slot.works_from);
    return after > 0 ? after : 0;
  }
  BERTH_HD std::int64_t held_of(const ReplaySlot& slot, std::int64_t now) const {
    return (displaces() ? w.past[slot.job].held : 0) + (now - slot.held_from);
  }

  /// The number of thresholds that GPU-time has reached.
  BERTH_HD std::int32_t level_of(std::int64_t gpu_us) const {
    std::int32_t level = 0;
    while (level < r.n_thresholds && r.thresholds[level] <= gpu_us) ++level;
    return level;
  }
  BERTH_HD std::int64_t gpu_time(const ReplaySlot& slot, std::int64_t now) const {
    return saturating_mul(held_of(slot, now), v.line_gpus[v.line[slot.job]]);
  }
  /// The key of a running job.
  BERTH_HD std::int64_t key_now(const ReplaySlot& slot, std::int64_t now) const {
    if (r.kind == ReplayKey::kLevel) return slot.level;
    std::int64_t left = kReplayNever;
    if (r.knows_work != 0) {
      left = left_of(slot, now);
    } else if (r.estimate[slot.job] != kReplayNever) {
      left = r.estimate[slot.job] - held_of(slot, now);
    }
    if (left < 1) left = 1;
    return r.kind == ReplayKey::kRemaining || left == kReplayNever ? left : saturating_mul(left, v.line_gpus[v.line[slot.job]]);
  }
  BERTH_HD Key place_of(std::int32_t at, std::int64_t now) const {
    return place_key(key_now(w.slot[at], now), w.slot[at].job, static_cast<std::uint32_t>(at));
  }
  /// A job begins, or its level rises: when something happens to it next. Other keys only fall while it runs.
  BERTH_HD void set_next(std::int32_t at, std::int32_t pool, std::int64_t now) const {
    ReplaySlot& slot = w.slot[at];
    w.next[at] = slot.end;
    if (r.kind == ReplayKey::kLevel) {
      const std::int64_t have = gpu_time(slot, now);
      slot.level = level_of(have);
      if (slot.level < r.n_thresholds) {
        const std::int64_t change = saturating_add(now, (r.thresholds[slot.level] - have - 1) / v.line_gpus[v.line[slot.job]] + 1);
        if (change < slot.end) w.next[at] = change;
      }
    }
    if (!displaces()) return;
    const Key place = place_of(at, now);
    if (w.last[pool] < place) w.last[pool] = place;
  }

  /// A job gets its GPUs, which are no longer free. @param moved  It was displaced in this decision.
  BERTH_HD void start(std::int32_t job, std::int32_t pool, std::int64_t now, bool moved) const {
    ReplayTotals& totals = *out.totals;
    std::int64_t cost = v.start_cost[job], left = run_of(job);
    const std::int32_t at = w.gpu_begin[pool] + w.running[pool]++;
    if (displaces()) {
      ReplayPast& past = w.past[job];
      cost = moved ? v.move_cost[job] : past.owed;
      if (!moved) past.owed = 0;
      left = past.left;
      past.slot = at;
      if (past.start == kReplayNever) past.start = now;
      ++(moved ? past.moves : past.starts);
    }
    ++(moved ? totals.moves : totals.starts);
    const std::int64_t works_from = saturating_add(now, cost);
    const std::int64_t end = saturating_add(works_from, left > 1 ? left : 1);
    if (end > kReplayLatest && totals.too_late < 0) totals.too_late = job;
    w.slot[at] = {now, works_from, end, job, moved ? 1 : 0, 0};
    set_next(at, pool, now);
    if (w.next[at] < w.least[at / kSlotBlock]) w.least[at / kSlotBlock] = w.next[at];
    w.free[pool] -= v.line_gpus[v.line[job]];
  }

  /// What a job did until now counts. Its GPUs are free, except for `owner`.
  BERTH_HD void stop(const ReplaySlot& slot, std::int32_t pool, std::int64_t now) const {
    out.totals->last_release = now;
    w.free[pool] += v.line_gpus[v.line[slot.job]];
    if (!displaces()) return;
    ReplayPast& past = w.past[slot.job];
    const std::int64_t paid = (now < slot.works_from ? now : slot.works_from) - slot.held_from;
    (slot.moved != 0 ? past.moving : past.restarting) += paid;
    past.left = left_of(slot, now);
    past.held = held_of(slot, now);
  }

  /// The job of a slot has completed, and has been stopped.
  BERTH_HD void report(const ReplaySlot& slot, std::int64_t now) const {
    const std::int32_t job = slot.job;
    ReplayTotals& totals = *out.totals;
    const bool simple = !displaces();
    const ReplayPast none{0, now - slot.held_from, 0, 0, slot.held_from, slot.works_from - slot.held_from, 0, 1, 0, 0, 0};
    const ReplayPast& past = simple ? none : w.past[job];
    ++totals.completed;
    totals.last_end = now;
    totals.jct_us += now - v.submit[job];
    totals.wait_us += now - v.submit[job] - past.held;
    totals.gpu_us += Wide{past.held} * v.line_gpus[v.line[job]];
    write(job, now, past);
  }
  BERTH_HD void reject(std::int32_t job, std::int64_t now) const {
    ++out.totals->rejected;
    write(job, now, {0, 0, 0, 0, kReplayNever, 0, 0, 0, 0, 0, 0});
  }

  /// All threads. Takes a slot out, and moves the last one of its pool there.
  BERTH_HD void remove_slot(std::int32_t at, std::int32_t pool) const {
    const std::int32_t last = w.gpu_begin[pool] + w.running[pool] - 1;
    group.sync();
    if (group.rank() == 0) {
      if (at != last) {
        w.slot[at] = w.slot[last];
        w.next[at] = w.next[last];
        if (displaces()) w.past[w.slot[at].job].slot = at;
      }
      w.next[last] = kReplayNever;
      --w.running[pool];
    }
    group.sync();
    find_least(at / kSlotBlock);
    if (last / kSlotBlock != at / kSlotBlock) find_least(last / kSlotBlock);
  }
  /// All threads: the least instant of a block of slots again.
  BERTH_HD void find_least(std::int32_t block) const {
    std::int64_t least = kReplayNever;
    for (std::int32_t i = group.rank(); i < kSlotBlock; i += group.size()) {
      const std::int64_t next = w.next[block * kSlotBlock + i];
      least = next < least ? next : least;
    }
    least = static_cast<std::int64_t>(group.min(Key{static_cast<std::uint64_t>(least), 0}).hi);
    if (group.rank() == 0) w.least[block] = least;
    group.sync();
  }

 private:
  BERTH_HD void write(std::int32_t job, std::int64_t now, const ReplayPast& past) const {
    if (out.end == nullptr) return;
    out.start[job] = past.start;
    out.end[job] = now;
    out.held[job] = past.held;
    out.restarting[job] = past.restarting;
    out.moving[job] = past.moving;
    out.starts[job] = past.starts;
    out.preemptions[job] = past.preemptions;
    out.moves[job] = past.moves;
  }
};

}  // namespace berth::kernel
