#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/delta.hpp"
#include "berth/engine.hpp"
#include "berth/export.hpp"
#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

/// What an edit of a state would change in the next plan: docs/what-if.md.
namespace berth {

/// Changes that are asked about together. None of them is kept.
struct Edit {
  std::string name;                                                        ///< for errors and tables
  std::vector<Delta> deltas;                                               ///< applied in order, all or none; not `delta::Load`
  std::optional<std::string> policy;                                       ///< decides instead of that of the base, without policy state
  std::optional<std::vector<std::pair<std::string, std::string>>> params;  ///< instead of those of the base; with `policy`: default none
};

/// How the answer for a job differs from that of the base plan.
enum class EditEffect : std::uint8_t {
  kStarts,      ///< it would wait or be rejected, and starts
  kRunsOn,      ///< it would be displaced, and runs on
  kNoRoom,      ///< it would start, and waits
  kPreempted,   ///< it would run on, and loses its GPUs
  kMoved,       ///< it would run on where it is, and moves or changes its shape
  kStays,       ///< it would move or change its shape, and runs on where it is
  kElsewhere,   ///< it starts or moves either way, to other GPUs or in another shape
  kSooner,      ///< its reservation starts earlier
  kLater,       ///< its reservation starts later
  kPlanned,     ///< it gets a reservation
  kNotPlanned,  ///< it loses its reservation
  kRejected,    ///< it would wait, and is rejected
  kAccepted,    ///< it would be rejected, and waits
  kNew,         ///< the edit adds it
  kGone,        ///< the edit removes it
  kSame,        ///< the edit describes it, and its answer is the same
};
inline constexpr int kEditEffects = 16;

/// What a plan does with a job.
struct JobAnswer {
  Action action = Action::kWait;
  TimeUs start_us = kNever;    ///< now for a job that starts, later for one with a reservation; else kNever
  TimeUs finish_us = kNever;   ///< predicted, of a job that starts or has a reservation
  std::int64_t gpus_ppm = 0;   ///< millionths of a GPU that it uses from now on
  Allocation allocation;       ///< where it runs from now on, or from `start_us`; empty: nowhere
  std::string reason;          ///< why it waits, is rejected or is displaced; empty: there is none, or reasons were not asked for
  std::string would_start_if;  ///< the smallest single change that lets it start; completes "would start if"
  bool operator==(const JobAnswer&) const = default;
};

/// A job whose answer differs.
struct JobChange {
  std::string job;
  EditEffect effect = EditEffect::kSame;
  std::optional<JobAnswer> before;  ///< none: the edit adds the job
  std::optional<JobAnswer> after;   ///< none: the edit removes the job
  bool operator==(const JobChange&) const = default;
};

/// GPUs that jobs of a queue, and of those below it, use after the plan; millionths.
struct QueueUse {
  std::string queue;
  std::int64_t before_ppm = 0, after_ppm = 0;
  bool operator==(const QueueUse&) const = default;
};

/// The answer to one edit.
struct EditOutcome {
  std::string name;
  std::uint64_t revision = 0;  ///< of the state that was asked
  std::string policy;          ///< that decides after the edit
  std::vector<std::pair<std::string, std::string>> params;
  Totals before, after;
  std::vector<JobChange> jobs;   ///< those whose answer differs, and those that the edit describes; by effect, then id
  std::vector<QueueUse> queues;  ///< those whose use differs, by id
  bool operator==(const EditOutcome&) const = default;
};

/// The decision that edits are compared with.
struct WhatIfRequest {
  Request request;           ///< `changes_only` is not read
  PolicyState policy_state;  ///< of the last decision; not changed
  /// Give the reason of each job in the answer that waits. Without, an answer costs no more than what changes, where
  /// decisions do (docs/placement.md, section 12), and reasons are empty but of jobs that are displaced or rejected.
  bool reasons = true;
};

/// A running job that moves, in the same shape.
struct RoomMove {
  std::string job;
  Allocation from, to;
  TimeUs cost_us = 0;            ///< run time that the move costs it: saving, restarting, restoring
  std::int64_t cost_gpu_us = 0;  ///< the same times its GPUs
  bool operator==(const RoomMove&) const = default;
};

/// Which running jobs would move so that a waiting job starts.
struct RoomAnswer {
  std::string job;
  bool found = false;
  JobAnswer base;                ///< what the base plan does with the job
  Allocation allocation;         ///< where it would start now
  std::vector<RoomMove> moves;   ///< by job id
  std::int64_t cost_gpu_us = 0;  ///< of all moves
  std::int64_t domains = 0;      ///< places that were asked for the cheapest set of jobs
  std::int64_t sets = 0;         ///< sets of jobs that were tried: whether all of them find another place
  std::string note;              ///< why no set was found
  bool operator==(const RoomAnswer&) const = default;
};

class WhatIfEngineImpl;

/// Answers what edits of one state would change in its next plan.
///
/// It keeps a copy of the state. An edit is applied to the copy, decided, compared, and taken back: an answer equals
/// that of a fresh copy, edited and decided from scratch, and does not depend on edits asked before.
/// One thread at a time may use an object.
class BERTH_API WhatIfEngine {
 public:
  /// @param state  Kept. To ask about a live state, pass `ClusterState(live.snapshot())`, and `follow` what happens.
  /// @throws as Engine::decide: the base plan is decided here.
  WhatIfEngine(ClusterState state, WhatIfRequest base);
  ~WhatIfEngine();
  WhatIfEngine(WhatIfEngine&&) noexcept;
  WhatIfEngine& operator=(WhatIfEngine&&) noexcept;

  /// @throws InputError naming the edit, the delta and the value, when the state refuses a delta;
  ///         InvalidArgument for `delta::Load`, and as Engine::decide. The object answers the next edit as before.
  EditOutcome answer(const Edit& edit);
  std::vector<EditOutcome> answer(std::span<const Edit> edits);

  /// Finds running jobs to move, not to stop, so that a waiting job starts now, after all that the base plan does.
  ///
  /// Asks each place that the job may use for its cheapest set of jobs (docs/victims.md), and tries the sets, the cheapest
  /// first, until all jobs of one find another place. A cheaper set may exist.
  /// @throws InvalidArgument for an unknown job, or one that runs.
  RoomAnswer make_room(const std::string& job);

  /// Applies what happened to the live state, and decides the base again. @throws as ClusterState::apply, Engine::decide
  void follow(std::span<const Delta> deltas);
  /// The same after the live state committed the base plan. @throws as `commit`
  void commit_base();

  const ClusterState& state() const;  ///< the copy, without edits
  const Plan& base() const;           ///< of that state

 private:
  std::unique_ptr<WhatIfEngineImpl> impl_;
};

/// The name in files: "starts", "no_room", "later".
BERTH_API std::string_view to_string(EditEffect effect);

}  // namespace berth
