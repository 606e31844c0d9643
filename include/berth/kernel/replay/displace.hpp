#pragma once

#include "berth/kernel/replay/running.hpp"

/// Jobs that give way to others, and which GPUs each job has: docs/placement.md, section 6, step 5, for jobs of single
/// GPUs and packing `count`. A job takes the first free GPUs of its pool.
namespace berth::kernel {

template <class Group>
struct Displacement {
  RunningJobs<Group>& jobs;
  Group& group = jobs.group;
  const ReplayView& v = jobs.v;
  const ReplayWorkspace& w = jobs.w;

  // w.owner: the job that has the GPU; kFree; or, of a job that is to give way, `lent`. Each thread reads and writes that of
  // the same GPUs everywhere.
  static constexpr std::int32_t kFree = -1;
  BERTH_HD static std::int32_t lent(std::int32_t job) { return -2 - job; }

  /// All threads. There are enough GPUs that are free or lent. @param job  Their owner then.
  BERTH_HD void take(std::int32_t job, std::int32_t pool) const {
    const std::int32_t gpus = v.line_gpus[v.line[job]], end = w.gpu_begin[pool + 1], step = group.size();
    std::int32_t* const owner = w.owner;
    std::int32_t* const prior = w.prior;
    std::int32_t taken = 0;
    for (std::int32_t from = w.gpu_begin[pool]; from < end && taken < gpus; from += step) {
      const std::int32_t g = from + group.rank();
      const std::int32_t is = g < end ? owner[g] : 0;
      std::int64_t total = 0;
      const auto place = static_cast<std::int32_t>(taken + group.scan(is < 0 ? 1 : 0, total));
      if (is < 0 && place < gpus) {
        prior[place] = is;
        owner[g] = job;
      }
      taken += static_cast<std::int32_t>(total);
    }
    group.sync();
  }
  /// All threads: the GPUs that a job owns become free.
  BERTH_HD void give(std::int32_t job, std::int32_t pool) const { replace_owner(pool, job, kFree); }

  /// All threads. Takes GPUs for a job that finds too few, from jobs behind its place. Those that keep theirs go on; the
  /// others are displaced, and their GPUs are free. @returns false, with nothing changed, where all of them are not enough.
  BERTH_HD bool make_room(const Key& place, std::int32_t pool, std::int64_t now) const {
    const std::int32_t job = job_of(place);
    if (!choose_victims(place, pool, now)) return false;
    lend(pool);
    take(job, pool);
    for (std::int32_t i = 0; w.victim[i] >= 0; ++i) {
      const std::int32_t victim = w.victim[i];
      bool lost = false;
      for (std::int32_t k = group.rank(); k < v.line_gpus[v.line[job]]; k += group.size()) lost = lost || w.prior[k] == lent(victim);
      lost = group.any(lost);
      replace_owner(pool, lent(victim), lost ? kFree : victim);
      if (lost) displace(victim, pool, now);
    }
    return true;
  }

 private:
  /// All threads. The last jobs of the order that have enough GPUs together with those that are free: w.victim, ended by -1.
  BERTH_HD bool choose_victims(const Key& place, std::int32_t pool, std::int64_t now) const {
    const std::int32_t begin = w.gpu_begin[pool], end = begin + w.running[pool];
    std::int64_t have = w.free[pool], behind = 0;
    const std::int64_t need = v.line_gpus[v.line[job_of(place)]];
    Key last = kNoKey;  // of inverted places
    for (std::int32_t at = begin + group.rank(); at < end; at += group.size()) {
      w.mark[at] = 0;
      const Key one = jobs.place_of(at, now);
      if (invert(one) < last) last = invert(one);
      if (place < one) behind += v.line_gpus[v.line[w.slot[at].job]];
    }
    last = group.min(last);
    if (have + group.sum(behind) < need) {
      if (group.rank() == 0) w.last[pool] = invert(last);
      return false;
    }
    std::int32_t n = 0;
    for (; have < need; ++n) {
      const Key victim = invert(last);
      have += v.line_gpus[v.line[job_of(victim)]];
      if (group.rank() == 0) {
        w.victim[n] = job_of(victim);
        w.mark[last_of(victim)] = 1;
      }
      group.sync();
      if (have >= need) continue;
      last = kNoKey;
      for (std::int32_t at = begin + group.rank(); at < end; at += group.size()) {
        if (w.mark[at] != 0) continue;
        const Key one = invert(jobs.place_of(at, now));
        if (one < last) last = one;
      }
      last = group.min(last);
    }
    if (group.rank() == 0) w.victim[n] = -1;
    group.sync();
    return true;
  }
  BERTH_HD static Key invert(const Key& place) { return {~place.hi, ~place.lo}; }
  /// All threads: GPUs of the chosen victims can be taken.
  BERTH_HD void lend(std::int32_t pool) const {
    for (std::int32_t i = 0; w.victim[i] >= 0; ++i) replace_owner(pool, w.victim[i], lent(w.victim[i]));
  }
  // It stores in any case, so that a compiler makes vectors of it.
  BERTH_HD void replace_owner(std::int32_t pool, std::int32_t from, std::int32_t to) const {
    std::int32_t* const owner = w.owner;
    const std::int32_t end = w.gpu_begin[pool + 1], step = group.size();
    for (std::int32_t g = w.gpu_begin[pool] + group.rank(); g < end; g += step) {
      const std::int32_t is = owner[g];
      owner[g] = is == from ? to : is;
    }
  }
  /// All threads.
  BERTH_HD void displace(std::int32_t job, std::int32_t pool, std::int64_t now) const {
    const std::int32_t at = w.past[job].slot;
    if (group.rank() == 0) {
      const ReplaySlot slot = w.slot[at];
      w.past[job].key = jobs.key_now(slot, now);
      jobs.stop(slot, pool, now);
      w.displaced[w.shared->n_displaced++] = {job, DisplacedRow::kUntried};
    }
    jobs.remove_slot(at, pool);
  }
};

}  // namespace berth::kernel
