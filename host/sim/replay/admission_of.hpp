#pragma once

#include <string>

#include "berth/engine.hpp"
#include "host/sim/base/outcome.hpp"

namespace berth::sim {

/// What a policy that promises deadlines keeps of a job (docs/genie.md): an instant, -1: nothing is promised, -2: a promise was broken;
/// null: it does not know the job.
inline const std::int64_t* kept_promise(const PolicyState& kept, const std::string& job) {
  const auto column = kept.columns.find("promised_end_us");
  if (column == kept.columns.end()) return nullptr;
  const auto row = column->second.find(job);
  return row == column->second.end() ? nullptr : &row->second;
}

/// What it said of the job last. @param refused  and rejected for it
inline void read_admission(const PolicyState& kept, const std::string& job, bool refused, JobOutcome& outcome) {
  const std::int64_t* const said = kept_promise(kept, job);
  if (refused) {
    outcome.admission = JobOutcome::Admission::kRefused;
  } else if (said != nullptr) {
    outcome.admission = *said == -1 ? JobOutcome::Admission::kWarned : JobOutcome::Admission::kPromised;
    if (*said >= 0) outcome.promised_us = *said;
  }
}

}  // namespace berth::sim
