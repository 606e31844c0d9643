#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/results/sweep_store.hpp"

/// How much better one configuration is than another on the same days, and how sure that is.
namespace berth::cli {

inline constexpr TimeUs kDayUs = 86'400 * kSecond;

/// A figure that jobs give together.
struct DayMetric {
  std::size_t metric = 0;                                ///< of results::kSweepMetricTable
  std::int64_t percent = 0;                              ///< rank of the percentile; 0: the mean
  std::int64_t results::CompletedJob::*value = nullptr;  ///< null: when the job ends, so that the last one gives the makespan

  /// Of a job of a window that begins then.
  std::int64_t of(const results::CompletedJob& job, TimeUs from_us) const {
    return value == nullptr ? job.submit_us - from_us + job.jct_us : job.*value;
  }
};
/// @throws InvalidArgument for a metric that is not of jobs, such as the GPU-time.
DayMetric day_metric(std::string_view name);

/// Values of the jobs that were submitted in a window, by day.
using DayValues = std::vector<std::vector<std::int64_t>>;
DayValues day_values(const std::vector<results::CompletedJob>& jobs, const DayMetric& metric, TimeUs from_us, TimeUs until_us);

/// The two configurations on one window. Both have as many days.
struct PairedDays {
  DayValues usual, tuned;
};

struct PairedGain {
  double usual = 0, tuned = 0;  ///< the metric of each
  std::int64_t days = 0;        ///< with jobs
  double gain = 0;              ///< usual - tuned
  double low = 0, high = 0;     ///< 95 % interval of the gain
  bool interval = false;        ///< absent with fewer than two days with jobs
};

/// Days are drawn in blocks of neighbours, the same for both configurations, from each window as many as it has; the interval has 95 % of
/// the gains of 2,000 such draws.
PairedGain paired_gain(const std::vector<PairedDays>& windows, const DayMetric& metric, std::uint64_t seed);

/// Days of a block: the cube root of their number, so that it grows with what is known.
std::int64_t block_days(std::int64_t days);

}  // namespace berth::cli
