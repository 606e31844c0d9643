#include "host/sim/counts/displaced_jobs.hpp"

#include <algorithm>

namespace berth::sim {

void DisplacedJobs::move(std::size_t i) {
  const JobPlace place = jobs_[i];
  jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
  run_.move(place);
}

// A job that got GPUs in this decision is before all jobs still to be tried, and so is not a victim.
bool DisplacedJobs::displace_for(const JobPlace& first) {
  CountedJobs& jobs = run_.jobs();
  NodeCounts& nodes = run_.nodes();
  const CountedJob& job = jobs[first.job];
  RunningOrder& order = run_.running(job.pool);
  if (order.end() < first) return false;
  std::size_t n = 0;
  for (std::int64_t have = nodes.free(job.pool); have < job.gpus; ++n) {
    if (n == order.size()) return false;
    const JobPlace& victim = order.at_end(n, jobs, run_.keys(), run_.now());
    if (victim < first) return false;
    have += jobs[victim.job].gpus;
  }
  order.read_end(n, victims_);
  for (const JobPlace& victim : victims_) nodes.give(jobs.taken(victim.job));
  nodes.take(job.pool, job.gpus, jobs.taken(first.job));
  // The first victim returns first, if its GPUs are still free.
  kept_.clear();
  foremost_ = victims_.back();
  for (const JobPlace& victim : victims_) {
    if (nodes.take_again(jobs.taken(victim.job))) {
      kept_.push_back(victim);
      continue;
    }
    run_.stop(victim.job);
    foremost_ = std::min(foremost_, victim);
    jobs_.insert(std::upper_bound(jobs_.begin() + static_cast<std::ptrdiff_t>(next_), jobs_.end(), victim), victim);
  }
  order.replace_end(victims_.size(), kept_);
  return true;
}

}  // namespace berth::sim
