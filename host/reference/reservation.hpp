#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/reference/state.hpp"

namespace berth::reference {

/// The smallest n in 1..count for which `fits(n)`, found by doubling and then bisecting as section 6 of docs/placement.md says, which is
/// not the smallest one where `fits` is not monotone. `fits` is asked once for each n it is asked for. Nothing when it fails at every n
/// tried.
std::optional<std::int32_t> smallest_prefix(std::int32_t count, const std::function<bool(std::int32_t)>& fits);

/// A job that this walk placed and that ends one day.
struct Started {
  std::int32_t job;
  TimeUs at;  // predicted end
  const kernel::DemandRow* demand;
  std::vector<kernel::PlacedRow> entries;
};

/// Something that comes back at `at`: the held rows of a running job, what a job of this walk took, or GPUs of a node.
struct Event {
  TimeUs at;
  std::int32_t job, node;
  std::uint64_t mask;
  const Started* started;  // null: running before, or no job
};

/// Section 7: in the order in which they happen. displaced: [slots].
std::vector<Event> events_of(const kernel::PlaceRequest& request, const std::vector<bool>& displaced, const std::vector<Started>& started);

void happen(const kernel::ProblemView& p, State& s, const Event& event);

/// What is left for jobs that run into the reservation. `now` is the state of the walk, `later` the one in which the reserved job has
/// started.
State without_reserved(const kernel::ProblemView& p, const State& now, const State& later, const std::vector<kernel::PlacedRow>& reserved);

}  // namespace berth::reference
