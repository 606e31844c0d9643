#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/sim/delay/delay_replays.hpp"

namespace berth::sim {

/// Powers of two of GPUs that some job of a trace reaches with more than half of it, and does not exceed. Without jobs: 1.
std::vector<std::int64_t> demand_classes(const Trace& trace);

/// Timers for classes of demands as the parameter `timers` of `dally-manual` has them. Classes with the same timers as the next are
/// left out.
/// @param times  whole millionths of a lease, or kNever
std::string timers_text(std::span<const std::int64_t> most_gpus, const DelayTimes& times, TimeUs lease_us);

/// How timers are searched.
struct DelaySearch {
  DelayLeases leases;
  std::int64_t settings = 1000;  ///< of timers, at most, at least 1
  std::uint64_t seed = 0;
  bool with_jobs = false;  ///< `value` reads columns of jobs
  /// What is to be small: the sum over the problems. Timers under which jobs are left are lost.
  std::function<std::int64_t(const DelayProblem&, const DelayOutcome&)> value;
  /// Called with the number of settings that were replayed; false: stop. May be empty.
  std::function<bool(std::int64_t)> proceed;
};

struct FoundTimers {
  DelayTimes times;
  std::int64_t value = 0;
};

struct DelaySearchResult {
  std::optional<FoundTimers> best;     ///< nothing: all are lost, or it was stopped before the first
  std::optional<FoundTimers> uniform;  ///< the best with the same timers for all demands
  std::int64_t settings = 0, lost = 0;
  bool stopped = false;
};

/// Values of timers in leases, in millionths, ascending; the last is for ever.
std::span<const std::int64_t> timer_grid();

/// Searches timers by class of demands and level on a grid: the same for all demands; at random; then class by class from the best on,
/// the class with the most GPU-time first. The tighter level of a class never has the longer timer. Deterministic by its seed.
/// @param problems  each setting is replayed on each of them: jobs of the same classes on the same cluster. At least one
DelaySearchResult search_timers(std::span<const DelayProblem* const> problems, const DelaySearch& search, core::PlacementBackend& backend);

}  // namespace berth::sim
