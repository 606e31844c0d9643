#include "host/sim/measures/deadlines.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::sim {

void DeadlinesOf::add(const JobOutcome& job) {
  const TraceJob& traced = *job.traced;
  const bool completed = job.end == JobOutcome::End::kCompleted;
  if (traced.deadline_us == kNever) {
    ++deadlines_.best_effort;
    if (!completed) return;
    ++deadlines_.best_effort_completed;
    best_effort_jct_.add(job.jct_us());
    return;
  }
  const std::int64_t value = std::max<std::int64_t>(1, traced.deadline_value);
  ++(traced.deadline_hard ? deadlines_.hard : deadlines_.soft);
  deadlines_.value = core::saturating_add(deadlines_.value, value);
  if (job.admission == JobOutcome::Admission::kPromised) ++deadlines_.promised;
  if (job.admission == JobOutcome::Admission::kWarned) ++deadlines_.warned;
  if (job.admission == JobOutcome::Admission::kRefused) ++deadlines_.refused;
  if (job.end == JobOutcome::End::kUnfinished) {
    unfinished_.push_back({traced.deadline_us, value, traced.deadline_hard, job.admission});
    return;
  }
  if (completed && job.end_us > traced.deadline_us) late_.add(job.end_us - traced.deadline_us);
  if (job.end == JobOutcome::End::kRejected || job.end_us > traced.deadline_us) {
    miss(traced.deadline_hard, job.admission);
  } else {
    meet(value, job.admission);
  }
}

void DeadlinesOf::meet(std::int64_t value, JobOutcome::Admission admission) {
  deadlines_.value_met = core::saturating_add(deadlines_.value_met, value);
  if (admission == JobOutcome::Admission::kWarned) ++deadlines_.warned_met;
}

void DeadlinesOf::miss(bool hard, JobOutcome::Admission admission) {
  ++(hard ? deadlines_.hard_missed : deadlines_.soft_missed);
  if (admission == JobOutcome::Admission::kPromised) ++deadlines_.promised_missed;
}

Deadlines DeadlinesOf::finish(const SimulationTotals& totals) {
  for (const Open& job : unfinished_) {
    // After an interruption it is not known which jobs would have met their deadline.
    if (totals.interrupted && totals.last_end_us <= job.deadline_us) continue;
    miss(job.hard, job.admission);
  }
  unfinished_.clear();
  const std::int64_t all = deadlines_.hard + deadlines_.soft, missed = deadlines_.hard_missed + deadlines_.soft_missed;
  if (all > 0) deadlines_.met_ppm = core::mul_div(all - missed, 1'000'000, all);
  deadlines_.late_us = late_.finish(true);
  deadlines_.best_effort_jct_us = best_effort_jct_.finish();
  return deadlines_;
}

}  // namespace berth::sim
