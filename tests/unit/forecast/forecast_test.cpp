#include "berth/forecast.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/engine/waiting_order.hpp"
#include "host/forecast/futures.hpp"
#include "host/forecast/present.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/random.hpp"

namespace berth::forecast_test {
namespace {

constexpr TimeUs kHour = 3'600 * kSecond;
constexpr TimeUs kNow = 1'000 * kHour;

Job job_of(const std::string& id, std::int32_t gpus, TimeUs submit, TimeUs limit) {
  Job job;
  job.id = id;
  job.submit_us = submit;
  job.time_limit_us = limit;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  job.shapes.push_back(shape);
  return job;
}

void run_on(Job& job, const std::string& node, std::int32_t first, TimeUs since) {
  job.state = JobState::kRunning;
  job.progress.run_us = kNow - since;
  job.progress.attained_gpu_us = (kNow - since) * job.shapes.front().gpus;
  job.last_assignment_us = since;
  job.allocation.shape = "s";
  AllocationEntry entry;
  entry.node = node;
  for (std::int32_t g = 0; g < job.shapes.front().gpus; ++g) entry.gpus.push_back(first + g);
  job.allocation.entries.push_back(entry);
}

/// Nodes of 8 GPUs; each is full, with a job of 8 GPUs.
Snapshot full_cluster(std::int32_t nodes, TimeUs limit = 10 * kHour) {
  Snapshot cluster = io::uniform_cluster(nodes, 8);
  cluster.now_us = kNow;
  for (std::int32_t n = 0; n < nodes; ++n) {
    Job job = job_of(fmt::format("r{}", n), 8, kNow - (n + 1) * kHour, limit);
    run_on(job, cluster.nodes[static_cast<std::size_t>(n)].id, 0, kNow - kHour);
    cluster.jobs.push_back(job);
  }
  return cluster;
}

JobHistory history_with(const std::vector<TimeUs>& runs, std::int32_t gpus = 8, TimeUs limit = 10 * kHour) {
  JobHistory history;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PastJob job;
    job.gpus = gpus;
    job.submit_us = job.start_us = kNow - 500 * kHour + static_cast<TimeUs>(i) * kHour / 10;
    job.run_us = runs[i];
    job.time_limit_us = limit;
    history.jobs.push_back(job);
  }
  return history;
}

std::vector<TimeUs> random_runs(test::Random& random, int n, std::int32_t most_minutes) {
  std::vector<TimeUs> runs;
  for (int i = 0; i < n; ++i) runs.push_back((1 + random.below(most_minutes)) * 60 * kSecond);
  return runs;
}

ForecastRequest asked(std::int32_t futures, const std::string& discipline = "easy") {
  ForecastRequest request;
  request.request.policy = "fifo";
  request.request.params = {{"discipline", discipline}};
  request.request.seed = 11;
  request.futures = futures;
  return request;
}

}  // namespace

TEST(Forecast, ThePointIsTheScheduleByLimits) {
  Snapshot cluster = full_cluster(1);
  cluster.jobs.push_back(job_of("w0", 8, kNow - 60 * kSecond, 2 * kHour));
  cluster.jobs.push_back(job_of("w1", 8, kNow - 50 * kSecond, kHour));
  const ClusterState state(cluster);
  const Forecast answer = forecast(state, {}, asked(0));

  ASSERT_EQ(answer.jobs.size(), 2U);
  EXPECT_EQ(answer.futures, 0);
  EXPECT_EQ(answer.jobs[0].job, "w0");
  EXPECT_EQ(answer.jobs[0].position, 1);
  EXPECT_EQ(answer.jobs[0].start_by_limits_us, kNow + 9 * kHour);  // r0 has a limit of 10 h and has run for one
  EXPECT_EQ(answer.jobs[0].end_by_limits_us, kNow + 11 * kHour);
  EXPECT_EQ(answer.jobs[1].position, 2);
  EXPECT_EQ(answer.jobs[1].jobs_ahead, 1);
  EXPECT_EQ(answer.jobs[1].gpus_ahead, 8);
  EXPECT_EQ(answer.jobs[1].start_by_limits_us, kNow + 11 * kHour);
}

