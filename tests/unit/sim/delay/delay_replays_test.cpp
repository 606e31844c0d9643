#include "host/sim/delay/delay_replays.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "berth/error.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/delay/delay_times.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/delays/random_delays.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::delay_replays_test {
namespace {

using test::RandomDelays;

core::Params params_of(const RandomDelays& one, const std::string& timers) {
  return {
      {"lease_s", fmt::format("{}", one.lease_s)}, {"leases", one.common ? "common" : "own"}, {"lease_end", "keep"}, {"timers", timers}};
}

struct SimulatedJobs {
  SimulationTotals totals;
  std::vector<JobOutcome> jobs;
};

SimulatedJobs simulated(const RandomDelays& one, const std::string& timers, LinkModel links) {
  SimulationSettings settings;
  settings.request.policy = "dally-manual";
  settings.request.params = params_of(one, timers);
  settings.overheads = one.overheads;
  settings.links = links;
  SimulatedJobs ran;
  ran.jobs.resize(one.trace.jobs.size());
  ran.totals =
      simulate(one.trace, one.cluster, settings, [&](const JobOutcome& job) { ran.jobs[static_cast<std::size_t>(job.job)] = job; });
  return ran;
}

std::vector<DelayTimes> times_of_all(const RandomDelays& one, std::int32_t rungs) {
  std::vector<DelayTimes> all;
  for (const std::string& timers : one.timers) {
    core::ChosenPolicy chosen;
    chosen.choose("dally-manual", params_of(one, timers));
    all.push_back(times_of(*chosen.rules.delays, one.most_gpus, rungs));
  }
  return all;
}

}  // namespace

// Job by job, microsecond by microsecond.
TEST(DelayReplays, DoWhatTheSimulationDoes) {
  std::int64_t displaced = 0, moved = 0, rejected = 0, completed = 0;
  std::set<std::int32_t> rungs;
  const auto backend = core::make_cpu_backend(1);
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    constexpr std::int32_t kJobs[] = {0, 1, 7, 25, 60, 120};
    const RandomDelays one(seed, {kJobs[seed % 6], 2});
    const DelayProblem problem(one.trace, one.cluster, one.overheads, one.most_gpus);
    rungs.insert(problem.rungs());
    const std::vector<DelayTimes> times = times_of_all(one, problem.rungs());
    const std::vector<DelayOutcome> outcomes = delay_replays(problem, {one.lease_s * kSecond, one.common, 0}, times, *backend, true);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const SimulatedJobs want = simulated(one, one.timers[i], seed % 2 == 0 ? LinkModel::kTiers : LinkModel::kNone);
      const DelayOutcome& got = outcomes[i];
      const std::string where = fmt::format("seed {} timers {}", seed, one.timers[i]);
      __int128 jct = 0, wait = 0, gpu_us = 0, paid = 0;
      std::int64_t ended = 0, starts = 0, preemptions = 0, moves = 0;
      for (std::size_t j = 0; j < want.jobs.size(); ++j) {
        const JobOutcome& job = want.jobs[j];
        const bool ends = job.end == JobOutcome::End::kCompleted;
        ASSERT_EQ(got.start_us[j], job.start_us) << where << " job " << j;
        ASSERT_EQ(got.end_us[j], ends ? job.end_us : kNever) << where << " job " << j;
        ASSERT_EQ(got.held_us[j], job.held_us) << where << " job " << j;
        starts += job.starts;
        preemptions += job.preemptions;
        moves += job.moves;
        if (!ends) continue;
        ++ended;
        jct += job.jct_us();
        wait += job.waited_us();
        gpu_us += job.gpu_us;
        paid += static_cast<__int128>(job.overhead_us) * one.trace.jobs[j].gpus;
      }
      ASSERT_EQ(got.totals.decisions, want.totals.decisions) << where;
      ASSERT_EQ(got.totals.completed, ended) << where;
      ASSERT_EQ(got.totals.starts, starts) << where;
      ASSERT_EQ(got.totals.preemptions, preemptions) << where;
      ASSERT_EQ(got.totals.moves, moves) << where;
      ASSERT_EQ(got.totals.jct_us, jct) << where;
      ASSERT_EQ(got.totals.wait_us, wait) << where;
      ASSERT_EQ(got.totals.gpu_us, gpu_us) << where;
      ASSERT_EQ(got.totals.paid_gpu_us, paid) << where;
      ASSERT_EQ(got.totals.last_end, ended > 0 ? want.totals.last_end_us : kNever) << where;
      displaced += preemptions;
      moved += moves;
      rejected += got.totals.rejected;
      completed += ended;
    }
  }
  EXPECT_GT(displaced, 3000);
  EXPECT_GT(moved, 100);
  EXPECT_GT(rejected, 50);
  EXPECT_GT(completed, 8'000);
  EXPECT_GE(rungs.size(), 3U);
}

}  // namespace berth::sim::delay_replays_test
