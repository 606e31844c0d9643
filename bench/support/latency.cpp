#include "bench/support/latency.hpp"

#include <algorithm>

namespace berth::bench {

double Lap::seconds() {
  const auto now = std::chrono::steady_clock::now();
  const double s = std::chrono::duration<double>(now - last_).count();
  last_ = now;
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
