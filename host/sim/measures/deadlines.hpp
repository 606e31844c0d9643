#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/base/outcome.hpp"

namespace berth::sim {

/// Jobs with a deadline, and those that missed it: ended after it, were rejected, or had not ended by it at the end of the run.
struct Deadlines {
  std::int64_t soft = 0, soft_missed = 0;
  std::int64_t hard = 0, hard_missed = 0;
};

class DeadlinesOf {
 public:
  void add(const JobOutcome& job);
  Deadlines finish(const SimulationTotals& totals);

 private:
  struct Open {
    TimeUs deadline_us;
    bool hard;
  };
  Deadlines deadlines_;
  std::vector<Open> unfinished_;
};

}  // namespace berth::sim
