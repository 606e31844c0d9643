#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

namespace berth::bench {

/// Seconds since it was made or last asked.
class Lap {
 public:
  double seconds();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Adds counters NAME_p50_ms, NAME_p99_ms, NAME_p999_ms and NAME_max_ms. `seconds` is not empty; the percentile is the least value
/// that so many of the values do not exceed.
void report_percentiles(benchmark::State& bench, const std::string& name, std::vector<double> seconds);

}  // namespace berth::bench
