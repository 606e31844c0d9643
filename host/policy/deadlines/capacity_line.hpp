#pragma once

#include <cstdint>
#include <vector>

#include "berth/units.hpp"

namespace berth::policy {

/// GPUs of one type that are promised from now on: a step function of time. All instants are at least `now`.
class CapacityLine {
 public:
  struct Step {
    TimeUs at;
    std::int64_t used;  // from then on
  };

  /// Forgets all.
  void begin(TimeUs now, std::int64_t gpus);
  /// Adds GPUs in [from, to), whether there are as many or not. Before the first question; then `settle`.
  void add(TimeUs from, TimeUs to, std::int64_t gpus);
  void settle();

  /// Latest instant up to `until` at which N GPUs have been free for as long as `run` (at least 1); kNever: none.
  /// O(steps). @param gpus  at least 1
  TimeUs latest_end(std::int64_t gpus, TimeUs run, TimeUs until) const;
  /// Earliest instant, `from` or later, from which on N GPUs are free for that long; kNever: none.
  TimeUs earliest_start(std::int64_t gpus, TimeUs run, TimeUs from) const;
  bool is_free(std::int64_t gpus, TimeUs from, TimeUs to) const;
  /// First instant, `from` or later, at which fewer than N GPUs are free; kNever: none.
  TimeUs free_until(std::int64_t gpus, TimeUs from) const;
  /// GPUs that are free all the time in [from, to), from `now` on.
  std::int64_t least_free(TimeUs from, TimeUs to) const;
  /// Calls visit(from, to) for each longest interval before an instant in which N GPUs are free, the latest first, until it returns false.
  template <class Visit>
  void each_free(std::int64_t gpus, TimeUs until, const Visit& visit) const {
    if (until <= now_) return;
    TimeUs to = until;  // of the interval that is followed back
    for (std::size_t i = step_at(until - 1) + 1; i-- > 0;) {
      if (steps_[i].used + gpus <= gpus_) continue;
      if (i + 1 < steps_.size() && steps_[i + 1].at < to && !visit(steps_[i + 1].at, to)) return;
      to = steps_[i].at;
    }
    if (now_ < to) visit(now_, to);
  }
  /// GPU-time that is promised before an instant, saturated.
  std::int64_t gpu_us_until(TimeUs until) const;
  /// Earliest deadline, `from` or later, before which the line leaves this much GPU-time when this many millionths of a GPU are taken by
  /// others; kNever: none.
  TimeUs earliest_room(std::int64_t gpu_us, std::int64_t busy_micro, TimeUs from) const;
  /// Takes N GPUs in [from, to). After `settle`.
  void take(TimeUs from, TimeUs to, std::int64_t gpus);

  std::int64_t gpus() const { return gpus_; }
  /// Ascending, the first at `now`. After `settle`.
  const std::vector<Step>& steps() const { return steps_; }
  TimeUs now() const { return now_; }

 private:
  std::size_t step_at(TimeUs at) const;  // the step in which an instant is
  std::size_t split(TimeUs at);

  TimeUs now_ = 0;
  std::int64_t gpus_ = 0;
  std::vector<Step> changes_;  // before `settle`: differences
  std::vector<Step> steps_;    // ascending; the first is at `now_`, the last uses none or is kept for ever
};

}  // namespace berth::policy
