#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/simulation.hpp"
#include "tests/replicas/easy.hpp"
#include "tests/support/random.hpp"
#include "tests/support/traces.hpp"

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

/// Random traces. @param replay  of jobs, processors and what is promised
template <class Replay>
void expect_starts_of_berth(const char* discipline, const Replay& replay) {
  std::int64_t differ_from_number = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Trace trace = random_backfill_trace(random);
    const std::int64_t nodes = random.within(1, 9), gpus = random.of<std::int64_t>({1, 2, 4, 8});
    const bool oracle = random.percent(50);
    const std::vector<EasyJob> jobs = easy_jobs(trace, oracle);
    const std::vector<std::int64_t> got = starts_of_berth(trace, discipline, nodes, gpus, oracle ? "oracle" : "none");

    ASSERT_EQ(got, replay(jobs, nodes * gpus, EasyPromise::kProcessors)) << "seed " << seed;
    differ_from_number += got == replay(jobs, nodes * gpus, EasyPromise::kNumber) ? 0 : 1;
  }
  EXPECT_GT(differ_from_number, 0);  // the two promises are not the same
}

template <class Replay>
void expect_starts_of_berth_on_venus(const char* discipline, const Replay& replay) {
  const std::string file = trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
  if (file.empty()) GTEST_SKIP() << "helios/ is not here";
  Trace trace = io::import_files("helios-venus", {file}).trace;
  trace.jobs.resize(20'000);

  EXPECT_EQ(starts_of_berth(trace, discipline, 75, 8, "oracle"), replay(easy_jobs(trace, true), 600, EasyPromise::kProcessors));
}

}  // namespace berth::test
