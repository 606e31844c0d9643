// Jobs that name a queue: its quotas apply where the cluster has it, and figures are grouped by it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/counts/count_simulation.hpp"
#include "host/sim/measures/groups.hpp"
#include "host/sim/replay/replay.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_queues_test {
namespace {

TraceJob queued(const std::string& queue, const std::string& id, std::int64_t submit_s, std::int64_t run_s, std::int32_t gpus) {
  TraceJob one = job(id, submit_s, run_s, gpus);
  one.queue = queue;
  return one;
}

// Eight GPUs, of which the queue 'small' may have four.
Snapshot with_queues() {
  Snapshot cluster = io::uniform_cluster(1, 8);
  cluster.queues.resize(2);
  cluster.queues[0].id = "small";
  cluster.queues[0].quotas = {{"*", 0, 4, kUnlimited}};
  cluster.queues[1].id = "large";
  return cluster;
}

const std::vector<TraceJob> kQueued{queued("small", "a", 0, 10, 4), queued("small", "b", 1, 10, 4), queued("large", "c", 2, 10, 4)};

SimulationSettings skipping() {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", "greedy"}, {"packing", "count"}};
  return settings;
}

std::string ends(const Trace& trace, const Snapshot& cluster) {
  std::string rows;
  simulate(trace, cluster, skipping(),
           [&](const JobOutcome& one) { rows += fmt::format("{} {}-{} ", one.traced->id, one.start_us / kSecond, one.end_us / kSecond); });
  return rows;
}

bool goes_by_counts(const Trace& trace, const Snapshot& cluster) {
  JobsOf jobs(trace);
  return simulate_counts({trace.profiles, facts_of(trace), jobs}, cluster, skipping(), [](const JobOutcome&) {}).has_value();
}

}  // namespace

TEST(SimulatedQueues, QuotasHoldWhereTheClusterHasQueues) {
  EXPECT_EQ(ends(trace_of(kQueued), with_queues()), "a 0-10 c 2-12 b 10-20 ");
  EXPECT_EQ(ends(trace_of(kQueued), io::uniform_cluster(1, 8)), "a 0-10 b 1-11 c 10-20 ");
}

TEST(SimulatedQueues, CountsAreEnoughWhereNoQuotaHolds) {
  const Trace without = trace_of({job("a", 0, 10, 4)});

  EXPECT_TRUE(goes_by_counts(without, with_queues()));
  EXPECT_TRUE(goes_by_counts(trace_of(kQueued), io::uniform_cluster(1, 8)));
  EXPECT_FALSE(goes_by_counts(trace_of(kQueued), with_queues()));
}

TEST(SimulatedQueues, AQueueThatTheClusterDoesNotHaveIsRefused) {
  const Trace trace = trace_of({queued("smal", "a", 0, 10, 4)});
  const auto message = [](const auto& run) {
    try {
      run();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };

  EXPECT_EQ(message([&] { ends(trace, with_queues()); }), "the trace has jobs of queue 'smal', and the cluster no such queue");
  EXPECT_EQ(message([&] { snapshot_at(trace, with_queues(), kSecond); }),
            "the trace has jobs of queue 'smal', and the cluster no such queue");
  EXPECT_EQ(message([&] { ends(trace, io::uniform_cluster(1, 8)); }), "none");
}

TEST(SimulatedQueues, ASnapshotHasThemWhereTheClusterDoes) {
  EXPECT_EQ(snapshot_at(trace_of(kQueued), with_queues(), 2 * kSecond).jobs.at(2).queue, "large");
  EXPECT_EQ(snapshot_at(trace_of(kQueued), io::uniform_cluster(1, 8), 2 * kSecond).jobs.at(2).queue, "");
}

TEST(SimulatedQueues, FiguresAreReportedByThem) {
  GroupsOf groups(GroupBy::kQueue);
  simulate(trace_of(kQueued), with_queues(), skipping(), [&](const JobOutcome& one) { groups.add(one); });

  const std::vector<GroupFigures> got = groups.finish();

  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].name, "large");
  EXPECT_EQ(got[1].name, "small");
  EXPECT_EQ(got[1].jobs, 2);
  EXPECT_EQ(got[1].mean_wait_us, 4'500'000);
}

}  // namespace berth::sim::simulated_queues_test
