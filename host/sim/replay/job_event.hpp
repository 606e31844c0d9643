#pragma once

#include <cstdint>
#include <tuple>

#include "berth/units.hpp"
#include "host/sim/replay/live_job.hpp"

namespace berth::sim {

/// An event of a running job.
struct JobEvent {
  TimeUs at;
  std::int32_t position;  // in the trace: it orders events at one instant
  std::int32_t job_index;
  std::uint64_t run, rate_changes;
  enum class What : std::uint8_t { kEnd, kPhase, kCrash, kKill } what;
  /// It was expected of another run, or before other jobs changed the rate.
  bool is_void(const LiveJob& job) const {
    return job.run != run || ((what == What::kEnd || what == What::kPhase) && job.rate_changes != rate_changes);
  }
  bool operator>(const JobEvent& other) const { return std::tie(at, what, position) > std::tie(other.at, other.what, other.position); }
};

/// A run of a job that does not work evenly, or reports progress.
struct Unsettled {
  std::int32_t job;
  std::uint64_t run;
};

}  // namespace berth::sim
