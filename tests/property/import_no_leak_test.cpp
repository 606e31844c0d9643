// A snapshot rebuilt from a trace must not know the future.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "berth/io.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/replay/replay.hpp"

namespace berth::sim::import_no_leak_test {
namespace {

constexpr TimeUs kEpochSeconds = 8;  // how long it takes is reported as a job runs, and stays constant

Trace random_trace(std::mt19937& rng, int jobs) {
  Trace trace;
  trace.name = "random";
  Profile profile;  // two units a second at every GPU count
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  for (int gpus = 1; gpus <= 16; gpus *= 2) profile.points.push_back({"gpu", gpus, 0, "", 2'000'000});
  trace.profiles = {{"p", profile}};
  for (int j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = "j" + std::to_string(j);
    job.user = "u" + std::to_string(rng() % 5);
    job.virtual_cluster = rng() % 2 == 0 ? "v" : "";
    job.submit_us = static_cast<TimeUs>(rng() % 1'000) * kSecond;
    job.run_us = static_cast<TimeUs>(rng() % 400 + 1) * kSecond;
    job.gpus = 1 << rng() % 5;
    job.clamped = rng() % 7 == 0;
    job.status = rng() % 2 == 0 ? "completed" : "failed";
    if (rng() % 3 == 0) {
      job.profile = "p";
      job.work = 2 * job.run_us;
    }
    if (rng() % 2 == 0) {
      job.epochs_micro = job.run_us / kEpochSeconds;
      job.dataset_size = 1'000;
    }
    trace.jobs.push_back(std::move(job));
  }
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); });
  return trace;
}

/// The same past with another future: every job that is unfinished at `at` gets another run time, and is still unfinished.
Trace other_future(const Trace& trace, const Replay& replay, TimeUs at, std::mt19937& rng) {
  Trace other = trace;
  const auto change = [&](std::size_t j, TimeUs least) {
    other.jobs[j].run_us = (least + static_cast<TimeUs>(rng() % 100'000'000)) / kEpochSeconds * kEpochSeconds + kEpochSeconds;
    if (other.jobs[j].epochs_micro > 0) other.jobs[j].epochs_micro = other.jobs[j].run_us / kEpochSeconds;
    if (other.jobs[j].work > 0) other.jobs[j].work = 2 * other.jobs[j].run_us;
    other.jobs[j].clamped = !other.jobs[j].clamped;
    other.jobs[j].status = "changed";
  };
  for (const ReplayRunning& one : replay.running) change(static_cast<std::size_t>(one.job), at - one.start_us + 1);
  for (const std::int32_t j : replay.waiting) change(static_cast<std::size_t>(j), 1);
  for (const std::int32_t j : replay.rejected) change(static_cast<std::size_t>(j), 1);
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    if (trace.jobs[j].submit_us > at) change(j, 1);
  }
  return other;
}

}  // namespace

TEST(ImportNoLeak, AnotherFutureGivesTheSameSnapshot) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const Trace trace = random_trace(rng, 300);
    Snapshot cluster = io::uniform_cluster(4 + seed % 3, 8);
    if (seed % 2 == 0) cluster.nodes[0].virtual_clusters = {"v"};
    const TimeUs at = static_cast<TimeUs>(rng() % 1'500) * kSecond;
    const Replay replay = replay_fifo(trace, cluster, at);

    const Trace other = other_future(trace, replay, at, rng);

    for (const EstimateSource source : {EstimateSource::kHistoryMean, EstimateSource::kNone}) {
      EXPECT_EQ(snapshot_at(trace, cluster, at, source), snapshot_at(other, cluster, at, source));
      EXPECT_EQ(io::to_json(snapshot_at(trace, cluster, at, source)), io::to_json(snapshot_at(other, cluster, at, source)));
    }
    if (!replay.running.empty()) {
      EXPECT_NE(snapshot_at(trace, cluster, at, EstimateSource::kOracle), snapshot_at(other, cluster, at, EstimateSource::kOracle));
    }
  }
}

TEST(ImportNoLeak, NoGpuIsHeldTwiceAndEverySnapshotIsConsistent) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const Trace trace = random_trace(rng, 300);
    const Snapshot cluster = io::uniform_cluster(5, 8);

    const Snapshot snapshot = snapshot_at(trace, cluster, static_cast<TimeUs>(rng() % 1'500) * kSecond);

    EXPECT_NO_THROW(check_snapshot(snapshot));
    EXPECT_EQ(io::parse_snapshot(io::to_json(snapshot)), snapshot);
  }
}

TEST(ImportNoLeak, OrderOfNodesInTheFileDoesNotMatter) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const Trace trace = random_trace(rng, 300);
    const Snapshot cluster = io::uniform_cluster(5, 8);
    Snapshot shuffled = cluster;
    std::shuffle(shuffled.nodes.begin(), shuffled.nodes.end(), rng);

    EXPECT_EQ(snapshot_at(trace, cluster, 700 * kSecond).jobs, snapshot_at(trace, shuffled, 700 * kSecond).jobs);
  }
}

}  // namespace berth::sim::import_no_leak_test
