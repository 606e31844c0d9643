#pragma once

#include <cstdint>
#include <vector>

#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/core/work_leg.hpp"
#include "host/sim/iterations.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {

/// A job that was submitted and has not ended. Work is in millionths of a unit; of a job whose work is not stated a unit is a second.
///
/// While it has GPUs it works from `working_from` on, and pauses after each `checkpoint_every_us` of work to save what it has done. What
/// was saved last is where it goes on after a failure: at its start, at a save, and whenever it gave up its GPUs in time.
struct LiveJob {
  const TraceJob* traced = nullptr;
  const ModelOverheads* overheads = nullptr;
  JobOutcome outcome;
  std::int64_t work = 0;
  std::int64_t left = 0;                  ///< of it, when it last got GPUs or gave them up: what is saved
  std::int64_t rate = 0;                  ///< millionths of a unit per second, where it runs, when it got its GPUs
  std::size_t phase = 0;                  ///< of its work; core::phase_at
  std::vector<core::WorkLeg> legs;        ///< phases that began since it got its GPUs
  std::vector<std::int64_t> asked_rates;  ///< of each phase, in the shape it asks for; of a job that has one phase empty
  std::int64_t gpus = 0;                  ///< that it has; shares count as their part of a GPU, rounded up
  TimeUs held_from = 0;                   ///< since when it has them
  TimeUs working_from = 0;                ///< the end of what its last change cost
  Loss pays_for = Loss::kRestart;         ///< until then
  TimeUs owed = 0;                        ///< to be paid at its next start
  TimeUs without_work = 0;                ///< of the time with GPUs, without work that lasted
  std::int64_t crashes = 0;               ///< of its own
  __int128 crashed_gpu_us = 0;            ///< GPU-time that it had had at the last of them
  std::uint64_t run = 0;                  ///< counts starts, moves and stops: an event of an earlier run is void
  bool live = false, running = false;
  bool timed = false;    ///< its work is time, and the rate is 1
  bool stalled = false;  ///< has GPUs, has lost some, and waits for a decision; `left` is what is saved

  /// It gets GPUs at `now`, and works once the change is paid for.
  void hold(std::int64_t of_gpus, std::int64_t at_rate, TimeUs now, TimeUs cost, Loss pays);
  /// It gives them up, having saved its work.
  void release(TimeUs now);
  /// The same where its iterations were followed (`Iterations::stop`).
  void release(TimeUs now, const Executed& executed);
  /// What it has not saved, and cannot save in the time of the notice, is lost; it keeps its GPUs and does nothing more with them.
  void stall(TimeUs now, TimeUs notice);
  void stall(TimeUs now, TimeUs notice, const Executed& executed);
  /// At `now` its next phase has begun, with `from_left` of its work left and at another rate.
  void turn(std::int64_t from_left, std::int64_t to_rate);
  /// When it has done its work, if nothing happens and the rate stays.
  TimeUs ends_at() const { return reaches_at(0); }
  /// When so much of its work is left; at least a microsecond after it begins to work.
  TimeUs reaches_at(std::int64_t still) const;
  std::int64_t left_at(TimeUs now) const;
  /// Whether the state's idea of its progress, which grows from its start on at its rate, is wrong at `now` or becomes so.
  bool works_unevenly(TimeUs now) const;

 private:
  struct Work {
    TimeUs worked, saved, paused;  ///< time at work, of it saved, and spent saving
  };
  bool saves_in(TimeUs notice) const { return notice > 0 && notice >= overheads->costs.checkpoint_save_us; }
  void lose(Loss to, TimeUs time);
  void lose_gpu_time(Loss to, __int128 gpu_us) { outcome.lost_gpu_us[static_cast<std::size_t>(to)] += gpu_us; }
  Work work_until(TimeUs now) const;
  core::WorkLeg first_leg() const { return {0, left, rate, 0}; }
  std::int64_t left_after(TimeUs worked) const;
};

}  // namespace berth::sim
