#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/reference/base/state.hpp"

namespace berth::reference {

/// The smallest n in 1..count for which `fits(n)`, by doubling and bisection as in section 6 of docs/placement.md.
/// It need not be the smallest where `fits` is not monotone. `fits` is called once per n.
/// Returns nothing when every n tried fails.
std::optional<std::int32_t> smallest_prefix(std::int32_t count, const std::function<bool(std::int32_t)>& fits);

/// A job placed by this scheduling pass that has a predicted end.
struct Started {
  std::int32_t job;
  TimeUs at;  // predicted end
  const kernel::DemandRow* demand;
  std::vector<kernel::PlacedRow> entries;
};

/// Resources that become free at `at`: those of a running job or of a job of this pass, or GPUs of a node.
struct TimedRelease {
  TimeUs at;
  std::int32_t job, node;
  std::uint64_t mask;
  const Started* started;  // null: running before this pass, or no job
};

/// Section 7: events in the order in which they happen. displaced: [indices of jobs].
std::vector<TimedRelease> events_of(const kernel::PlaceRequest& request, const std::vector<bool>& displaced,
                                    const std::vector<Started>& started);

void happen(const kernel::ProblemView& p, State& s, const TimedRelease& event);

/// Resources left for jobs that overlap the reservation. `now` is the current state; in `later` the reserved job has started.
/// Queues are charged as in `later`.
State without_reserved(const kernel::ProblemView& p, const State& now, const State& later, const std::vector<kernel::PlacedRow>& reserved);

}  // namespace berth::reference
