#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace berth::bench {

/// Whether times are processor time of the calling thread: BERTH_BENCH_CLOCK=cpu, for a machine that others keep busy. Only cases of
/// one thread heed it; the parts of a plan's timing are always the wall clock's.
bool processor_clock();

/// Seconds since it was made or last asked.
class Lap {
 public:
  double seconds();

 private:
  static double now();
  double last_ = now();
};

/// Adds counters NAME_p50_ms, NAME_p99_ms, NAME_p999_ms and NAME_max_ms. `seconds` is not empty; the percentile is the least value
/// that so many of the values do not exceed.
void report_percentiles(benchmark::State& bench, const std::string& name, std::vector<double> seconds);

}  // namespace berth::bench
