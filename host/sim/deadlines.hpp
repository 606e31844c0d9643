#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/simulation.hpp"

namespace berth::sim {

/// Jobs with a deadline, and those of them that missed it: ended after it, were declined, or had not ended by it when the run was over.
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
