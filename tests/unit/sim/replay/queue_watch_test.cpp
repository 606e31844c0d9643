// What queues got and were due, worked out by hand.

#include "host/sim/replay/queue_watch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/io/formats/simulation_files.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::queue_watch_test {
namespace {

TraceJob in_queue(const std::string& queue, TraceJob one) {
  one.queue = queue;
  return one;
}

// Eight GPUs, of which two queues have a guarantee of four each.
Snapshot halves() {
  Snapshot cluster = io::uniform_cluster(1, 8);
  for (const char* id : {"B", "A"}) {
    cluster.queues.emplace_back().id = id;
    cluster.queues.back().quotas = {{"*", 4, kUnlimited, kUnlimited}};
  }
  return cluster;
}

SimulationSettings greedy(const std::string& quotas) {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", "greedy"}, {"packing", "count"}, {"quotas", quotas}};
  settings.overheads.general.costs.restart_us = 10 * kSecond;
  return settings;
}

// "name had/entitled/fair +borrowed -shortfall,-of the fair share, starved, reclaims: mean/p95/max, lapsed, displaced/for it, lost; hours"
std::string figures(const Trace& trace, const Snapshot& cluster, SimulationSettings settings) {
  std::vector<QueueFigures> queues;
  settings.queues = &queues;
  simulate(trace, cluster, settings, [](const JobOutcome&) {});
  std::string text;
  const auto s = [](__int128 us) { return static_cast<std::int64_t>(us) / kSecond; };
  for (const QueueFigures& q : queues) {
    text +=
        fmt::format("{} {}/{}/{} +{} -{},-{} starved {}, {}: {}/{}/{}, lapsed {}, displaced {}/{} lost {}; {} {} {}\n", q.name, s(q.gpu_us),
                    s(q.guaranteed_gpu_us), s(q.fair_gpu_us), s(q.borrowed_gpu_us), s(q.shortfall_gpu_us), s(q.fair_shortfall_gpu_us),
                    s(q.starved_us), q.reclaims, s(q.reclaim_us.mean), s(q.reclaim_us.p95), s(q.reclaim_us.max), q.lapsed, q.displaced,
                    q.displaced_for, s(q.lost_gpu_us), q.hours, q.hours_below_half, q.worst_hour_ppm);
  }
  return text;
}

// a2 borrows what b1 is entitled to.
const std::vector<TraceJob> kBorrowed{in_queue("A", job("a1", 0, 100, 4)), in_queue("A", job("a2", 0, 100, 4)),
                                      in_queue("B", job("b1", 20, 50, 4))};

}  // namespace

// At 0 a1 and a2 start. Each was entitled alone; with a1 running, a2 is not: it borrows, and its entitlement has lapsed.
//   0-20    A has 8, is entitled to 4, and has all of the cluster as its fair share
// At 20 b1 displaces a2, without waiting.
//   20-70   A and B have 4 each, entitled and fair
// At 70 b1 ends. a2 starts again, pays 10 s with 4 GPUs (40 GPU-seconds), and has 80 s left: it ends at 160.
//   70-100  A has 8, entitled to 4, fair 8
//   100-160 A has 4, asks for 4, entitled to 4, fair 4
// A: had 160 + 200 + 240 + 240 = 840; entitled 160 x 4 = 640; fair 840; borrowed 4 x 20 + 4 x 30 = 200
TEST(QueueWatch, WithGuaranteesWhatIsBorrowedComesBackAtOnce) {
  EXPECT_EQ(figures(trace_of(kBorrowed), halves(), greedy("guarantees")),
            "B 200/200/200 +0 -0,-0 starved 0, 1: 0/0/0, lapsed 0, displaced 0/1 lost 0; 0 0 0\n"
            "A 840/640/840 +200 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 1/0 lost 40; 0 0 0\n");
}

// The same, and a2 has 15 s to stop. b1 holds its GPUs from 20 on, can use them from 35 on, and ends at 85.
// a2 pays until 95 and ends at 175.
// A: had 160 + 260 + 120 + 300 = 840; entitled 175 x 4 = 700; borrowed 4 x 20 + 4 x 15 = 140
TEST(QueueWatch, WhatIsReclaimedIsThereWhenTheDisplacedJobHasStopped) {
  Trace trace = trace_of(kBorrowed);
  trace.jobs[1].grace_us = 15 * kSecond;
  EXPECT_EQ(figures(trace, halves(), greedy("guarantees")),
            "B 260/260/260 +0 -0,-0 starved 0, 1: 15/15/15, lapsed 0, displaced 0/1 lost 0; 0 0 0\n"
            "A 840/700/840 +140 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 1/0 lost 40; 0 0 0\n");
}

