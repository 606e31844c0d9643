#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/counts/backfill_lines.hpp"
#include "host/sim/counts/count_run.hpp"

namespace berth::sim {

/// The decisions of discipline `easy` (docs/placement.md, sections 6 and 7) with a policy that displaces no jobs.
///
/// One job has a reservation: the first of all pools that finds no room. Its pool is looked at again when the reservation may be another
/// one, and any pool when a job of it arrives or ends, or when its reservation has gone.
/// docs/simulation-reference.md ("Backfill by counts") says why nothing else changes a decision.
class BackfillDecisions {
 public:
  explicit BackfillDecisions(CountRun& run) : run_(run), waiting_(run.nodes().pools()), is_due_(to_index(run.nodes().pools())) {}

  bool is_empty(std::int32_t pool) const { return waiting_.is_empty(pool); }
  /// A job waits from now on.
  void push(const JobPlace& place);
  /// A job of this pool left or has another place.
  void look_behind_again(std::int32_t pool, const JobPlace& /*place*/) { make_due(pool); }
  /// A node of this pool failed or returned.
  void look_again(std::int32_t pool) { make_due(pool); }
  void decide();
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any() { return waiting_.take_any(); }

 private:
  struct Reservation {
    JobPlace job = kNoJob;
    std::int64_t version = -1;           // of the releases in its pool
    bool moves = false;                  // its instant, and perhaps its GPUs, are other ones a microsecond later
    TimeUs at = kNever;                  // kNever: the job never fits, and there is none
    std::int64_t spare = 0;              // GPUs that are free at that instant and not reserved
    std::vector<std::int32_t> released;  // jobs that end until then
    bool placed = false;                 // `gpus` are known
    std::vector<CountedGpus> gpus;
  };

  void make_due(std::int32_t pool);
  JobPlace start_until_blocked();
  bool reserve_for(const JobPlace& place);
  void place_reservation();
  void start_behind(const JobPlace& blocked, std::int32_t pool, bool reserved);
  void start(const JobPlace& place);
  std::int64_t free_beside(std::int32_t pool) const;

  CountRun& run_;
  BackfillLines waiting_;
  std::vector<std::uint8_t> is_due_;  // [pools]
  std::vector<std::int32_t> due_;
  Reservation reservation_;
  std::int32_t reserved_pool_ = -1;
};

}  // namespace berth::sim
