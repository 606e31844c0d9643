#pragma once

#include <cstdint>
#include <vector>

#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/core/model/work_leg.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/base/trace_form.hpp"
#include "host/sim/iterations/iterations.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// A job that was submitted and has not ended. Work is in millionths of a unit; without a stated work a unit is a second.
///
/// With GPUs it works from `working_from` on, and pauses after each `checkpoint_every_us` of work to save its state.
/// After a failure it continues from its last save: at its start, at a checkpoint, or when it gave up its GPUs in time.
struct LiveJob {
  const TraceJob* traced = nullptr;
  const ModelOverheads* overheads = nullptr;
  JobOutcome outcome;
  std::int64_t work = 0;
  std::int64_t left = 0;                  ///< saved work left, when it last got or released GPUs
  std::int64_t rate = 0;                  ///< millionths of a unit per second at its place, when it got its GPUs
  std::size_t phase = 0;                  ///< phase of its work; core::phase_at
  std::vector<core::WorkLeg> legs;        ///< phases that began since it got its GPUs
  std::vector<std::int64_t> asked_rates;  ///< of each phase, in the requested shape; empty for a job with one phase
  std::int64_t gpus = 0;                  ///< that it holds; shares count as their fraction of a GPU, rounded up
  TimeUs held_from = 0;                   ///< when it got them
  TimeUs begins_at = 0;                   ///< when displaced jobs have left them, and it has stopped itself
  TimeUs stops_at = 0;                    ///< end of its grace after it was displaced last
  TimeUs working_from = 0;                ///< end of the cost of its last change
  Loss pays_for = Loss::kRestart;         ///< cause of the cost until then
  TimeUs owed = 0;                        ///< cost of its next start
  TimeUs without_work = 0;                ///< time with GPUs but without lasting work
  std::int64_t crashes = 0;               ///< number of crashes of the job itself
  __int128 crashed_gpu_us = 0;            ///< its GPU-time at the last crash
  std::uint64_t rate_changes = 0;         ///< number of changes by other jobs: expected events of an earlier rate are void
  bool slowed = false;                    ///< by links, or less than its profile knows
  bool refused = false;                   ///< and rejected, as nothing could be promised
  TimeUs limits_raised_us = 0;            ///< until then it asks for more than the limits of its queue
  std::uint64_t run = 0;                  ///< counts starts, moves and stops: events of an earlier run are void
  bool live = false, running = false;
  bool timed = false;  ///< its work is time, with rate 1
  /// Its next start, or its last one, pays for being displaced for quotas.
  bool owes_to_quotas = false, pays_to_quotas = false;
  __int128 lost_to_quotas = 0;  ///< GPU-time that it has paid so
  bool stalled = false;         ///< it lost some of its GPUs and waits for a decision; `left` is what was saved

  /// Sets the work of a job in this form. Its shapes may have different rates without a profile.
  void set_work(const TraceForm& form);
  /// Receives GPUs at `now`, and works once the cost of the change is paid.
  void hold(std::int64_t of_gpus, std::int64_t at_rate, TimeUs now, TimeUs cost, Loss pays);
  /// Releases its GPUs after saving its work.
  void release(TimeUs now);
  /// The same where its iterations were followed (`Iterations::stop`).
  void release(TimeUs now, const Executed& executed);
  /// Loses the work that is not saved and cannot be saved within the notice. It keeps its GPUs but does no more work on them.
  void stall(TimeUs now, TimeUs notice);
  void stall(TimeUs now, TimeUs notice, const Executed& executed);
  /// Its next phase begins at `now`, with `from_left` work left and another rate.
  void begin_phase(std::int64_t from_left, std::int64_t to_rate);
  /// It goes on at another rate. O(1): at most two legs are kept.
  void change_rate(TimeUs now, std::int64_t to_rate);
  /// When it finishes its work, if nothing happens and the rate stays.
  TimeUs ends_at() const { return reaches_at(0); }
  /// When its remaining work is `still`; at least a microsecond after it begins to work.
  TimeUs reaches_at(std::int64_t still) const;
  std::int64_t left_at(TimeUs now) const;
  /// It will never end: what it has done is lost work.
  void lose_all();
  /// Whether the state's extrapolated progress, linear from its start, is or becomes wrong at `now`.
  bool works_unevenly(TimeUs now) const;

 private:
  struct Work {
    TimeUs worked, saved, paused;  ///< working time, the saved part of it, and time spent saving
  };
  bool saves_in(TimeUs notice) const { return notice > 0 && notice >= overheads->costs.checkpoint_save_us; }
  void lose(Loss to, TimeUs time);
  void pay(__int128 gpu_us);
  void lose_gpu_time(Loss to, __int128 gpu_us) { outcome.lost_gpu_us[static_cast<std::size_t>(to)] += gpu_us; }
  Work work_until(TimeUs now) const;
  core::WorkLeg first_leg() const { return {0, left, rate, 0}; }
  std::int64_t left_after(TimeUs worked) const;
};

/// Reports the run time that the job needs if the rate of its phase stays. @param left  of its work
void expect_rate_to_stay(Job& reported, const LiveJob& job, std::int64_t left);

/// Without a measured rate the work of a job takes the time stated in the trace.
inline std::int64_t known_rate(const LiveJob& job, std::int64_t rate) {
  return rate > 0 ? rate : std::max<std::int64_t>(1, core::mul_div(job.work, kSecond, job.traced->run_us));
}

}  // namespace berth::sim