// b1 waits from 20 to 100, when a1 and a2 end, and runs until 150.
// B: entitled 4 x 80 + 4 x 50 = 520, had 200, so 320 short and starved for 80 s; fair the same
// A: had 800; entitled 4 x 100 = 400; fair 8 x 20 + 4 x 80 = 480; borrowed 400
TEST(QueueWatch, WithLimitsAQueueStarvesUntilBorrowersEnd) {
  EXPECT_EQ(figures(trace_of(kBorrowed), halves(), greedy("limits")),
            "B 200/520/520 +0 -320,-320 starved 80, 1: 80/80/80, lapsed 0, displaced 0/0 lost 0; 0 0 0\n"
            "A 800/400/480 +400 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 0/0 lost 0; 0 0 0\n");
}

// a1 and a2 have all GPUs for two hours, b1 comes at 1.5 h and starts at 2 h.
//   hour 0  A had 8 of 8
//   hour 1  A had 8; its share was 8, then 4: 6. B had 0 of 4 x 0.5 = 2
//   hour 2  B had 4 of 4
TEST(QueueWatch, HoursSayHowFarAQueueWasFromItsShare) {
  const Trace trace =
      trace_of({in_queue("A", job("a1", 0, 7'200, 4)), in_queue("A", job("a2", 0, 7'200, 4)), in_queue("B", job("b1", 5'400, 3'600, 4))});

  EXPECT_EQ(figures(trace, halves(), greedy("limits")),
            "B 14400/21600/21600 +0 -7200,-7200 starved 1800, 1: 1800/1800/1800, lapsed 0, displaced 0/0 lost 0; 2 1 0\n"
            "A 57600/28800/50400 +28800 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 0/0 lost 0; 2 0 1000000\n");
}

// b1 (4 GPUs, 10 s) and b2 (4, 30 s) wait from 0 and 5 on behind a1 (8, 20 s). Both are entitled while B has nothing.
// At 20 both start, and only b1 is within: 20 s. b2 borrows, its entitlement has lapsed.
TEST(QueueWatch, OfJobsThatStartTogetherTheFirstTakeTheRoom) {
  const Trace trace =
      trace_of({in_queue("A", job("a1", 0, 20, 8)), in_queue("B", job("b1", 0, 10, 4)), in_queue("B", job("b2", 5, 30, 4))});

  // A asks for 8 and is entitled to 4: 80. Its fair share is 4 as well, as B asks for 4 or more.
  // B: entitled to 4 from 0 to 50 (200), fair 4 until 20, then 8 until 30, then 4: 80 + 80 + 80. Short of 80.
  EXPECT_EQ(figures(trace, halves(), greedy("limits")),
            "B 160/200/240 +40 -80,-80 starved 20, 1: 20/20/20, lapsed 1, displaced 0/0 lost 0; 0 0 0\n"
            "A 160/80/80 +80 -0,-0 starved 0, 0: 0/0/0, lapsed 0, displaced 0/0 lost 0; 0 0 0\n");
}

// As above, but B's guarantee is 0 until 60, and 4 from then on: b1 is entitled for 40 s.
TEST(QueueWatch, AChangedQuotaCountsFromItsInstantOn) {
  SimulationSettings settings = greedy("limits");
  settings.queue_changes = io::parse_events(R"({"schema": "berth.events.v1", "events": [
    {"at_s": 0, "event": "quota", "queue": {"id": "B"}},
    {"at_s": 60, "event": "quota", "queue": {"id": "B", "quotas": [{"gpu_type": "*", "guarantee": 4}]}}]})")
                               .queues;

  // Shares of 20-60: A gets its guarantee of 4, and the other 4 are divided: 2 each. A: 160 + 6 x 40 + 4 x 40 = 560. B: 80 + 160 + 200.
  EXPECT_EQ(figures(trace_of(kBorrowed), halves(), settings),
            "B 200/360/440 +0 -160,-240 starved 40, 1: 40/40/40, lapsed 0, displaced 0/0 lost 0; 0 0 0\n"
            "A 800/400/560 +400 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 0/0 lost 0; 0 0 0\n");
}

