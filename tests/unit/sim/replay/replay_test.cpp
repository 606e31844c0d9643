#include "host/sim/replay/replay.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::replay_test {
namespace {

std::vector<std::int32_t> running_jobs(const Replay& replay) {
  std::vector<std::int32_t> jobs;
  for (const ReplayRunning& one : replay.running) jobs.push_back(one.job);
  return jobs;
}

using Jobs = std::vector<std::int32_t>;

// 2 nodes x 4 GPUs:   a: 0-10 s on 4    b: 0-30 s on 2    c: 5 s, requests 8    d: 6 s, requests 1
const std::vector<TraceJob> kFour{job("a", 0, 10, 4), job("b", 0, 30, 2), job("c", 5, 10, 8), job("d", 6, 10, 1)};

}  // namespace

TEST(Replay, TheHeadOfTheLineHoldsUpAllBehindIt) {
  const Trace trace = trace_of(kFour);
  const Snapshot cluster = io::uniform_cluster(2, 4);

  const Replay at_7 = replay_fifo(trace, cluster, 7 * kSecond);
  const Replay at_35 = replay_fifo(trace, cluster, 35 * kSecond);
  const Replay at_45 = replay_fifo(trace, cluster, 45 * kSecond);

  EXPECT_EQ(running_jobs(at_7), (Jobs{0, 1}));
  EXPECT_EQ(at_7.waiting, (Jobs{2, 3}));  // d would fit, but c comes before it
  ASSERT_EQ(running_jobs(at_35), Jobs{2});
  EXPECT_EQ(at_35.running[0].start_us, 30 * kSecond);
  EXPECT_EQ(at_35.waiting, Jobs{3});
  EXPECT_EQ(running_jobs(at_45), Jobs{3});
  EXPECT_EQ(at_45.finished.size(), 3u);
}

TEST(Replay, AtTheInstantItselfEventsHaveHappenedAndTheDecisionHasNot) {
  const Trace trace = trace_of(kFour);
  const Snapshot cluster = io::uniform_cluster(2, 4);

  const Replay at_0 = replay_fifo(trace, cluster, 0);
  const Replay at_30 = replay_fifo(trace, cluster, 30 * kSecond);
  const Replay after = replay_fifo(trace, cluster, 30 * kSecond + 1);

  EXPECT_EQ(at_0.waiting, (Jobs{0, 1}));
  EXPECT_TRUE(at_30.running.empty());
  EXPECT_EQ(at_30.finished.size(), 2u);
  EXPECT_EQ(at_30.waiting, (Jobs{2, 3}));
  EXPECT_EQ(running_jobs(after), Jobs{2});
}

TEST(Replay, AJobLargerThanTheEmptyClusterIsRejectedAndBlocksNoOther) {
  const Trace trace = trace_of({job("a", 0, 10, 9), job("b", 1, 10, 8)});

  const Replay replay = replay_fifo(trace, io::uniform_cluster(2, 4), 2 * kSecond);

  EXPECT_EQ(replay.rejected, Jobs{0});
  EXPECT_EQ(running_jobs(replay), Jobs{1});
  EXPECT_EQ(replay.free_gpus, 0);
}

TEST(Replay, VirtualClustersThatOwnNodesHaveLinesOfTheirOwn) {
  Snapshot cluster = io::uniform_cluster(2, 4);
  cluster.nodes[0].virtual_clusters = {"v"};
  cluster.nodes[1].virtual_clusters = {"w"};
  Trace trace = trace_of({job("a", 0, 10, 4), job("b", 1, 10, 4), job("c", 2, 10, 4)});
  trace.jobs[0].virtual_cluster = trace.jobs[1].virtual_cluster = "v";
  trace.jobs[2].virtual_cluster = "w";

  const Replay replay = replay_fifo(trace, cluster, 3 * kSecond);

  EXPECT_EQ(running_jobs(replay), (Jobs{0, 2}));
  EXPECT_EQ(replay.waiting, Jobs{1});
}

TEST(Replay, UnsortedJobsAndInstantsBeforeTheStartAreRefused) {
  const Snapshot cluster = io::uniform_cluster(1, 1);

  EXPECT_THROW(replay_fifo(trace_of({job("b", 0, 1, 1), job("a", 0, 1, 1)}), cluster, 0), InvalidArgument);
  EXPECT_THROW(replay_fifo(trace_of({}), cluster, -1), InvalidArgument);
}

