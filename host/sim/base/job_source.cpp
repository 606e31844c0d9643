#include "host/sim/base/job_source.hpp"

#include <algorithm>

#include "host/sim/base/trace_form.hpp"

namespace berth::sim {
namespace {

constexpr std::size_t kAhead = 4;

// A new job is read all at once. It is on several cache lines of a trace that is larger than the caches.
void fetch_early(const TraceJob& job) {
  constexpr std::size_t kCacheLine = 64;
  const char* bytes = reinterpret_cast<const char*>(&job);
  for (std::size_t at = 0; at < sizeof job; at += kCacheLine) __builtin_prefetch(bytes + at);
}

}  // namespace

const TraceJob* JobsOf::next() {
  if (at_ == jobs_.size()) return nullptr;
  if (jobs_.size() - at_ > kAhead) fetch_early(jobs_[at_ + kAhead]);
  const TraceJob& job = jobs_[at_++];
  if (at_ > 1) require_order(jobs_[at_ - 2], job);
  return &job;
}

TraceJob& JobRooms::take() {
  if (free_.empty()) return jobs_.emplace_back();
  TraceJob& job = *free_.back();
  free_.pop_back();
  return job;
}

void JobRooms::release(const TraceJob& job) {
  free_.push_back(const_cast<TraceJob*>(&job));  // NOLINT(cppcoreguidelines-pro-type-const-cast): it is one of jobs_
}

void TraceFacts::add(const TraceJob& job) {
  profiles = profiles || !job.profile.empty();
  hard_deadlines = hard_deadlines || job.deadline_hard;
  deadline_steps = deadline_steps || !job.deadline_later.empty();
  cpu = cpu || job.cpu_milli != 0;
  memory = memory || job.memory_bytes != 0;
  waits = waits || !job.longest_wait.empty();
  shapes = shapes || !job.shapes.empty();
  any_type = any_type || job.gpu_type.empty();
  longest_grace_us = std::max(longest_grace_us, job.grace_us);
  if (!job.queue.empty()) queues.insert(job.queue);
  ++by_gpus[static_cast<std::size_t>(std::clamp(job.gpus, 1, kMaxGpusPerNode) - 1)];
}

TraceFacts facts_of(const Trace& trace) {
  TraceFacts facts;
  for (const TraceJob& job : trace.jobs) facts.add(job);
  return facts;
}

}  // namespace berth::sim
