#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace berth::report {

enum class MetricUnit : std::uint8_t { kSeconds, kPart, kCount };

/// A figure of a run that reports compare: a column of `runs`.
struct Metric {
  const char* key;
  const char* column;
  const char* label;
  MetricUnit unit;
  int better;  ///< 1: the more, -1: the less; 0: neither
};

inline constexpr std::array<Metric, 18> kMetrics{{
    {"mean_jct", "mean_jct_us", "JCT mean", MetricUnit::kSeconds, -1},
    {"median_jct", "median_jct_us", "JCT median", MetricUnit::kSeconds, -1},
    {"p90_jct", "p90_jct_us", "JCT p90", MetricUnit::kSeconds, -1},
    {"p99_jct", "p99_jct_us", "JCT p99", MetricUnit::kSeconds, -1},
    {"mean_wait", "mean_queue_us", "Wait mean", MetricUnit::kSeconds, -1},
    {"p99_wait", "p99_queue_us", "Wait p99", MetricUnit::kSeconds, -1},
    {"makespan", "makespan_us", "Makespan", MetricUnit::kSeconds, -1},
    {"gpu_utilisation", "gpu_utilisation_ppm", "GPUs used", MetricUnit::kPart, 1},
    {"goodput", "goodput_ppm", "Goodput", MetricUnit::kPart, 1},
    {"jain", "jain_ppm", "Fairness (Jain)", MetricUnit::kPart, 1},
    {"completed", "completed", "Completed", MetricUnit::kCount, 1},
    {"rejected", "rejected", "Rejected", MetricUnit::kCount, -1},
    {"unfinished", "unfinished", "Unfinished", MetricUnit::kCount, -1},
    {"preemptions", "preemptions", "Preemptions", MetricUnit::kCount, -1},
    {"migrations", "moves", "Migrations", MetricUnit::kCount, -1},
    {"job_failures", "job_failures", "Job failures", MetricUnit::kCount, -1},
    {"hard_missed", "hard_missed", "Hard deadlines missed", MetricUnit::kCount, -1},
    {"soft_missed", "soft_missed", "Soft deadlines missed", MetricUnit::kCount, -1},
}};

/// A value in millionths as a table shows it: seconds and per cent with a tenth, whole counts without.
std::string shown(MetricUnit unit, double value, bool sign = false);
/// By which a value in millionths is divided for that.
double shown_scale(MetricUnit unit);
const char* unit_name(MetricUnit unit);

}  // namespace berth::report
