#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "berth/trace.hpp"
#include "berth/units.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::sim {

/// Causes of GPU-time in which a job has its GPUs and does no work.
enum class Loss : std::uint8_t {
  kRestart,     ///< starting, also again after a preemption or a failure
  kMove,        ///< migrations and resizes
  kCheckpoint,  ///< saving while running
  kStalled,     ///< without all of its GPUs, until a decision
  kLostWork,    ///< lost work: done but not saved at a failure
  kIdle,        ///< where iterations are followed: its share of its GPUs, minus its computing in whole iterations
};
inline constexpr int kLosses = 6;
inline constexpr const char* kLossNames[kLosses] = {"restart", "move", "checkpoint", "stalled", "lost_work", "idle"};

/// The outcome of a job. Instants are those of the trace.
struct JobOutcome {
  enum class End : std::uint8_t { kCompleted, kRejected, kUnfinished, kKilled };
  /// What a policy that promises deadlines said of the job last.
  enum class Admission : std::uint8_t { kNone, kWarned, kPromised, kRefused };

  std::int32_t job = 0;              ///< position in the trace
  const TraceJob* traced = nullptr;  ///< valid only during the call that reports the outcome
  End end = End::kUnfinished;
  Admission admission = Admission::kNone;
  TimeUs promised_us = kNever;  ///< the end that was promised last; kNever: none, or the promise was broken
  TimeUs submit_us = 0;
  TimeUs start_us = kNever;                     ///< first start
  TimeUs end_us = kNever;                       ///< completed, rejected or killed
  TimeUs held_us = 0;                           ///< time with GPUs
  TimeUs overhead_us = 0;                       ///< part of `held_us` spent on changes
  __int128 live_us = 0;                         ///< number of jobs present, itself included, summed over the time until it ended
  __int128 gpu_us = 0;                          ///< GPU-time allocated
  std::array<__int128, kLosses> lost_gpu_us{};  ///< part of `gpu_us` without lasting work
  std::int32_t starts = 0;                      ///< first start and resumptions
  std::int32_t preemptions = 0;                 ///< number of times that it lost its GPUs
  std::int32_t moves = 0;                       ///< migrations and resizes
  std::int32_t failures = 0;                    ///< number of times that it lost unsaved work, or GPUs
  std::int32_t repairs = 0;                     ///< number of failures after which it continued with replacement GPUs
  std::string reason;                           ///< of a rejected job
  std::string nodes;                            ///< its nodes at the end, in rank order, separated by blanks
  TimeUs jct_us() const { return end_us - submit_us; }
  TimeUs waited_us() const { return jct_us() - held_us; }
};

inline constexpr const char* kEndNames[] = {"completed", "rejected", "unfinished", "killed"};

/// Results of a run besides its jobs.
struct SimulationTotals {
  TimeUs first_submit_us = 0;
  TimeUs last_end_us = 0;      ///< the last completion or kill; for an interrupted run the instant of the interruption
  TimeUs last_release_us = 0;  ///< when a job released GPUs for the last time
  std::int64_t gpus = 0;       ///< GPUs of the cluster that had not failed at the start
  __int128 gpu_us = 0;         ///< GPU-time allocated to jobs
  __int128 gpu_up_us = 0;      ///< available GPU-time from the first submission to the last release: of GPUs that had not failed
  std::int64_t failures = 0;   ///< of nodes and GPUs
  std::int64_t decisions = 0;
  /// Conservative backfill by counts: how often a start was looked for, and how often a reservation of the plan before stood
  /// in a new plan without a look.
  std::int64_t reservations_made = 0, reservations_kept = 0;
  bool interrupted = false;
  Distribution decision_ns;  ///< duration of decisions; not measured in a simulation by counts
};

}  // namespace berth::sim
