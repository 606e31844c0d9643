#pragma once

#include <algorithm>
#include <cstdint>

#include "berth/job.hpp"
#include "berth/trace.hpp"

namespace berth::core {

inline Deadline deadline_of(const TraceJob& job) { return {job.deadline_us, job.deadline_hard, job.deadline_value, job.deadline_later}; }

/// The first instant of a deadline that is later than `now`, or its last one. kNever: no deadline. O(steps).
inline TimeUs deadline_at(const Deadline& deadline, TimeUs now) {
  TimeUs at = deadline.at_us;
  for (const DeadlineStep& step : deadline.later) {
    if (at > now) break;
    at = step.at_us;
  }
  return at;
}

/// Position of the step by which a job ends: 0: the deadline itself, 1: the first of `later`. -1: it ends after all. O(steps).
inline std::int32_t step_index(const Deadline& deadline, TimeUs end) {
  if (end <= deadline.at_us) return 0;
  const auto found =
      std::find_if(deadline.later.begin(), deadline.later.end(), [&](const DeadlineStep& step) { return end <= step.at_us; });
  return found == deadline.later.end() ? -1 : 1 + static_cast<std::int32_t>(found - deadline.later.begin());
}

inline TimeUs step_at(const Deadline& deadline, std::int32_t step) {
  return step == 0 ? deadline.at_us : deadline.later[static_cast<std::size_t>(step) - 1].at_us;
}

/// Value of a step; one without a value counts 1.
inline std::int64_t step_value(const Deadline& deadline, std::int32_t step) {
  return std::max<std::int64_t>(1, step == 0 ? deadline.value : deadline.later[static_cast<std::size_t>(step) - 1].value);
}

}  // namespace berth::core