// A stands below P, which has the guarantee. What A has and is due, P has and is due.
TEST(QueueWatch, AQueueHasWhatThoseBelowItHave) {
  Snapshot cluster = halves();
  cluster.queues[1].parent = "P";
  cluster.queues[1].quotas.clear();
  cluster.queues.emplace_back().id = "P";
  cluster.queues.back().quotas = {{"*", 4, kUnlimited, kUnlimited}};

  const std::string of_a = " 840/640/840 +200 -0,-0 starved 0, 1: 0/0/0, lapsed 1, displaced 1/0 lost 40; 0 0 0\n";
  EXPECT_EQ(figures(trace_of(kBorrowed), cluster, greedy("guarantees")),
            "B 200/200/200 +0 -0,-0 starved 0, 1: 0/0/0, lapsed 0, displaced 0/1 lost 0; 0 0 0\nA" + of_a + "P" + of_a);
}

// A failed node takes its GPUs out of the shares: of 4 GPUs A and B get 2 each. b1 waits for ever, and the time after the last end does not
// count.
TEST(QueueWatch, TimeAfterTheLastEndDoesNotCount) {
  Snapshot cluster = io::uniform_cluster(2, 4);
  cluster.queues = halves().queues;
  SimulationSettings settings = greedy("limits");
  settings.events.events = {{10 * kSecond, ClusterEvent::What::kFail, cluster.nodes[1].id, -1, "", kNever, 0}};
  const Trace trace = trace_of({in_queue("A", job("a1", 0, 20, 4)), in_queue("B", job("b1", 15, 30, 8))});

  // A: 4 until 10, then as before: b1 asks for 8, A is guaranteed 4, and 4 are there: fair 4 until 20. B is guaranteed 4 from 15 on; its
  // job of 8 is never entitled.
  EXPECT_EQ(figures(trace, cluster, settings),
            "B 0/20/0 +0 -20,-0 starved 0, 0: 0/0/0, lapsed 0, displaced 0/0 lost 0; 0 0 0\n"
            "A 80/80/80 +0 -0,-0 starved 0, 1: 0/0/0, lapsed 0, displaced 0/0 lost 0; 0 0 0\n");
}

TEST(QueueWatch, QueuesTogetherHaveWhatJobsHave) {
  std::vector<TraceJob> jobs;
  for (int j = 0; j < 80; ++j) {
    TraceJob one = job(fmt::format("j{:02}", j), j * 97, 300 + j * 7919 % 4'000, 1 << j * 31 % 4);
    jobs.push_back(in_queue(j * 13 % 5 < 2 ? "A" : "B", one));
  }
  for (const char* policy : {"fifo", "srsf", "price", "themis"}) {
    for (const char* quotas : {"guarantees", "fair"}) {
      SimulationSettings settings;
      settings.request.policy = policy;
      settings.request.params = {{"quotas", quotas}};
      settings.overheads.general.costs.restart_us = 10 * kSecond;
      settings.failures = {20'000 * kSecond, 90'000 * kSecond, 600 * kSecond, 40'000 * kSecond, 90'000 * kSecond};
      std::vector<QueueFigures> queues;
      settings.queues = &queues;
      __int128 restarts = 0;
      const SimulationTotals totals = simulate(trace_of(jobs), halves(), settings, [&](const JobOutcome& one) {
        restarts += one.lost_gpu_us[static_cast<std::size_t>(Loss::kRestart)];
      });

      ASSERT_EQ(queues.size(), 2U);
      EXPECT_TRUE(queues[0].gpu_us + queues[1].gpu_us == totals.gpu_us) << policy;
      EXPECT_TRUE(queues[0].lost_gpu_us + queues[1].lost_gpu_us <= restarts) << policy;
      EXPECT_EQ(queues[0].displaced + queues[1].displaced, queues[0].displaced_for + queues[1].displaced_for) << policy;
      EXPECT_GT(totals.failures, 0);
      for (const QueueFigures& q : queues) {
        EXPECT_TRUE(q.gpu_us == q.guaranteed_gpu_us + q.borrowed_gpu_us - q.shortfall_gpu_us) << policy;
      }
    }
  }
}

TEST(QueueWatch, WithoutQueuesThereIsNothing) {
  EXPECT_EQ(figures(trace_of({job("a", 0, 10, 4)}), io::uniform_cluster(1, 8), greedy("guarantees")), "");
}

}  // namespace berth::sim::queue_watch_test
