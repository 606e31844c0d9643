#include "host/sim/measures/measures.hpp"

#include <utility>

namespace berth::sim {

MeasuresOf::MeasuresOf(const TraceFacts& facts, std::int64_t gpus, const MeasuresRequest& wanted)
    : keep_jobs_(wanted.jobs), fairness_(gpus) {
  for (std::size_t by = 0; by < kGroupings; ++by) {
    if (wanted.groups[by]) groups_[by].emplace(static_cast<GroupBy>(by));
  }
  if (wanted.series) series_.emplace(facts, wanted.every_us);
}

void MeasuresOf::add(const JobOutcome& job) {
  const std::int64_t rho_ppm = fairness_.add(job);
  deadlines_.add(job);
  for (std::optional<GroupsOf>& groups : groups_) {
    if (groups) groups->add(job);
  }
  if (!keep_jobs_) return;
  jobs_.push_back({job, rho_ppm});
  jobs_.back().outcome.traced = nullptr;  // the pointer is valid only during this call
}

Measures MeasuresOf::finish(const SimulationTotals& totals) {
  Measures measures;
  measures.fairness = fairness_.finish();
  measures.deadlines = deadlines_.finish(totals);
  for (std::size_t by = 0; by < kGroupings; ++by) {
    if (groups_[by]) measures.groups[by] = groups_[by]->finish();
  }
  if (series_) {
    series_->finish(totals.last_end_us);
    measures.series = series_->samples();
  }
  measures.jobs = std::move(jobs_);
  return measures;
}

}  // namespace berth::sim
