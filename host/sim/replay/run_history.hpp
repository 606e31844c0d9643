#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/job.hpp"

namespace berth::sim {

/// Run times of finished jobs, for estimates without knowledge of the future.
///
/// The estimate for a job that has run for `ran_us` is the mean run time of the finished jobs that ran *longer* than that.
/// So a job is compared only with jobs that survived as long. Jobs of the same user are used first, then jobs with the same GPU count,
/// then all jobs: the first group with any such job. Without any the estimate is not known. A waiting job has ran_us = 0.
/// p50 and p90 are the values at ranks floor(n * 50 / 100) and floor(n * 90 / 100) of these n sorted run times.
/// Means are rounded down.
class RunHistory {
 public:
  void add(const std::string& user, std::int32_t gpus, TimeUs run_us);
  /// Must be called once, after the last `add`.
  void finish();
  /// Source "history-mean". An empty user matches no other.
  Estimate estimate(const std::string& user, std::int32_t gpus, TimeUs ran_us) const;

 private:
  struct Group {
    std::vector<TimeUs> run;     ///< ascending after `finish`
    std::vector<__int128> from;  ///< [run] sum of run[i..]
  };
  static void finish(Group& group);
  static bool speak(const Group& group, TimeUs ran_us, Estimate& estimate);

  std::map<std::string, Group> by_user_;
  std::map<std::int32_t, Group> by_gpus_;
  Group all_;
};

}  // namespace berth::sim
