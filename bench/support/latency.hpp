#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace berth::bench {

/// Whether times are processor time of the calling thread: BERTH_BENCH_CLOCK=cpu, for a machine shared with other work.
/// Only single-threaded cases use it; the parts of a plan's timing always use the wall clock.
bool processor_clock();

/// Seconds since its construction or the last call.
class Lap {
 public:
  double seconds();

 private:
  static double now();
  double last_ = now();
};

/// Adds counters NAME_p50_ms, NAME_p99_ms, NAME_p999_ms and NAME_max_ms. `seconds` is not empty; a percentile is the
/// lowest value that this fraction of the values does not exceed.
void report_percentiles(benchmark::State& bench, const std::string& name, std::vector<double> seconds);

}  // namespace berth::bench
