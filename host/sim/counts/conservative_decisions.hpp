#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "host/sim/counts/count_run.hpp"
#include "host/sim/counts/gpu_timeline.hpp"

namespace berth::sim {

/// The decisions of discipline `conservative` under packing `count`, without displacing jobs (docs/placement.md, section 7).
///
/// A plan made from scratch in each decision is that of the last one, unless a running job has ended before its predicted end, or that
/// end moves, or a job has come before others. docs/simulation-reference.md ("Conservative backfill by counts") says why. So the plan is
/// kept. Where something has changed, jobs keep their reservations up to the first that changes.
class ConservativeDecisions {
 public:
  explicit ConservativeDecisions(CountRun& run);

  bool is_empty(std::int32_t pool) const {
    const Pool& of = pools_[to_index(pool)];
    return of.planned.empty() && of.fresh.empty();
  }
  /// A job waits from now on.
  void push(const JobPlace& place) { pools_[to_index(run_.jobs()[place.job].pool)].fresh.push_back(place); }
  /// A job of this pool has ended.
  void look_behind_again(std::int32_t pool, const JobPlace& place);
  void decide();
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any();

 private:
  struct Pool {
    explicit Pool(std::int64_t gpus) : timeline(gpus) {}

    std::vector<JobPlace> fresh;  // waiting jobs that came since the last decision
    std::set<JobPlace> planned;   // the other waiting jobs, in order
    std::set<JobPlace> starts;    // those of them that have a reservation, by start
    GpuTimeline timeline;         // with the running jobs of the last decision and these reservations
    bool more_free = false;       // a job has ended before its predicted end since the last decision
    bool moved = false;           // a predicted end has moved to a later instant, or may have
  };

  void decide_in(std::int32_t pool);
  void plan_again(std::int32_t pool);
  void begin_timeline(std::int32_t pool);
  bool keep(Pool& of, const JobPlace& place);
  void plan(std::int32_t pool, const JobPlace& place, TimeUs from);
  void start_due(std::int32_t pool);

  struct Reservation {
    JobPlace place;  // of its job
    TimeUs start;    // kNever: the job has none
  };

  CountRun& run_;
  std::vector<Pool> pools_;
  std::vector<Reservation> reserved_;  // [jobs] those of waiting jobs are valid; their GPUs are kept as if they ran
  std::vector<std::uint64_t> gpus_;  // a set of GPUs
};

}  // namespace berth::sim