TEST(SnapshotAt, JobsCarryWhatIsKnownOfThem) {
  Trace trace =
      trace_of({job("a", 0, 4, 4, "u"), job("b", 1, 8, 4, "u"), job("c", 2, 100, 6, "u"), job("d", 3, 50, 4, "w"), job("e", 999, 1, 1)});
  trace.origin_iso = "2020-06-01T00:00:00";
  trace.jobs[0].status = "completed";
  trace.jobs[2].gpu_type = "gpu";

  const Snapshot snapshot = snapshot_at(trace, io::uniform_cluster(2, 4), 20 * kSecond);  // c starts at 9 s

  EXPECT_EQ(snapshot.now_us, 20 * kSecond);
  EXPECT_EQ(snapshot.origin_iso, "2020-06-01T00:00:00");
  ASSERT_EQ(snapshot.history.size(), 2u);
  EXPECT_EQ(snapshot.history[0].id, "a");
  EXPECT_EQ(snapshot.history[0].run_us, 4 * kSecond);
  EXPECT_EQ(snapshot.history[0].status, "completed");
  ASSERT_EQ(snapshot.jobs.size(), 2u);
  const Job &c = snapshot.jobs[0], &d = snapshot.jobs[1];
  EXPECT_EQ(c.state, JobState::kRunning);
  EXPECT_EQ(c.shapes[0].id, "6xgpu");
  EXPECT_EQ(c.allocation.shape, "6xgpu");
  ASSERT_EQ(c.allocation.entries.size(), 2u);
  EXPECT_EQ(c.allocation.entries[0].gpus, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(c.allocation.entries[1].member, 4);
  EXPECT_EQ(c.allocation.entries[1].node, "n1");
  EXPECT_EQ(c.allocation.entries[1].gpus, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(c.last_assignment_us, 9 * kSecond);
  EXPECT_EQ(c.progress.run_us, 11 * kSecond);
  EXPECT_EQ(c.progress.work_done, 11 * kSecond);
  EXPECT_EQ(c.progress.attained_gpu_us, 66 * kSecond);
  EXPECT_EQ(c.estimate.run_us, kNever);  // no finished job ran longer than the 11 s of c so far
  EXPECT_EQ(d.state, JobState::kWaiting);
  EXPECT_EQ(d.estimate.run_us, 6 * kSecond);  // no job of user w has finished; same GPU count: (4 + 8) / 2
  EXPECT_EQ(d.estimate.source, "history-mean");
  ASSERT_EQ(snapshot.x.size(), 1u);
  EXPECT_EQ(snapshot.x[0].first, "x_import");
}

TEST(SnapshotAt, TheTruthIsThereOnlyWhenAskedFor) {
  const Trace trace = trace_of({job("a", 0, 10, 1)});
  const Snapshot cluster = io::uniform_cluster(1, 1);

  const Snapshot none = snapshot_at(trace, cluster, 5 * kSecond, estimate_source("none"));
  const Snapshot oracle = snapshot_at(trace, cluster, 5 * kSecond, estimate_source("oracle"));

  EXPECT_EQ(none.jobs[0].estimate, Estimate{});
  EXPECT_EQ(oracle.jobs[0].estimate.run_us, 10 * kSecond);
  EXPECT_EQ(oracle.jobs[0].estimate.source, "oracle");
  EXPECT_THROW(estimate_source("truth"), InvalidArgument);
}

TEST(SnapshotAt, DemandsThatTheReplayDidNotCountAreKeptOnlyWhereNodesDoNotModelThem) {
  Trace trace = trace_of({job("a", 0, 10, 4)});
  trace.jobs[0].cpu_milli = 10'001;
  trace.jobs[0].memory_bytes = 8;
  Snapshot cluster = io::uniform_cluster(1, 4);
  cluster.nodes[0].cpu_milli = 1'000;

  const Job kept = snapshot_at(trace, io::uniform_cluster(1, 4), kSecond).jobs.at(0);
  const Job left_out = snapshot_at(trace, cluster, kSecond).jobs.at(0);

  EXPECT_EQ(kept.constraints.cpu_milli_per_gpu, 2'501);
  EXPECT_EQ(kept.constraints.memory_bytes_per_gpu, 2);
  EXPECT_EQ(left_out.constraints.cpu_milli_per_gpu, 0);
  EXPECT_EQ(left_out.constraints.memory_bytes_per_gpu, 2);
}

}  // namespace berth::sim::replay_test
