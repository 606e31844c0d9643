#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "host/forecast/futures.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/counts/resumed_jobs.hpp"

namespace berth::sim {

/// What one thread draws: the jobs of one future after the other.
class FutureJobs final : public JobSource, public ResumedJobs {
 public:
  /// @param laws  [jobs of `present`]
  FutureJobs(const Present& present, const Learned& learned, const std::vector<RunLaw>& laws, const FutureSettings& settings);

  void begin(std::int32_t future);
  TimeUs start_of(std::int32_t row) const { return start_[static_cast<std::size_t>(row)]; }
  TimeUs end_of(std::int32_t row) const { return end_[static_cast<std::size_t>(row)]; }
  bool was_withdrawn(std::int32_t row) const { return withdrawn_[static_cast<std::size_t>(row)] != 0; }
  /// Ends follow from starts, as no job is displaced; else `ended` sets them.
  void ends_follow(bool follow) { ends_follow_ = follow; }
  void ended(const TraceJob& job, TimeUs at);
  bool all_known() const { return open_ == 0; }
  std::int32_t row_of(const TraceJob& job) const {
    const std::int32_t index = index_of(job);
    return index < 0 ? -1 : present_.jobs[static_cast<std::size_t>(index)].asked;
  }
  /// When a waiting job is withdrawn; kNever: it is not.
  TimeUs withdrawn_at(const TraceJob& job) const {
    const std::int32_t index = index_of(job);
    return index < 0 || withdraw_at_.empty() ? kNever : withdraw_at_[static_cast<std::size_t>(index)];
  }
  void withdraw(const TraceJob& job);
  /// It never starts.
  void reject(const TraceJob& job) {
    if (const std::int32_t row = row_of(job); row >= 0) close(row);
  }

  const TraceJob* next() override;
  void release(const TraceJob& job) override;
  TimeUs held_us(const TraceJob& job) const override;
  const std::vector<CountedGpus>* gpus(const TraceJob& job) const override;
  TimeUs estimate(const TraceJob& job) const override;
  TimeUs run_from(const TraceJob& job, TimeUs now) override;
  bool started(const TraceJob& job, TimeUs now) override;
  NodeFailure next_failure() override;

 private:
  /// A job that arrives in a future. All jobs but those of `present` are in one.
  struct Room : TraceJob {
    TimeUs estimate_us = kNever;
  };
  std::int32_t index_of(const TraceJob& job) const;
  void close(std::int32_t row) { open_ -= closed_[static_cast<std::size_t>(row)] == 0 ? 1 : 0, closed_[static_cast<std::size_t>(row)] = 1; }

  const Present& present_;
  const Learned& learned_;
  const std::vector<RunLaw>& laws_;
  std::uint64_t seed_;
  NodeFailures failures_;
  std::int32_t future_ = 0;
  TimeUs until_, failed_at_ = 0;    // the last failure that was drawn
  std::uint64_t failure_ = 0;       // number of those
  std::vector<TimeUs> down_until_;  // [nodes] of this future
  std::vector<TraceJob> jobs_;      // of `present`, with the run times of this future
  RunDraws draws_;
  Arrivals arrivals_;
  std::deque<Room> rooms_;
  std::vector<Room*> free_;
  std::size_t at_ = 0;
  std::vector<TimeUs> start_, end_, withdraw_at_;
  std::vector<std::uint8_t> withdrawn_, closed_;
  std::int32_t open_ = 0;  // rows of which the answer is not known
  bool ends_follow_ = true;
};

}  // namespace berth::sim
