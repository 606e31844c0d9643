#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/simulation.hpp"
#include "tests/replicas/easy.hpp"
#include "tests/support/random.hpp"

/// What the tests of both replicas of backfilling need.
namespace berth::test {

/// Starts under `fifo`; -1: never.
inline std::vector<std::int64_t> starts_of_berth(const Trace& trace, const char* discipline, std::int64_t nodes, std::int64_t gpus,
                                                 const char* estimates) {
  sim::SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", discipline}, {"packing", "count"}};
  settings.estimates = estimates;
  settings.overheads = sim::named_overheads("none");
  std::vector<std::int64_t> starts(trace.jobs.size(), -1);
  sim::simulate(trace, io::uniform_cluster(nodes, gpus), settings, [&](const sim::JobOutcome& job) {
    if (job.start_us != kNever) starts[static_cast<std::size_t>(job.job)] = job.start_us;
  });
  return starts;
}

/// @param oracle  Users know the run times of their jobs; else they state the limit of time.
inline std::vector<EasyJob> easy_jobs(const Trace& trace, bool oracle) {
  std::vector<EasyJob> jobs;
  for (const TraceJob& job : trace.jobs) {
    const std::int64_t limit = job.time_limit_us == kNever ? -1 : job.time_limit_us;
    jobs.push_back({job.submit_us, job.run_us, oracle ? job.run_us : limit, job.gpus});
  }
  return jobs;
}

/// Limits are short, long, or missing. Many jobs come and end at the same instants.
inline Trace random_backfill_trace(Random& random) {
  Trace trace;
  trace.name = "t";
  TimeUs at = 0;
  const std::int32_t step = random.of<std::int32_t>({0, 1, 5, 20});
  for (std::int32_t j = random.within(1, 80); j > 0; --j) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = fmt::format("j{:03}", trace.jobs.size());
    job.submit_us = at;
    job.run_us = random.within(1, 60) * kSecond;
    if (random.percent(80)) job.time_limit_us = random.percent(30) ? job.run_us : random.within(1, 90) * kSecond;
    job.gpus = random.of<std::int32_t>({1, 1, 2, 3, 4, 8, 13, 24});
    at += random.within(0, step) * kSecond;
  }
  return trace;
}

}  // namespace berth::test
