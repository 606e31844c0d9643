#include "host/sim/measures/deadlines.hpp"

#include "host/core/base/wide.hpp"
#include "host/core/model/deadline_steps.hpp"

namespace berth::sim {
namespace {

// The step that was promised. Of a broken promise only the deadline itself is left. kNever: nothing was promised.
TimeUs promised_until(const JobOutcome& job, const Deadline& deadline) {
  if (job.admission != JobOutcome::Admission::kPromised) return kNever;
  const std::int32_t step = job.promised_us == kNever ? -1 : core::step_index(deadline, job.promised_us);
  return step < 0 ? deadline.at_us : core::step_at(deadline, step);
}

}  // namespace

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
  const Deadline deadline = core::deadline_of(traced);
  ++(deadline.hard ? deadlines_.hard : deadlines_.soft);
  deadlines_.value = core::saturating_add(deadlines_.value, core::step_value(deadline, 0));
  if (job.admission == JobOutcome::Admission::kPromised) ++deadlines_.promised;
  if (job.admission == JobOutcome::Admission::kWarned) ++deadlines_.warned;
  if (job.admission == JobOutcome::Admission::kRefused) ++deadlines_.refused;
  const TimeUs promised = promised_until(job, deadline);
  if (job.end == JobOutcome::End::kUnfinished) {
    unfinished_.push_back({deadline.at_us, promised, deadline.hard});
    return;
  }
  if (completed && job.end_us > deadline.at_us) late_.add(job.end_us - deadline.at_us);
  const bool rejected = job.end == JobOutcome::End::kRejected;
  if (promised != kNever && (rejected || job.end_us > promised)) ++deadlines_.promised_missed;
  const std::int32_t step = rejected ? -1 : core::step_index(deadline, job.end_us);
  if (step >= 0) deadlines_.value_met = core::saturating_add(deadlines_.value_met, core::step_value(deadline, step));
  if (step > 0) ++deadlines_.met_later;
  if (step != 0) miss(deadline.hard);
  if (step == 0 && job.admission == JobOutcome::Admission::kWarned) ++deadlines_.warned_met;
}

Deadlines DeadlinesOf::finish(const SimulationTotals& totals) {
  // After an interruption it is not known which jobs would have met their deadline.
  const auto is_over = [&](TimeUs at) { return at != kNever && (!totals.interrupted || totals.last_end_us > at); };
  for (const Open& job : unfinished_) {
    if (is_over(job.deadline_us)) miss(job.hard);
    if (is_over(job.promised_us)) ++deadlines_.promised_missed;
  }
  unfinished_.clear();
  const std::int64_t all = deadlines_.hard + deadlines_.soft, missed = deadlines_.hard_missed + deadlines_.soft_missed;
  if (all > 0) deadlines_.met_ppm = core::mul_div(all - missed, 1'000'000, all);
  deadlines_.late_us = late_.finish(true);
  deadlines_.best_effort_jct_us = best_effort_jct_.finish();
  return deadlines_;
}

}  // namespace berth::sim
