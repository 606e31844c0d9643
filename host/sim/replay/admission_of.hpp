#pragma once

#include <string>

#include "berth/engine.hpp"
#include "host/sim/base/outcome.hpp"

namespace berth::sim {

/// What a policy that promises deadlines said of a job last, by what it keeps (docs/genie.md). @param refused  and rejected for it
inline JobOutcome::Admission admission_of(const PolicyState& kept, const std::string& job, bool refused) {
  if (refused) return JobOutcome::Admission::kRefused;
  const auto column = kept.columns.find("promised_end_us");
  if (column == kept.columns.end()) return JobOutcome::Admission::kNone;
  const auto row = column->second.find(job);
  if (row == column->second.end()) return JobOutcome::Admission::kNone;
  return row->second == -1 ? JobOutcome::Admission::kWarned : JobOutcome::Admission::kPromised;  // -2: the promise was broken
}

}  // namespace berth::sim