TEST(Forecast, WhereAllRunTimesAreOneTheFuturesAreOne) {
  Snapshot cluster = full_cluster(1);
  cluster.jobs.push_back(job_of("w0", 8, kNow - 60 * kSecond, 10 * kHour));
  cluster.jobs.push_back(job_of("w1", 8, kNow - 50 * kSecond, 10 * kHour));
  const ClusterState state(cluster);
  const Forecast answer = forecast(state, history_with(std::vector<TimeUs>(50, 3 * kHour)), asked(40));

  ASSERT_EQ(answer.futures, 40);
  EXPECT_TRUE(answer.by_counts);
  EXPECT_EQ(answer.jobs[0].start.median_us, kNow + 2 * kHour);  // r0 has run for one of its three hours
  EXPECT_EQ(answer.jobs[0].start.low_us, answer.jobs[0].start.high_us);
  EXPECT_EQ(answer.jobs[0].end.median_us, kNow + 5 * kHour);
  EXPECT_EQ(answer.jobs[1].start.median_us, kNow + 5 * kHour);
  EXPECT_EQ(answer.jobs[1].start_by_limits_us, kNow + 19 * kHour);
  EXPECT_EQ(answer.jobs[1].never_ppm, 0);
}

TEST(Forecast, DoesNotDependOnTheThreads) {
  test::Random random(5);
  Snapshot cluster = full_cluster(6);
  for (int i = 0; i < 40; ++i)
    cluster.jobs.push_back(
        job_of(fmt::format("w{:02}", i), 1 + static_cast<std::int32_t>(random.below(12)), kNow - (50 - i) * kSecond, 10 * kHour));
  const ClusterState state(cluster);
  const JobHistory history = history_with(random_runs(random, 300, 600), 4);
  ForecastRequest request = asked(60);
  const Forecast one = forecast(state, history, request);
  request.request.threads = 3;
  const Forecast three = forecast(state, history, request);

  EXPECT_EQ(one.jobs, three.jobs);
  EXPECT_GT(one.jobs[39].start.high_us, one.jobs[39].start.low_us);
  request.request.seed = 12;
  EXPECT_NE(forecast(state, history, request).jobs, one.jobs);
}

