#include "host/sim/figures.hpp"

#include <algorithm>

namespace berth::sim {

Spread spread_of(std::vector<std::int64_t>& values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  __int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  const auto n = static_cast<std::int64_t>(values.size());
  const auto at_percent = [&](std::int64_t p) { return values[static_cast<std::size_t>((p * n + 99) / 100 - 1)]; };
  spread.mean = static_cast<std::int64_t>(sum / n);
  spread.p50 = at_percent(50);
  spread.p90 = at_percent(90);
  spread.p99 = at_percent(99);
  spread.max = values.back();
  return spread;
}

std::int64_t decision_us(const SimulationTotals& totals, std::size_t percent) {
  std::vector<double> decisions = totals.decision_s;
  std::sort(decisions.begin(), decisions.end());
  return decisions.empty() ? 0 : static_cast<std::int64_t>(decisions[(decisions.size() - 1) * percent / 100] * 1e6);
}

FiguresOf::FiguresOf(std::size_t jobs) {
  for (std::vector<std::int64_t>* of : {&jct_, &wait_, &first_}) of->reserve(jobs);
}

void FiguresOf::add(const JobOutcome& job) {
  figures_.starts += job.starts;
  figures_.preemptions += job.preemptions;
  figures_.moves += job.moves;
  figures_.failures += job.failures;
  figures_.mends += job.mends;
  figures_.gpu_us += job.gpu_us;
  for (std::size_t loss = 0; loss < kLosses; ++loss) figures_.lost_gpu_us[loss] += job.lost_gpu_us[loss];
  if (job.end == JobOutcome::End::kDeclined) ++figures_.declined;
  if (job.end == JobOutcome::End::kUnfinished) ++figures_.unfinished;
  if (job.end == JobOutcome::End::kKilled) ++figures_.killed;
  if (job.end != JobOutcome::End::kCompleted) return;
  ++figures_.completed;
  jct_.push_back(job.jct_us());
  wait_.push_back(job.waited_us());
  first_.push_back(job.start_us - job.submit_us);
  held_ += job.held_us;
  overhead_ += job.overhead_us;
}

SimulationFigures FiguresOf::finish(const SimulationTotals& totals) {
  figures_.jct_us = spread_of(jct_);
  figures_.wait_us = spread_of(wait_);
  figures_.first_us = spread_of(first_);
  figures_.makespan_us = totals.last_end_us - totals.first_submit_us;
  __int128 worked = figures_.gpu_us;
  for (const __int128 lost : figures_.lost_gpu_us) worked -= lost;
  const __int128 all = totals.gpu_up_us;
  if (all > 0) figures_.gpu_utilisation_ppm = static_cast<std::int64_t>(figures_.gpu_us * 1'000'000 / all);
  if (all > 0) figures_.goodput_ppm = static_cast<std::int64_t>(worked * 1'000'000 / all);
  if (figures_.gpu_us > 0) figures_.effective_ppm = static_cast<std::int64_t>(worked * 1'000'000 / figures_.gpu_us);
  if (held_ > 0) figures_.overhead_ppm = static_cast<std::int64_t>(overhead_ * 1'000'000 / held_);
  return figures_;
}

}  // namespace berth::sim
