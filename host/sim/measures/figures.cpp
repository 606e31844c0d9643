#include "host/sim/measures/figures.hpp"

namespace berth::sim {

void FiguresOf::add(const JobOutcome& job) {
  figures_.starts += job.starts;
  figures_.preemptions += job.preemptions;
  figures_.moves += job.moves;
  figures_.failures += job.failures;
  figures_.repairs += job.repairs;
  figures_.gpu_us += job.gpu_us;
  for (std::size_t loss = 0; loss < kLosses; ++loss) figures_.lost_gpu_us[loss] += job.lost_gpu_us[loss];
  if (job.end == JobOutcome::End::kRejected) ++figures_.rejected;
  if (job.end == JobOutcome::End::kUnfinished) ++figures_.unfinished;
  if (job.end == JobOutcome::End::kKilled) ++figures_.killed;
  if (job.end != JobOutcome::End::kCompleted) return;
  ++figures_.completed;
  jct_.add(job.jct_us());
  wait_.add(job.waited_us());
  first_.add(job.start_us - job.submit_us);
  held_ += job.held_us;
  overhead_ += job.overhead_us;
}

SimulationFigures FiguresOf::finish(const SimulationTotals& totals) {
  figures_.jct_us = jct_.finish();
  figures_.wait_us = wait_.finish();
  figures_.first_us = first_.finish();
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
