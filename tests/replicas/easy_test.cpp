#include "tests/replicas/easy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/random.hpp"
#include "tests/support/traces.hpp"

namespace berth::test {
namespace {

std::vector<std::int64_t> starts_of_berth(const Trace& trace, std::int64_t nodes, std::int64_t gpus, const char* estimates) {
  sim::SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", "easy"}, {"packing", "count"}};
  settings.estimates = estimates;
  settings.overheads = sim::named_overheads("none");
  std::vector<std::int64_t> starts(trace.jobs.size(), -1);
  sim::simulate(trace, io::uniform_cluster(nodes, gpus), settings, [&](const sim::JobOutcome& job) {
    if (job.start_us != kNever) starts[static_cast<std::size_t>(job.job)] = job.start_us;
  });
  return starts;
}

/// @param oracle  Users know the run times of their jobs; else they state the limit of time.
std::vector<EasyJob> easy_jobs(const Trace& trace, bool oracle) {
  std::vector<EasyJob> jobs;
  for (const TraceJob& job : trace.jobs) {
    const std::int64_t limit = job.time_limit_us == kNever ? -1 : job.time_limit_us;
    jobs.push_back({job.submit_us, job.run_us, oracle ? job.run_us : limit, job.gpus});
  }
  return jobs;
}

/// Limits are short, long, or missing. Many jobs come and end at the same instants.
Trace random_trace(Random& random) {
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

}  // namespace

// Jobs 2 and 3 leave processors 0 to 3 free until 10, and 4 to 7 come free then. Job 4 needs five, and job 5 three for long.
TEST(EasyReplica, PromisesANumberOfProcessorsOrCertainOnes) {
  const std::vector<EasyJob> jobs{{0, 1, 1, 4}, {0, 10, 10, 4}, {0, 100, 100, 4}, {1, 10, 10, 5}, {1, 1000, 1000, 3}};

  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kNumber), (std::vector<std::int64_t>{0, 0, 0, 10, 1}));
  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kProcessors), (std::vector<std::int64_t>{0, 0, 0, 10, 10}));
}

TEST(EasyReplica, StartsEveryJobWhenBerthDoes) {
  std::int64_t differ_from_number = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Trace trace = random_trace(random);
    const std::int64_t nodes = random.within(1, 9), gpus = random.of<std::int64_t>({1, 2, 4, 8});
    const bool oracle = random.percent(50);
    const std::vector<EasyJob> jobs = easy_jobs(trace, oracle);
    const std::vector<std::int64_t> got = starts_of_berth(trace, nodes, gpus, oracle ? "oracle" : "none");

    ASSERT_EQ(got, replay_easy(jobs, nodes * gpus, EasyPromise::kProcessors)) << "seed " << seed;
    differ_from_number += got == replay_easy(jobs, nodes * gpus, EasyPromise::kNumber) ? 0 : 1;
  }
  EXPECT_GT(differ_from_number, 0);  // the two promises are not the same
}

TEST(EasyReplica, StartsTheFirstJobsOfVenusWhenBerthDoes) {
  const std::string file = trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
  if (file.empty()) GTEST_SKIP() << "helios/ is not here";
  Trace trace = io::import_files("helios-venus", {file}).trace;
  trace.jobs.resize(20'000);

  EXPECT_EQ(starts_of_berth(trace, 75, 8, "oracle"), replay_easy(easy_jobs(trace, true), 600, EasyPromise::kProcessors));
}

}  // namespace berth::test
