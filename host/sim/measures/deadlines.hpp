#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/base/outcome.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::sim {

/// Jobs with a deadline, and those that missed it: ended after it, were rejected, or had not ended by it at the end of the run. The first
/// instant of a deadline counts for that, whether later steps have a value or not.
struct Deadlines {
  std::int64_t soft = 0, soft_missed = 0;
  std::int64_t hard = 0, hard_missed = 0;
  std::int64_t met_later = 0;  ///< of `soft_missed`: ended within a later step
  std::int64_t met_ppm = 0;    ///< jobs that met their deadline, of those that have one; 0 where none has
  /// Of all deadlines, and of the steps within which jobs ended. A deadline without a value counts 1. Saturated.
  std::int64_t value = 0, value_met = 0;
  Distribution late_us;                                     ///< of jobs that completed after their deadline: by how much
  std::int64_t best_effort = 0, best_effort_completed = 0;  ///< jobs without a deadline
  Distribution best_effort_jct_us;                          ///< of those that completed
  /// What a policy that promises deadlines said of jobs that have one, and what came of them. A promise is of a step.
  std::int64_t promised = 0, promised_missed = 0;
  std::int64_t warned = 0, warned_met = 0;  ///< accepted without a promise
  std::int64_t refused = 0;                 ///< rejected because nothing could be promised
};

class DeadlinesOf {
 public:
  void add(const JobOutcome& job);
  Deadlines finish(const SimulationTotals& totals);

 private:
  struct Open {
    TimeUs deadline_us, promised_us;  // kNever: nothing was promised
    bool hard;
  };
  void miss(bool hard) { ++(hard ? deadlines_.hard_missed : deadlines_.soft_missed); }

  Deadlines deadlines_;
  SpreadOf late_, best_effort_jct_;
  std::vector<Open> unfinished_;
};

}  // namespace berth::sim