TEST(Forecast, RefusesWhatHasNoAnswer) {
  Snapshot cluster = full_cluster(1);
  cluster.jobs.push_back(job_of("waiting", 8, kNow - kSecond, kHour));
  cluster.jobs.push_back(job_of("large", 80, kNow - kSecond, kHour));
  const ClusterState state(cluster);
  const auto problem = [&](ForecastRequest request) -> std::string {
    try {
      (void)forecast(state, {}, request);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  ForecastRequest request = asked(5);
  request.jobs = {"watting"};
  EXPECT_EQ(problem(request), "no job 'watting'; did you mean 'waiting'?");
  request.jobs = {"r0"};
  EXPECT_EQ(problem(request), "job 'r0' runs: only waiting jobs have a start to predict");
  request.jobs = {"large"};
  const Forecast answer = forecast(state, {}, request);
  ASSERT_EQ(answer.jobs.size(), 1U);
  EXPECT_TRUE(answer.jobs[0].rejected);
  EXPECT_EQ(answer.jobs[0].reason, "needs 80 GPUs; the cluster has 8");
  request.jobs = {};
  request.levels[1] = {900'000, 100'000};
  EXPECT_NE(problem(request), "");
}

TEST(Forecast, AShortHistoryGivesThePointAlone) {
  Snapshot cluster = full_cluster(1);
  cluster.jobs.push_back(job_of("w", 8, kNow - kSecond, kHour));
  const Forecast answer = forecast(ClusterState(cluster), history_with(std::vector<TimeUs>(5, kHour)), asked(50));

  EXPECT_EQ(answer.futures, 0);
  EXPECT_EQ(answer.jobs[0].start_by_limits_us, kNow + 9 * kHour);
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_NE(answer.notes[0].find("5 past jobs have ended: at least 20"), std::string::npos) << answer.notes[0];
}

struct AlikeCase {
  const char* policy;
  const char* discipline;
  NodeFailures failures;
  const char* packing = "topology";
};

// The live engine, which knows more of a cluster than counts, finds the same futures where counts say all.
TEST(Forecast, CountsAndTheLiveEngineFindTheSameFutures) {
  constexpr NodeFailures kOften{20 * kHour, 2 * kHour}, kGone{5 * kHour, 500 * kHour};
  std::vector<AlikeCase> cases;
  for (const NodeFailures& failures : {NodeFailures{}, kOften, kGone}) {
    for (const char* discipline : {"strict", "greedy", "easy", "conservative"}) cases.push_back({"fifo", discipline, failures});
    for (const char* discipline : {"easy", "conservative"}) cases.push_back({"fifo", discipline, failures, "count"});
    for (const char* discipline : {"strict", "greedy"}) {
      cases.push_back({"las", discipline, failures});
      cases.push_back({"srsf", discipline, failures});
    }
  }
  for (const AlikeCase& one : cases) {
    const std::string discipline = fmt::format("{}@{} {} {}", one.policy, one.discipline, one.packing, one.failures.mean_us / kHour);
    test::Random random(17);
    Snapshot cluster = full_cluster(3);
    for (int i = 0; i < 25; ++i)
      cluster.jobs.push_back(job_of(fmt::format("w{:02}", i), 1 + static_cast<std::int32_t>(random.below(14)), kNow - (50 - i) * kSecond,
                                    (1 + random.below(10)) * kHour));
    const ClusterState state(cluster);
    const JobHistory history = history_with(random_runs(random, 200, 500), 3);
    const sim::Learned learned(history, kNow);
    ForecastRequest request = asked(12, one.discipline);
    request.request.policy = one.policy;
    request.request.params.emplace_back("packing", one.packing);
    const std::vector<std::int32_t> rows = core::waiting_order(state, request.request, {});
    ASSERT_EQ(rows.size(), 25U);
    sim::PresentOf present(state, rows, {});
    sim::FutureSettings settings;
    settings.request = request.request;
    settings.futures = request.futures;
    settings.node_failures = one.failures;
    settings.least_wake_us = 0;
    bool by_counts = false;
    const sim::FutureTimes counted = sim::simulate_futures(present.present(), learned, settings, by_counts);
    EXPECT_TRUE(by_counts) << discipline;
    sim::Present live = present.present();
    live.countable = false;
    const sim::FutureTimes decided = sim::simulate_futures(live, learned, settings, by_counts);
    EXPECT_FALSE(by_counts);
    EXPECT_EQ(counted.start, decided.start) << discipline;
    EXPECT_EQ(counted.end, decided.end) << discipline;
  }
}

TEST(Forecast, NodesFailAsTheyDid) {
  Snapshot cluster = full_cluster(4);
  for (int i = 0; i < 8; ++i) cluster.jobs.push_back(job_of(fmt::format("w{}", i), 8, kNow - (60 - i) * kSecond, 10 * kHour));
  JobHistory history = history_with(std::vector<TimeUs>(100, 3 * kHour));
  const ClusterState state(cluster);
  const Forecast without = forecast(state, history, asked(200));
  EXPECT_EQ(without.node_failures.mean_us, 0);

  // Two of them hit several jobs. They all ended after 6 minutes, which says nothing of how long jobs run.
  for (std::size_t i = 0; i < 100; i += 5) {
    PastJob job = history.jobs[i];
    job.node_failed = true;
    job.run_us = 360 * kSecond;
    if (i < 20) job.submit_us = job.start_us = kNow - 500 * kHour + static_cast<TimeUs>(i % 10) * kSecond;
    history.jobs.push_back(job);
  }
  std::stable_sort(history.jobs.begin(), history.jobs.end(), [](const PastJob& a, const PastJob& b) { return a.submit_us < b.submit_us; });
  const Forecast answer = forecast(state, history, asked(200));
  EXPECT_EQ(answer.past_failures, 17);
  EXPECT_EQ(answer.past_jobs, 100);
  EXPECT_EQ(answer.node_failures.mean_us, 4 * 500 * kHour / 17);
  EXPECT_TRUE(answer.by_counts);
  EXPECT_EQ(answer.jobs[0].start.median_us, without.jobs[0].start.median_us);
  EXPECT_GT(answer.jobs[7].start.high_us, without.jobs[7].start.high_us);

  ForecastRequest often = asked(200);
  often.node_failures = NodeFailures{5 * kHour, 20 * kHour};
  const Forecast rare_nodes = forecast(state, history, often);
  EXPECT_GT(rare_nodes.jobs[7].start.median_us, answer.jobs[7].start.median_us + 10 * kHour);
  often.node_failures = NodeFailures{kSecond, kHour};
  EXPECT_THROW((void)forecast(state, history, often), InvalidArgument);
  often.node_failures->repair_us = 0;
  EXPECT_THROW((void)forecast(state, history, often), InvalidArgument);
}

// A node that returns at a stated instant is one in futures, too.
TEST(Forecast, ANodeThatReturnsTakesJobs) {
  Snapshot cluster = full_cluster(2);
  cluster.jobs.erase(cluster.jobs.begin() + 1);
  cluster.nodes[1].available_from_us = kNow + kHour / 2;
  cluster.jobs.push_back(job_of("w", 8, kNow - kSecond, 10 * kHour));
  const Forecast answer = forecast(ClusterState(cluster), history_with(std::vector<TimeUs>(50, 3 * kHour)), asked(5));

  EXPECT_EQ(answer.jobs[0].start.median_us, kNow + kHour / 2);
}

// Constraints are none of what counts know.
TEST(Forecast, ConstraintsNeedTheLiveEngine) {
  Snapshot cluster = full_cluster(2);
  Job picky = job_of("picky", 8, kNow - kSecond, 10 * kHour);
  picky.constraints.required_nodes = {cluster.nodes[1].id};
  cluster.jobs.push_back(picky);
  const Forecast answer = forecast(ClusterState(cluster), history_with(std::vector<TimeUs>(50, 3 * kHour)), asked(5));

  EXPECT_FALSE(answer.by_counts);
  EXPECT_EQ(answer.jobs[0].start.median_us, kNow + 2 * kHour);
  EXPECT_EQ(answer.jobs[0].end.median_us, kNow + 5 * kHour);
}

TEST(Forecast, UsersWithdrawJobs) {
  Snapshot cluster = full_cluster(1);
  cluster.jobs.push_back(job_of("w", 8, kNow - 60 * kSecond, 10 * kHour));
  JobHistory history = history_with(std::vector<TimeUs>(50, 3 * kHour));
  for (std::size_t i = 0; i < 50; ++i) {  // half of those that wait for an hour are withdrawn then
    PastJob job = history.jobs[i];
    if (i % 2 == 0) {
      job.start_us = kNever;
      job.withdrawn_after_us = kHour;
    } else {
      job.start_us = job.submit_us + 2 * kHour;
    }
    history.jobs.push_back(job);
  }
  for (const bool counts : {true, false}) {
    Snapshot asked_cluster = cluster;
    if (!counts) asked_cluster.jobs.back().constraints.required_nodes = {cluster.nodes[0].id};
    const Forecast answer = forecast(ClusterState(asked_cluster), history, asked(400));
    EXPECT_EQ(answer.by_counts, counts);
    EXPECT_EQ(answer.past_withdrawn, 25);
    EXPECT_NEAR(answer.jobs[0].withdrawn_ppm, 500'000, 80'000) << counts;
    EXPECT_EQ(answer.jobs[0].start.high_us, kNow + 2 * kHour);
  }
}

// Where the history is drawn from the law of the run times, 90 % intervals cover 90 % of the starts.
TEST(Forecast, IntervalsCoverWhatTheyPromise) {
  test::Random random(23);
  int covered = 0, all = 0;
  constexpr int kWorlds = 400;
  for (int world = 0; world < kWorlds; ++world) {
    Snapshot cluster = full_cluster(2);
    for (int i = 0; i < 3; ++i) cluster.jobs.push_back(job_of(fmt::format("w{}", i), 8, kNow - (50 - i) * kSecond, 10 * kHour));
    const ClusterState state(cluster);
    ForecastRequest request = asked(200);
    request.levels.fill({50'000, 950'000});
    request.request.seed = static_cast<std::uint64_t>(world);
    const Forecast answer = forecast(state, history_with(random_runs(random, 400, 600)), request);
    // The truth: two jobs that have run for an hour, then three more, on two nodes.
    std::vector<TimeUs> ends;
    while (ends.size() < 2) {
      const TimeUs run = (1 + random.below(600)) * 60 * kSecond;
      if (run > kHour) ends.push_back(kNow + run - kHour);
    }
    for (int i = 0; i < 3; ++i) {
      const auto first = std::min_element(ends.begin(), ends.end());
      const ForecastTimes& start = answer.jobs[static_cast<std::size_t>(i)].start;
      covered += start.low_us <= *first && *first <= start.high_us ? 1 : 0;
      ++all;
      *first += (1 + random.below(600)) * 60 * kSecond;
    }
  }
  EXPECT_NEAR(covered, 0.9 * all, 0.03 * all);
}

}  // namespace berth::forecast_test
