#include "bench/support/latency.hpp"

#include <time.h>

#include <algorithm>
#include <cstdlib>

namespace berth::bench {

bool processor_clock() {
  static const bool cpu = [] {
    const char* value = std::getenv("BERTH_BENCH_CLOCK");
    return value != nullptr && std::string(value) == "cpu";
  }();
  return cpu;
}

double Lap::now() {
  timespec t{};
  clock_gettime(processor_clock() ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double Lap::seconds() {
  const double at = now();
  const double s = at - last_;
  last_ = at;
  return s;
}

void report_percentiles(benchmark::State& bench, const std::string& name, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](std::size_t per_mille) {
    const std::size_t rank = (seconds.size() * per_mille + 999) / 1000;
    return 1e3 * seconds[std::max<std::size_t>(rank, 1) - 1];
  };
  bench.counters[name + "_p50_ms"] = at(500);
  bench.counters[name + "_p99_ms"] = at(990);
  bench.counters[name + "_p999_ms"] = at(999);
  bench.counters[name + "_max_ms"] = 1e3 * seconds.back();
}

}  // namespace berth::bench
