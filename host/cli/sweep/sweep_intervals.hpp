#pragma once

#include <cstdint>
#include <vector>

/// Means over seeds, with the interval that has the true mean in 95 of 100 cases (Student's t). These figures describe results; no
/// scheduling decision uses them.
namespace berth::cli {

struct SweepInterval {
  std::int64_t values = 0;
  double mean = 0;
  double half_width = 0;  ///< 0 with one value, where there is no interval
};

SweepInterval interval_of(const std::vector<std::int64_t>& values);

/// Whether the interval reaches at most this part of the mean to each side. Never with one value.
bool is_narrow(const SweepInterval& interval, std::int64_t part_ppm);

/// How many values there should be for that, if they spread as they do now: more than there are, and at most twice as many.
std::int64_t next_count(const SweepInterval& interval, std::int64_t part_ppm);

}  // namespace berth::cli
