#include "host/forecast/future_jobs.hpp"

#include <algorithm>
#include <functional>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::sim {

FutureJobs::FutureJobs(const Present& present, const Learned& learned, const std::vector<RunLaw>& laws, const FutureSettings& settings)
    : ResumedJobs(present.now_us),
      present_(present),
      learned_(learned),
      laws_(laws),
      seed_(settings.request.seed),
      failures_(settings.node_failures),
      until_(core::saturating_add(present.now_us, settings.horizon_us)),
      draws_(learned.times.groups()),
      arrivals_(learned.arrivals) {
  jobs_.reserve(present.jobs.size());
  for (const PresentJob& one : present.jobs) jobs_.push_back(one.job);
}

void FutureJobs::begin(std::int32_t future) {
  draws_.begin(seed_, future);
  arrivals_.begin(seed_, future, until_);
  future_ = future;
  failure_ = 0;
  failed_at_ = now_us;
  down_until_.assign(present_.cluster->nodes.size(), now_us);
  const auto rows = static_cast<std::size_t>(present_.asked);
  start_.assign(rows, kNever);
  end_.assign(rows, kNever);
  withdrawn_.assign(rows, 0);
  closed_.assign(rows, 0);
  open_ = present_.asked;
  at_ = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].run_us = draws_.draw(laws_[i], i);
  if (!learned_.withdrawals.any()) return;
  withdraw_at_.assign(jobs_.size(), kNever);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (present_.jobs[i].held_us >= 0) continue;
    ItemDraws draws(seed_, RandomStream::kFutureWithdrawals, (static_cast<std::uint64_t>(future) << 32) + i);
    const TimeUs wait = learned_.withdrawals.draw(present_.now_us - jobs_[i].submit_us, draws.below(1'000'000));
    if (wait != kNever) withdraw_at_[i] = core::saturating_add(jobs_[i].submit_us, wait);
  }
}

std::int32_t FutureJobs::index_of(const TraceJob& job) const {
  const std::less<> before;
  const TraceJob* const first = jobs_.data();
  if (before(&job, first) || !before(&job, first + jobs_.size())) return -1;
  return static_cast<std::int32_t>(&job - first);
}

const TraceJob* FutureJobs::next() {
  if (at_ < jobs_.size()) return &jobs_[at_++];
  if (free_.empty()) {
    rooms_.emplace_back();
    free_.push_back(&rooms_.back());
  }
  Room& room = *free_.back();
  if (!arrivals_.next(draws_, room)) return nullptr;
  room.estimate_us = arrivals_.estimate_us();
  free_.pop_back();
  return &room;
}

void FutureJobs::release(const TraceJob& job) {
  if (index_of(job) >= 0) return;
  free_.push_back(const_cast<Room*>(static_cast<const Room*>(&job)));  // NOLINT: it is one of rooms_
}

TimeUs FutureJobs::held_us(const TraceJob& job) const {
  const std::int32_t index = index_of(job);
  return index < 0 ? -1 : present_.jobs[to_index(index)].held_us;
}

const std::vector<CountedGpus>* FutureJobs::gpus(const TraceJob& job) const {
  const std::int32_t index = index_of(job);
  return index < 0 ? nullptr : &present_.jobs[to_index(index)].gpus;
}

TimeUs FutureJobs::estimate(const TraceJob& job) const {
  const std::int32_t index = index_of(job);
  return index < 0 ? static_cast<const Room&>(job).estimate_us : present_.jobs[to_index(index)].estimate_us;  // NOLINT: as above
}

TimeUs FutureJobs::run_from(const TraceJob& job, TimeUs now) {
  if (withdrawn_at(job) >= now) return job.run_us;
  withdraw(job);
  return 1;
}

void FutureJobs::withdraw(const TraceJob& job) {
  const std::int32_t row = row_of(job);
  if (row < 0) return;
  withdrawn_[to_index(row)] = 1;
  close(row);
}

bool FutureJobs::started(const TraceJob& job, TimeUs now) {
  const std::int32_t row = row_of(job);
  if (row >= 0 && withdrawn_[to_index(row)] == 0) {
    start_[to_index(row)] = now;
    if (ends_follow_) {
      end_[to_index(row)] = core::saturating_add(now, std::max<TimeUs>(1, job.run_us));
      close(row);
    }
  }
  return open_ > 0;
}

// Failures of all nodes are one process, of which each is that of a node by chance.
NodeFailure FutureJobs::next_failure() {
  const auto nodes = static_cast<std::int64_t>(down_until_.size());
  if (failures_.mean_us == 0 || nodes == 0) return {};
  for (;;) {
    ItemDraws draws(seed_, RandomStream::kFutureFailures, (static_cast<std::uint64_t>(future_) << 32) + failure_++);
    failed_at_ = core::saturating_add(failed_at_, std::max<TimeUs>(1, draws.exponential(std::max<TimeUs>(1, failures_.mean_us / nodes))));
    if (failed_at_ > until_) return {};
    const auto node = static_cast<std::int32_t>(draws.below(nodes));
    const TimeUs back = core::saturating_add(failed_at_, std::max<TimeUs>(1, draws.exponential(failures_.repair_us)));
    if (down_until_[to_index(node)] >= failed_at_) continue;
    down_until_[to_index(node)] = back;
    return {failed_at_, back, node};
  }
}

void FutureJobs::ended(const TraceJob& job, TimeUs at) {
  const std::int32_t row = row_of(job);
  if (row < 0 || withdrawn_[to_index(row)] != 0) return;
  end_[to_index(row)] = at;
  close(row);
}

}  // namespace berth::sim
