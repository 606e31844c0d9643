// Simulations of queues whose mean waits are known in closed form: single-GPU jobs, first come first served, on one
// node or several.
//
// Each mean is compared within four of its standard errors. These come from the means of 50 batches of consecutive
// jobs; the first twentieth of all jobs does not count. Batches hold 11,400 jobs. Waits that are 1 / (1 - sqrt(r))^2
// services apart are almost independent (M/M/1 at load r; 90 services at 0.8), and so are the batches. For M/M/1 the
// error of the mean of n waits is known, too: sqrt(r (2 + 5 r - 4 r^2 + r^3) / (n (1 - r)^4)) services (Daley 1968),
// which is 1.0 % of the mean at r = 0.7. Errors above 3 % of the mean are not accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/measures/series.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/poisson_jobs.hpp"

namespace berth::sim::queueing_test {
namespace {

constexpr std::int64_t kQueued = 600'000;  // jobs of a run, which lasts for at most a million seconds: a series has no more points
constexpr std::int64_t kBatches = 50;

struct Queue {
  std::vector<TimeUs> submit_us, start_us, end_us;  // [jobs]
  std::vector<Sample> series;                       // seconds
  SimulationTotals totals;
  __int128 gpu_us = 0;

  TimeUs wait_us(std::size_t job) const { return start_us[job] - submit_us[job]; }
};

/// Runs `kQueued` jobs of a second on average on nodes x gpus GPUs, which are busy for `load_percent` of the time.
Queue queue(std::int64_t nodes, std::int64_t gpus, std::int64_t load_percent, const test::PoissonJobs::Service& service,
            std::uint64_t seed) {
  test::PoissonJobs jobs(kQueued, 100 * kSecond / (load_percent * nodes * gpus), service, seed);
  Series series({}, kSecond);
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"packing", "count"}};
  settings.series = &series;
  Queue ran;
  for (std::vector<TimeUs>* column : {&ran.submit_us, &ran.start_us, &ran.end_us}) column->resize(kQueued);
  const TraceProfiles none;
  TraceFacts facts;
  facts.any_type = true;
  ran.totals = simulate({none, facts, jobs}, io::uniform_cluster(nodes, gpus), settings, [&](const JobOutcome& job) {
    const auto at = static_cast<std::size_t>(job.job);
    ran.submit_us[at] = job.submit_us;
    ran.start_us[at] = job.start_us;
    ran.end_us[at] = job.end_us;
    ran.gpu_us += job.gpu_us;
    EXPECT_EQ(job.waited_us(), job.start_us - job.submit_us);
  });
  // Nothing is left then, so the run may continue to the end of the second.
  const TimeUs begun = ran.submit_us.front();
  series.finish(begun + (ran.totals.last_end_us - begun + kSecond - 1) / kSecond * kSecond);
  ran.series = series.samples();
  return ran;
}

/// The mean wait is this, in services.
void expect_mean_wait(const Queue& ran, double want) {
  const std::size_t first = kQueued / 20, each = (kQueued - first) / kBatches;
  double sum = 0, squares = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    double batch = 0;
    for (std::size_t j = first + b * each; j < first + (b + 1) * each; ++j) batch += static_cast<double>(ran.wait_us(j)) / kSecond;
    batch /= static_cast<double>(each);
    sum += batch;
    squares += batch * batch;
  }
  const double mean = sum / kBatches, error = std::sqrt((squares / kBatches - mean * mean) / (kBatches - 1));
  EXPECT_LE(std::abs(mean - want), 4 * error) << "mean " << mean << ", in theory " << want << ", standard error " << error;
  EXPECT_LE(error, 0.03 * want) << "the run is too short to tell";
}

TimeUs exponential(ItemDraws& draws) { return draws.exponential(kSecond); }

/// Mean wait of M/M/c in services: the probability of waiting (Erlang C) over the rate at which the queue shrinks.
double erlang_wait(int servers, double load) {
  double blocked = 1;  // Erlang B, server by server
  for (int s = 1; s <= servers; ++s) blocked = load * servers * blocked / (s + load * servers * blocked);
  return blocked / (1 - load * (1 - blocked)) / (servers * (1 - load));
}

