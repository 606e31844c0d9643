#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/policy/deadlines/capacity_line.hpp"

namespace berth::policy {

/// Running jobs that may not be displaced: from which instant on each could be. @param due  run time left of a job with a promise
inline TimeUs displaceable_from(const core::JobColumns& jobs, TimeUs now, std::int32_t job, TimeUs due) {
  const TimeUs stays = jobs.promise->stays[job];
  return jobs.running[job] == 0 || stays == 0 ? now : core::end_of(now, std::min({stays, jobs.promise->longest[job], due}));
}

/// A job that may not be displaced starts only where that breaks no promise. Such jobs are taken from the lines, or refused.
/// @param lines     of GPU types, with all that is promised
/// @param promises  number of them by type
/// @param from      of a job: when its reserved time begins; kNever: nothing is promised
template <class From>
void hold_back(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::vector<CapacityLine>& lines,
               const std::vector<std::int64_t>& promises, const From& from, std::vector<core::Refusal>& refused) {
  const core::PromiseColumns& columns = *jobs.promise;
  std::unordered_set<std::int32_t> rejected;
  for (const core::Refusal& one : refused) rejected.insert(one.job);
  for (const std::int32_t job : job_indices) {
    if (jobs.running[job] != 0 || columns.stays[job] == 0) continue;
    const TimeUs begin = from(job);
    if ((begin != kNever && begin <= now) || rejected.count(job) != 0) continue;
    // It may start in any of its shapes.
    const std::int64_t gpus = std::max<std::int64_t>(jobs.gpus[job], columns.gpus[job]);
    const TimeUs until = std::min(core::end_of(now, std::min(columns.stays[job], columns.need[job])), begin);
    TimeUs earliest = now;
    for (std::size_t type = 0; type < lines.size(); ++type) {
      const bool may_use = columns.type[job] < 0 || to_index(columns.type[job]) == type;
      if (!may_use || promises[type] == 0 || lines[type].is_free(gpus, now, until)) continue;
      earliest = std::max(earliest, lines[type].earliest_start(gpus, until == kNever ? kNever : until - now, now + 1));
    }
    if (earliest > now) {
      refused.push_back({job, false, std::min(earliest, begin)});
      continue;
    }
    for (std::size_t type = 0; type < lines.size(); ++type) {
      if (columns.type[job] < 0 || to_index(columns.type[job]) == type) lines[type].take(now, until, gpus);
    }
  }
}

}  // namespace berth::policy
