#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "host/sim/counts/backfill_lines.hpp"
#include "host/sim/counts/count_run.hpp"
#include "host/sim/counts/gpu_timeline.hpp"

namespace berth::sim {

/// The decisions of discipline `conservative`, without displacing jobs (docs/placement.md, section 7).
///
/// Reservations are made in order until no further job can start now. Those behind are not needed: each decision makes all again.
/// Where jobs take the first GPUs, a plan made from scratch is that of the last decision, unless a running job has ended before its
/// predicted end, or that end moves, or a job has come before others. So it is kept. Where something has changed, jobs keep their
/// reservations up to the first that changes. docs/simulation-reference.md ("Conservative backfill by counts") says why.
class ConservativeDecisions {
 public:
  explicit ConservativeDecisions(CountRun& run);

  bool is_empty(std::int32_t pool) const { return lines_.is_empty(pool) && pools_[to_index(pool)].fresh.empty(); }
  /// A job waits from now on.
  void push(const JobPlace& place) { pools_[to_index(run_.jobs()[place.job].pool)].fresh.push_back(place); }
  /// A job of this pool has ended.
  void look_behind_again(std::int32_t pool, const JobPlace& place);
  /// A node of this pool failed or returned.
  void look_again(std::int32_t pool) { pools_[to_index(pool)].ended = pools_[to_index(pool)].more_free = true; }
  void decide();
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any();

 private:
  struct Pool {
    explicit Pool(std::int64_t gpus) : timeline(gpus) {}

    std::vector<JobPlace> fresh;      // waiting jobs that came since the last decision
    std::set<JobPlace> waiting;       // the other ones, in order
    JobPlace planned_until = kNoJob;  // the last of `waiting` that was planned; all before it were, too
    std::set<JobPlace> starts;        // those of them that have a reservation, by start
    GpuTimeline timeline;             // with the running jobs of the last decision and these reservations
    bool planned = false;             // the timeline is that of the last decision
    bool ended = false;               // a job has ended since the last decision
    bool more_free = false;           // one of them before its predicted end
    bool moved = false;               // a predicted end has moved to a later instant, or may have
  };
  struct Reservation {
    JobPlace place;  // of its job
    TimeUs start;    // kNever: the job has none
  };

  void decide_in(std::int32_t pool);
  bool join_waiting(std::int32_t pool);
  bool enough_for_any(std::int32_t pool) const;
  void begin_timeline(std::int32_t pool);
  void plan_behind(std::int32_t pool, JobPlace place, JobPlace kept_until);
  JobPlace first_that_may_start(std::int32_t pool, const JobPlace& behind);
  bool keep(Pool& of, const JobPlace& place);
  void plan(std::int32_t pool, const JobPlace& place, TimeUs from);
  void start_due(std::int32_t pool);

  CountRun& run_;
  std::vector<Pool> pools_;
  bool keeps_;                         // a plan is kept where nothing has changed
  BackfillLines lines_;                // of all `waiting`
  std::vector<Reservation> reserved_;  // [jobs] those of planned jobs are valid; their GPUs are kept as if they ran
  std::vector<std::uint64_t> gpus_;    // a set of GPUs
  std::vector<GpuTimeline::Room> room_;
};

}  // namespace berth::sim
