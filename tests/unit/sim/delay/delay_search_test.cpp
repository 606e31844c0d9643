#include "host/sim/delay/delay_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/sim/delay/delay_times.hpp"
#include "tests/support/delays/random_delays.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::delay_search_test {
namespace {

std::int64_t jct_of(const DelayProblem&, const DelayOutcome& outcome) { return static_cast<std::int64_t>(outcome.totals.jct_us); }

DelaySearchResult search_one(const DelayProblem& problem, const DelaySearch& search, core::PlacementBackend& backend) {
  const DelayProblem* const only[] = {&problem};
  return search_timers(only, search, backend);
}

struct Searched {
  test::RandomDelays world;
  std::vector<std::int64_t> classes;
  DelayProblem problem;
  explicit Searched(std::uint64_t seed, std::int32_t jobs = 60)
      : world(seed, {jobs, 1}), classes(demand_classes(world.trace)), problem(world.trace, world.cluster, world.overheads, classes) {}
  DelaySearch how(std::int64_t settings) const {
    DelaySearch search;
    search.leases = {world.lease_s * kSecond, world.common, 0};
    search.settings = settings;
    search.value = jct_of;
    return search;
  }
};

}  // namespace

TEST(DelaySearch, ClassesArePowersOfTwoThatOccur) {
  EXPECT_EQ(demand_classes(trace_of({})), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(demand_classes(trace_of({job("a", 0, 1, 1), job("b", 0, 1, 3), job("c", 0, 1, 4), job("d", 0, 1, 40)})),
            (std::vector<std::int64_t>{1, 4, 64}));
}

TEST(DelaySearch, TextsAreReadAsTheSameTimers) {
  constexpr TimeUs kHour = 3'600 * kSecond;
  const std::vector<std::int64_t> classes{1, 2, 8};
  const DelayTimes times{0, kNever, 0, kNever, kHour / 2, 48 * kHour};
  const std::string text = timers_text(classes, times, kHour);
  EXPECT_EQ(text, "2:0:never/8:0.5:48");
  const auto rule = core::find_policy("dally-manual").delays({{"timers", text}});
  EXPECT_EQ(times_of(*rule, classes, 2), times);
  EXPECT_EQ(timers_text(classes, {0, kNever, 0, kNever, 0, kNever}, kHour), "0:never");
}

TEST(DelaySearch, FindsNoWorseTimersThanTheBestForAllDemands) {
  const auto backend = core::make_cpu_backend(1);
  int better = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Searched one(seed);
    DelaySearchResult found = search_one(one.problem, one.how(250), *backend);
    ASSERT_TRUE(found.best && found.uniform) << seed;
    EXPECT_LE(found.settings, 250);
    EXPECT_LE(found.best->value, found.uniform->value);
    better += found.best->value < found.uniform->value ? 1 : 0;
    // It is what a replay of these timers gives.
    const std::vector<DelayTimes> times{found.best->times};
    const auto again = delay_replays(one.problem, one.how(1).leases, times, *backend);
    EXPECT_EQ(found.best->value, jct_of(one.problem, again.front())) << seed;
  }
  EXPECT_GE(better, 4);
}

TEST(DelaySearch, AddsUpOverProblems) {
  const auto backend = core::make_cpu_backend(1);
  const Searched one(6, 50);
  test::RandomDelays other = one.world;
  for (TraceJob& job : other.trace.jobs) job.run_us += 5 * kSecond, job.work += job.work / 3;
  const DelayProblem more(other.trace, other.cluster, other.overheads, one.classes);
  const DelayProblem* const both[] = {&one.problem, &more};
  const DelaySearchResult found = search_timers(both, one.how(150), *backend);
  ASSERT_TRUE(found.best);
  const std::vector<DelayTimes> times{found.best->times};
  std::int64_t sum = 0;
  for (const DelayProblem* const problem : both)
    sum += jct_of(*problem, delay_replays(*problem, one.how(1).leases, times, *backend).front());
  EXPECT_EQ(found.best->value, sum);
}

TEST(DelaySearch, ThreadsDoNotChangeTheAnswerAndSeedsMay) {
  const Searched one(3, 90);
  const auto with = [&](int threads, std::uint64_t seed) {
    DelaySearch search = one.how(300);
    search.seed = seed;
    const auto backend = core::make_cpu_backend(threads);
    return search_one(one.problem, search, *backend);
  };
  const DelaySearchResult want = with(1, 0), got = with(3, 0);
  EXPECT_EQ(got.best->times, want.best->times);
  EXPECT_EQ(got.best->value, want.best->value);
  EXPECT_EQ(got.settings, want.settings);
}

TEST(DelaySearch, StopsAtItsBudgetOrWhenAsked) {
  const auto backend = core::make_cpu_backend(1);
  const Searched one(5);
  EXPECT_EQ(search_one(one.problem, one.how(1), *backend).settings, 1);
  EXPECT_EQ(search_one(one.problem, one.how(70), *backend).settings, 70);
  DelaySearch search = one.how(10'000);
  search.proceed = [](std::int64_t) { return false; };
  const DelaySearchResult stopped = search_one(one.problem, search, *backend);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_TRUE(stopped.best);
  search = one.how(50);
  search.leases.most_decisions = 1;
  const DelaySearchResult lost = search_one(one.problem, search, *backend);
  EXPECT_FALSE(lost.best);
  EXPECT_EQ(lost.lost, lost.settings);
}

TEST(DelaySearch, WithoutJobsOrWithSingleGpusTimersChangeNothing) {
  const auto backend = core::make_cpu_backend(1);
  for (const std::int32_t gpus : {0, 1}) {
    test::RandomDelays world(8, {40, 1});
    if (gpus == 0) world.trace.jobs.clear();
    for (TraceJob& job : world.trace.jobs) job.gpus = 1, job.profile.clear(), job.work = 0;
    const std::vector<std::int64_t> classes = demand_classes(world.trace);
    const DelayProblem problem(world.trace, world.cluster, world.overheads, classes);
    DelaySearch search;
    search.value = jct_of;
    const DelaySearchResult found = search_one(problem, search, *backend);
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.settings, 1);
  }
}

TEST(DelaySearch, RefusesLeasesWithoutProgressAndWrongTimers) {
  const auto backend = core::make_cpu_backend(1);
  test::RandomDelays world(4, {10, 1});
  world.overheads.general.costs.restart_us = 100 * kSecond;
  world.overheads.models.clear();
  const std::vector<std::int64_t> classes{1};
  const DelayProblem problem(world.trace, world.cluster, world.overheads, classes);
  const std::vector<DelayTimes> times{DelayTimes(static_cast<std::size_t>(problem.rungs()), 0)};
  EXPECT_THROW(delay_replays(problem, {100 * kSecond, false, 0}, times, *backend), InvalidArgument);
  EXPECT_NO_THROW(delay_replays(problem, {200 * kSecond, false, 0}, times, *backend));
  EXPECT_THROW(delay_replays(problem, {0, false, 0}, times, *backend), InvalidArgument);
  EXPECT_THROW(delay_replays(problem, {200 * kSecond, false, 0}, std::vector<DelayTimes>{{}}, *backend), InvalidArgument);
  const std::vector<DelayTimes> below{DelayTimes(static_cast<std::size_t>(problem.rungs()), -1)};
  EXPECT_THROW(delay_replays(problem, {200 * kSecond, false, 0}, below, *backend), InvalidArgument);
}

}  // namespace berth::sim::delay_search_test
