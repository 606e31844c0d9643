#include "host/sim/measures/deadlines.hpp"

namespace berth::sim {

void DeadlinesOf::add(const JobOutcome& job) {
  const TraceJob& traced = *job.traced;
  if (traced.deadline_us == kNever) return;
  ++(traced.deadline_hard ? deadlines_.hard : deadlines_.soft);
  if (job.end == JobOutcome::End::kUnfinished) {
    unfinished_.push_back({traced.deadline_us, traced.deadline_hard});
  } else if (job.end == JobOutcome::End::kRejected || job.end_us > traced.deadline_us) {
    ++(traced.deadline_hard ? deadlines_.hard_missed : deadlines_.soft_missed);
  }
}

Deadlines DeadlinesOf::finish(const SimulationTotals& totals) {
  for (const Open& job : unfinished_) {
    // After an interruption it is not known which jobs would have met their deadline.
    if (totals.interrupted && totals.last_end_us <= job.deadline_us) continue;
    ++(job.hard ? deadlines_.hard_missed : deadlines_.soft_missed);
  }
  unfinished_.clear();
  return deadlines_;
}

}  // namespace berth::sim
