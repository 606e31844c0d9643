#pragma once

#include <cstdint>
#include <vector>

#include "berth/forecast.hpp"
#include "berth/trace.hpp"
#include "host/forecast/run_times.hpp"

namespace berth::sim {

/// Past submissions, of which futures take whole days: a day keeps its bursts and its users' runs of alike jobs.
class PastArrivals {
 public:
  /// @param now  later submissions are not used
  PastArrivals(const JobHistory& history, const RunTimes& times, TimeUs now);

  bool empty() const { return jobs_.empty(); }
  std::int64_t count() const { return static_cast<std::int64_t>(jobs_.size()); }
  /// Over which jobs were submitted.
  TimeUs span_us() const { return now_ - (days_.empty() ? now_ : days_.back().from_us); }
  /// GPU-time of these jobs, in millionths of the GPU-time of `gpus` GPUs over the same span.
  std::int64_t load_ppm(std::int64_t gpus) const;
  /// Jobs that stand for each kind of submission: what may arrive.
  std::vector<TraceJob> kinds() const;

 private:
  friend class Arrivals;
  struct Arrival {
    const PastJob* job = nullptr;
    std::int32_t law = 0;  ///< of its run time
    bool ended = false;    ///< its own run time is known
  };
  struct Day {
    std::size_t begin = 0, end = 0;  ///< of `jobs_`
    TimeUs from_us = 0;
    bool weekend = false;
  };

  std::vector<Arrival> jobs_;  // by submission
  std::vector<RunLaw> laws_;
  std::vector<Day> days_;                // 24 hours each, up to now, the last first
  std::vector<std::size_t> by_kind_[2];  // days on a weekend or not
  TimeUs now_ = 0, clock_ = 0;
};

/// The arrivals of one future.
class Arrivals {
 public:
  explicit Arrivals(const PastArrivals& past) : past_(past) {}
  void begin(std::uint64_t seed, std::int32_t future, TimeUs until);
  /// Fills in the next job. @returns false: none comes before the end of the horizon
  bool next(RunDraws& draws, TraceJob& job);
  /// Of the last job: what its policy knows of its run time.
  TimeUs estimate_us() const { return estimate_; }

 private:
  void begin_day();

  const PastArrivals& past_;
  std::uint64_t seed_ = 0;
  std::int32_t future_ = 0;
  TimeUs until_ = 0, day_from_ = 0, estimate_ = kNever;
  std::int64_t day_ = 0, count_ = 0;
  std::size_t at_ = 0, end_ = 0;
  TimeUs shift_ = 0;
};

}  // namespace berth::sim
