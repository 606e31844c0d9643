#include "bench/support/venus.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/defaults.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/traces.hpp"

namespace berth::bench {
namespace {

/// One arrival per second, more than any cluster here can serve for long.
Trace made_up(std::int64_t jobs) {
  Trace trace;
  trace.name = "made up";
  std::uint64_t draw = kSeed;
  for (std::int64_t j = 0; j < jobs; ++j) {
    draw = draw * 6364136223846793005U + 1442695040888963407U;
    TraceJob& job = trace.jobs.emplace_back();
    job.id = std::to_string(1'000'000 + j);
    job.submit_us = j * kSecond;
    job.gpus = 1 << (draw >> 33) % 6;
    job.run_us = static_cast<TimeUs>(1 + (draw >> 40) % 3'000) * kSecond;
  }
  return trace;
}

}  // namespace

const Trace& venus() {
  static const Trace it = [] {
    const std::string file = test::trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
    Trace all = file.empty() ? made_up(simulated_jobs()) : io::import_files("helios-venus", {file}).trace;
    if (static_cast<std::int64_t>(all.jobs.size()) > simulated_jobs()) all.jobs.resize(static_cast<std::size_t>(simulated_jobs()));
    return all;
  }();
  return it;
}

}  // namespace berth::bench