/// Checks exactly: jobs in the system, their GPUs, and that no job waits while a GPU is free.
void expect_laws(const Queue& ran, std::int64_t gpus) {
  __int128 jct = 0, held = 0, in_system = 0;
  for (std::size_t j = 0; j < kQueued; ++j) jct += ran.end_us[j] - ran.submit_us[j];
  for (const Sample& second : ran.series) {
    ASSERT_EQ(second.until_us - second.from_us, kSecond);  // then a mean in millionths is a sum over microseconds
    held += second.micro[0];
    in_system += second.micro[2] + second.micro[3];
  }
  EXPECT_TRUE(jct == in_system) << "Little's law: the sum of the JCTs is the time integral of the jobs in the system";
  EXPECT_TRUE(ran.gpu_us == held) << "GPU-time of the jobs is the time integral of the GPUs held";
  EXPECT_TRUE(ran.gpu_us == ran.totals.gpu_us);

  using Change = std::tuple<TimeUs, std::int64_t, std::int64_t>;  // at, jobs waiting, jobs running
  std::vector<Change> changes;
  changes.reserve(3 * kQueued);
  for (std::size_t j = 0; j < kQueued; ++j) {
    changes.push_back({ran.submit_us[j], 1, 0});
    changes.push_back({ran.start_us[j], -1, 1});
    changes.push_back({ran.end_us[j], 0, -1});
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t waiting = 0, running = 0, idle_beside_waiting = 0, too_many = 0;
  for (std::size_t c = 0; c < changes.size(); ++c) {
    waiting += std::get<1>(changes[c]);
    running += std::get<2>(changes[c]);
    if (c + 1 < changes.size() && std::get<0>(changes[c + 1]) == std::get<0>(changes[c])) continue;
    if (waiting > 0 && running < gpus) ++idle_beside_waiting;
    if (running > gpus) ++too_many;
  }
  EXPECT_EQ(idle_beside_waiting, 0);
  EXPECT_EQ(too_many, 0);
  EXPECT_TRUE(std::is_sorted(ran.start_us.begin(), ran.start_us.end())) << "first come, first served";
}

}  // namespace

TEST(Queueing, ExponentialJobsOnOneGpuWaitAsInMM1) {
  for (const int load : {60, 70, 80}) {
    SCOPED_TRACE(load);
    const Queue ran = queue(1, 1, load, exponential, 1);

    expect_mean_wait(ran, load / (100.0 - load));  // r / (1 - r)
    expect_laws(ran, 1);
  }
}

TEST(Queueing, ExponentialJobsOnManyGpusWaitAsInMMc) {
  for (const std::int64_t gpus : {2, 8}) {
    SCOPED_TRACE(gpus);
    const Queue ran = queue(2, gpus / 2, 80, exponential, 2);

    expect_mean_wait(ran, erlang_wait(static_cast<int>(gpus), 0.8));
    expect_laws(ran, gpus);
  }
}

// Pollaczek and Khinchine: r (1 + v) / (2 (1 - r)) services, where v is the variance of a service of mean 1.
TEST(Queueing, JobsOfOtherLengthsWaitAsInMG1) {
  const auto all_alike = [](ItemDraws&) { return kSecond; };
  const Queue constant = queue(1, 1, 70, all_alike, 3);
  expect_mean_wait(constant, 0.7 / 0.6);
  expect_laws(constant, 1);

  // A tenth of the jobs takes 5.5 s, the others half a second: v = 0.9 x 0.5^2 + 0.1 x 4.5^2.
  const auto few_long = [](ItemDraws& draws) { return draws.chance(100'000) ? 11 * kSecond / 2 : kSecond / 2; };
  const Queue mixed = queue(1, 1, 60, few_long, 4);
  expect_mean_wait(mixed, 0.6 * (1 + 2.25) / 0.8);
  expect_laws(mixed, 1);
}

TEST(Queueing, ErlangsFormulaHasItsKnownCases) {
  EXPECT_NEAR(erlang_wait(1, 0.7), 0.7 / 0.3, 1e-12);
  EXPECT_NEAR(erlang_wait(2, 0.8), 0.8 * 0.8 / (1 - 0.8 * 0.8), 1e-12);  // r^2 / (1 - r^2)
}

}  // namespace berth::sim::queueing_test
