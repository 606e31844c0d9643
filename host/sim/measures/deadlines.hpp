#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/base/outcome.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::sim {

/// Jobs with a deadline, and those that missed it: ended after it, were rejected, or had not ended by it at the end of the run.
struct Deadlines {
  std::int64_t soft = 0, soft_missed = 0;
  std::int64_t hard = 0, hard_missed = 0;
  std::int64_t met_ppm = 0;  ///< jobs that met their deadline, of those that have one; 0 where none has
  /// Of all deadlines, and of those that were met. A deadline without a value counts 1. Saturated.
  std::int64_t value = 0, value_met = 0;
  Distribution late_us;                                     ///< of jobs that completed after their deadline: by how much
  std::int64_t best_effort = 0, best_effort_completed = 0;  ///< jobs without a deadline
  Distribution best_effort_jct_us;                          ///< of those that completed
  /// What a policy that promises deadlines said of jobs that have one, and what came of them.
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
    TimeUs deadline_us;
    std::int64_t value;
    bool hard;
    JobOutcome::Admission admission;
  };
  void meet(std::int64_t value, JobOutcome::Admission admission);
  void miss(bool hard, JobOutcome::Admission admission);

  Deadlines deadlines_;
  SpreadOf late_, best_effort_jct_;
  std::vector<Open> unfinished_;
};

}  // namespace berth::sim
