#include "host/sim/generate/turnover.hpp"

#include <utility>

namespace berth::sim {

namespace {

constexpr TimeUs kBetween = 10 * kSecond;

}  // namespace

std::vector<Delta> Turnover::next(const ClusterState& state) {
  const TimeUs now = state.now() + kBetween;
  std::vector<Delta> deltas{delta::SetTime{now}};
  for (int i = 0; i < jobs_; ++i) {
    if (const std::string id = some_running(state, i); !id.empty()) deltas.emplace_back(delta::RemoveJob{id, "completed"});
    Job job = snapshot_.jobs[static_cast<std::size_t>(random_() % snapshot_.jobs.size())];
    job.id = "arrived" + std::to_string(arrivals_++);
    job.state = JobState::kWaiting;
    job.allocation = {};
    job.progress = {};
    job.submit_us = now;
    job.waiting_since_us = job.last_assignment_us = job.lease_end_us = kNever;
    deltas.emplace_back(delta::PutJob{std::move(job)});
  }
  return deltas;
}

// Each searches its own part of the job indices, so that no job ends twice.
std::string Turnover::some_running(const ClusterState& state, int part) {
  const std::int32_t size = state.job_index_end() / jobs_;
  if (size == 0) return {};
  const auto start = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(size));
  for (std::int32_t i = 0; i < size; ++i) {
    const Job* job = state.job(part * size + (start + i) % size);
    if (job != nullptr && job->state == JobState::kRunning) return job->id;
  }
  return {};
}

}  // namespace berth::sim
