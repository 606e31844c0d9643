#pragma once

#include <cstdint>
#include <string>

#include "berth/trace.hpp"

namespace berth::core {

/// Describes what is wrong with a job's phases; empty when nothing is. Does not check that their profiles exist.
std::string phases_problem(const TraceJob& job);

/// The phase of a job after `done` work: 0 is that of its own `profile` and `batch`, k that of `phases[k - 1]`.
std::size_t phase_at(const TraceJob& job, std::int64_t done);

/// Work of a job before phase `k`; for the number of phases + 1, its total work.
inline std::int64_t phase_begin(const TraceJob& job, std::size_t k) {
  return k == 0 ? 0 : k <= job.phases.size() ? job.phases[k - 1].from : job.work;
}

/// Epochs in millionths that a job has done after `done` of its `work`, both in one unit: linear between the instants that it states.
std::int64_t epochs_after(const TraceJob& job, std::int64_t done, std::int64_t work);

}  // namespace berth::core
