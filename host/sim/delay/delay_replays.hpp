#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/sim/delay/delay_problem.hpp"

namespace berth::sim {

/// How long jobs wait for a domain of each rung: [classes * rungs]; kNever: for ever.
using DelayTimes = std::vector<TimeUs>;

/// What jobs have in common besides their timers.
struct DelayLeases {
  TimeUs lease_us = 3600 * kSecond;
  bool common = false;              ///< all end at multiples of `lease_us`
  std::int64_t most_decisions = 0;  ///< a replay ends after this number; 0: no limit
  bool operator==(const DelayLeases&) const = default;
};

/// Figures of a replay.
struct DelayOutcome {
  kernel::DelayReplayTotals totals{};
  std::vector<TimeUs> start_us, end_us, held_us;  ///< [jobs] where they were asked for
};

/// Replays one problem once for each of `times`, as `simulate` does under `dally-manual` with those timers and `discipline=greedy`.
/// @throws InvalidArgument for a lease below 1 us or not longer than a restart, timers below 0 or of another number, and a job that
///         would end beyond the largest time; what the backend throws
std::vector<DelayOutcome> delay_replays(const DelayProblem& problem, const DelayLeases& leases, std::span<const DelayTimes> times,
                                        core::PlacementBackend& backend, bool with_jobs = false);

}  // namespace berth::sim
