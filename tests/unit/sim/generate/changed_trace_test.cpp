#include "host/sim/generate/changed_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::changed_trace_test {
namespace {

Trace hundred_jobs() {
  std::vector<TraceJob> jobs;
  for (int j = 0; j < 100; ++j) jobs.push_back(job("j" + std::to_string(100 + j), 10 * j, 40, 1 + j % 4, j % 2 == 0 ? "even" : "odd"));
  Trace trace = trace_of(std::move(jobs));
  trace.jobs[3].deadline_us = trace.jobs[3].submit_us + 7 * kSecond;
  trace.jobs[3].deadline_later = {{trace.jobs[3].submit_us + 9 * kSecond, 1}};
  return trace;
}

bool sorted(const Trace& trace) {
  return std::is_sorted(trace.jobs.begin(), trace.jobs.end(),
                        [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); });
}

std::string problem_of(const Trace& trace, const TraceChanges& changes) {
  try {
    (void)changed_trace(trace, changes, 8, 1);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(ChangedTrace, LoadMovesSubmissionsUntilTheJobsAskForThatMuch) {
  const Trace trace = hundred_jobs();  // 250 GPUs of 40 s each
  for (const std::int32_t load_ppm : {100'000, 500'000, 1'000'000, 1'250'000, 3'000'000}) {
    TraceChanges changes;
    changes.load_ppm = load_ppm;
    const Trace changed = changed_trace(trace, changes, 8, 0);
    ASSERT_EQ(changed.jobs.size(), 100U);
    EXPECT_TRUE(sorted(changed));
    const TimeUs span = changed.jobs.back().submit_us - changed.jobs.front().submit_us;
    EXPECT_EQ(span, 10'000 * kSecond / 8 * 1'000'000 / load_ppm) << load_ppm;
    const auto due = std::find_if(changed.jobs.begin(), changed.jobs.end(), [](const TraceJob& one) { return one.id == "j103"; });
    EXPECT_EQ(due->deadline_us - due->submit_us, 7 * kSecond);
    EXPECT_EQ(due->deadline_later.at(0).at_us - due->submit_us, 9 * kSecond);
  }
}

TEST(ChangedTrace, BlocksAreDrawnWithReplacementAndKeepTheirJobs) {
  const Trace trace = hundred_jobs();
  TraceChanges changes;
  changes.block_us = 100 * kSecond;  // ten blocks of ten jobs
  std::set<std::string> draws;
  std::map<std::int64_t, int> from;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Trace drawn = changed_trace(trace, changes, 8, seed);
    EXPECT_EQ(drawn, changed_trace(trace, changes, 99, seed)) << "by the seed alone";
    ASSERT_EQ(drawn.jobs.size(), 100U);
    EXPECT_TRUE(sorted(drawn));
    std::set<std::string> ids;
    std::string all;
    for (std::size_t j = 0; j < drawn.jobs.size(); ++j) {
      const TraceJob& one = drawn.jobs[j];
      ids.insert(one.id);
      const std::int64_t old = std::stoll(one.id.substr(1, 3)) - 100;
      EXPECT_EQ(one.gpus, trace.jobs[static_cast<std::size_t>(old)].gpus);
      EXPECT_EQ(one.submit_us % changes.block_us, trace.jobs[static_cast<std::size_t>(old)].submit_us % changes.block_us);
      EXPECT_EQ(one.id.substr(4), "~" + std::to_string(one.submit_us / changes.block_us));
      if (j % 10 == 0) ++from[old / 10];
      all += one.id + " ";
    }
    EXPECT_EQ(ids.size(), 100U);
    draws.insert(all);
  }
  EXPECT_EQ(draws.size(), 200U);
  for (const auto& [block, times] : from) EXPECT_NEAR(times, 200, 60) << block;  // 4.5 standard deviations
}

TEST(ChangedTrace, JobsOfUsersAreLeftOut) {
  TraceChanges changes;
  changes.remove_users = {"odd"};
  EXPECT_EQ(changed_trace(hundred_jobs(), changes, 8, 0).jobs.size(), 50U);
  changes.load_ppm = 1'000'000;  // of the jobs that stay: 25 of 1 GPU and 25 of 3
  EXPECT_EQ(changed_trace(hundred_jobs(), changes, 8, 0).jobs.back().submit_us, 4'000 * kSecond / 8);
}

TEST(ChangedTrace, AWindowCountsFromTheFirstSubmission) {
  Trace trace = hundred_jobs();
  for (TraceJob& one : trace.jobs) one.submit_us += 1000 * kSecond;
  TraceChanges changes;
  changes.from_us = 100 * kSecond;
  changes.until_us = 200 * kSecond;
  const Trace changed = changed_trace(trace, changes, 8, 0);
  ASSERT_EQ(changed.jobs.size(), 10U);
  EXPECT_EQ(changed.jobs.front().id, "j110");
  EXPECT_EQ(changed.jobs.front().submit_us, 1100 * kSecond) << "jobs keep their instants";
  EXPECT_EQ(changed.jobs.back().id, "j119");
  changes.remove_users = {"even"};
  EXPECT_EQ(changed_trace(trace, changes, 8, 0).jobs.size(), 5U) << "the first submission of the whole trace";
  changes.until_us = kNever;
  EXPECT_EQ(changed_trace(trace, changes, 8, 0).jobs.size(), 45U);
  changes.from_us = 991 * kSecond;
  EXPECT_EQ(problem_of(trace, changes), "window: no job is submitted in it");
}

TEST(ChangedTrace, SaysWhatCannotBeChanged) {
  const Trace trace = hundred_jobs();
  TraceChanges load, blocks, users, clusters;
  load.load_ppm = 1;
  blocks.block_us = 991 * kSecond;
  users.remove_users = {"even", "odd"};
  clusters.remove_virtual_clusters = {"vc"};
  EXPECT_EQ(problem_of(trace, blocks), "resample: the trace is no longer than a block, so that there is nothing to draw");
  blocks.block_us = 1;
  EXPECT_EQ(problem_of(trace, blocks), "resample: the trace has 990000001 blocks of this length; at most 1000000");
  EXPECT_EQ(problem_of(trace, users), "remove_users: no job is left");
  EXPECT_EQ(problem_of(trace, clusters), "remove_virtual_clusters: no job is of 'vc'");
  Trace idle = trace;
  for (TraceJob& one : idle.jobs) one.run_us = 0;
  EXPECT_EQ(problem_of(idle, load), "load: the jobs of the trace state no run times");
  EXPECT_EQ(problem_of(trace_of({job("a", 5, 10, 1), job("b", 5, 10, 1)}), load), "load: all jobs of the trace come at the same instant");
  Trace vast = trace;
  for (TraceJob& one : vast.jobs) one.run_us = kMaxTimeUs / 2;
  EXPECT_EQ(problem_of(vast, load), "load: jobs would come later than time can be counted");
  EXPECT_TRUE(changed_trace(Trace(), load, 8, 0).jobs.empty());
}

TEST(ChangedCluster, NodesAreAddedAndRemoved) {
  Snapshot cluster = io::uniform_cluster(3, 8);
  cluster.nodes[2].labels = {{"k", "v"}};
  change_cluster(cluster, {2, {"n0"}});
  ASSERT_EQ(cluster.nodes.size(), 4U);
  EXPECT_EQ(cluster.nodes[0].id, "n1");
  EXPECT_EQ(cluster.nodes[3].id, "added1");
  EXPECT_EQ(cluster.nodes[3].labels, cluster.nodes[1].labels);
  change_cluster(cluster, {1, {}});
  EXPECT_EQ(cluster.nodes.back().id, "added2");
  EXPECT_THROW(change_cluster(cluster, {0, {"n7"}}), InvalidArgument);
  EXPECT_THROW(change_cluster(cluster, {kMaxNodes, {}}), InvalidArgument);
  Snapshot one = io::uniform_cluster(1, 8);
  EXPECT_THROW(change_cluster(one, {0, {"n0"}}), InvalidArgument);
}

}  // namespace berth::sim::changed_trace_test
