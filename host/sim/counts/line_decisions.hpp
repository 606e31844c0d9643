#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/counts/count_run.hpp"
#include "host/sim/counts/displaced_jobs.hpp"
#include "host/sim/counts/waiting_lines.hpp"

namespace berth::sim {

/// The decisions of disciplines `strict` and `greedy` (docs/placement.md, section 6).
class LineDecisions {
 public:
  LineDecisions(CountRun& run, bool strict) : run_(run), strict_(strict), waiting_(run.nodes().pools(), strict), displaced_(run) {}

  /// Whether no job waits that competes with jobs of this pool.
  bool is_empty(std::int32_t pool) const { return waiting_.is_empty(pool); }
  /// A job waits from now on.
  void push(const JobPlace& place);
  /// Jobs of this pool behind this place may fit now, because a job there left or moved back in the order.
  void look_behind_again(std::int32_t pool, const JobPlace& place) { waiting_.look_behind_again(pool, place); }
  /// A node of this pool failed or returned.
  void look_again(std::int32_t pool) { waiting_.look_behind_again(pool, kNoJob); }
  void decide() {
    // Pools are independent, unless the head of the line blocks all jobs.
    for (const std::int32_t group : waiting_.due()) decide_over(group);
  }
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any() { return waiting_.take_any(); }

 private:
  void decide_over(std::int32_t group);
  bool start_elsewhere(std::int32_t group);
  bool try_first(std::int32_t group, JobPlace first);
  WaitingLines::Room room(std::int32_t group);

  CountRun& run_;
  bool strict_;
  WaitingLines waiting_;
  DisplacedJobs displaced_;
};

}  // namespace berth::sim
