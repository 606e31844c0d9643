// Quotas that change while jobs run.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/io/formats/simulation_files.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_quotas_test {
namespace {

TraceJob of_queue(const std::string& queue, TraceJob one) {
  one.queue = queue;
  return one;
}

// Eight GPUs; queues without quotas until an event states some.
Snapshot eight_gpus() {
  Snapshot cluster = io::uniform_cluster(1, 8);
  cluster.queues.resize(2);
  cluster.queues[0].id = "A";
  cluster.queues[1].id = "B";
  return cluster;
}

// `events`: rows of a document, without their brackets.
std::string ends_with_events(const Trace& trace, const std::string& events, std::vector<JobOutcome>* ended = nullptr) {
  if (ended != nullptr) ended->clear();
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", "greedy"}, {"packing", "count"}};
  settings.queue_changes = io::parse_events(R"({"schema": "berth.events.v1", "events": [)" + events + "]}", "e").queues;
  std::string rows;
  simulate(trace, eight_gpus(), settings, [&](const JobOutcome& one) {
    if (ended != nullptr) ended->push_back(one);
    rows += one.end == JobOutcome::End::kRejected ? fmt::format("{} rejected ", one.traced->id)
                                                  : fmt::format("{} {}-{} ", one.traced->id, one.start_us / kSecond, one.end_us / kSecond);
  });
  return rows;
}

std::string quota(std::int64_t at_s, const std::string& queue, const std::string& fields) {
  return fmt::format(R"({{"at_s": {}, "event": "quota", "queue": {{"id": "{}", "quotas": [{{"gpu_type": "*", {}}}]}}}})", at_s, queue,
                     fields);
}

// a1 and a2 have all GPUs, a3 waits for the first of them.
const std::vector<TraceJob> kThree{of_queue("A", job("a1", 0, 100, 4)), of_queue("A", job("a2", 0, 50, 4)),
                                   of_queue("A", job("a3", 5, 10, 4))};
// A has all GPUs; b1 waits.
const std::vector<TraceJob> kWaiting{of_queue("A", job("a1", 0, 100, 4)), of_queue("A", job("a2", 1, 100, 4)),
                                     of_queue("B", job("b1", 20, 10, 4))};

}  // namespace

TEST(SimulatedQuotas, AQueueOverALoweredLimitShrinksByEndsAlone) {
  EXPECT_EQ(ends_with_events(trace_of(kThree), ""), "a2 0-50 a3 50-60 a1 0-100 ");
  EXPECT_EQ(ends_with_events(trace_of(kThree), quota(10, "A", R"("limit": 4)")), "a2 0-50 a1 0-100 a3 100-110 ");
}

TEST(SimulatedQuotas, ARaisedLimitLetsJobsStartAtOnce) {
  EXPECT_EQ(ends_with_events(trace_of(kThree), quota(10, "A", R"("limit": 4)") + "," + quota(60, "A", R"("limit": 8)")),
            "a2 0-50 a3 60-70 a1 0-100 ");
  // In any order in the file; of one instant the last one holds.
  EXPECT_EQ(ends_with_events(trace_of(kThree), quota(60, "A", R"("limit": 4)") + "," + quota(60, "A", R"("limit": 8)") + "," +
                                                   quota(10, "A", R"("limit": 4)")),
            "a2 0-50 a3 60-70 a1 0-100 ");
}

TEST(SimulatedQuotas, AGuaranteeHoldsFromItsInstantOn) {
  EXPECT_EQ(ends_with_events(trace_of(kWaiting), ""), "a1 0-100 a2 1-101 b1 100-110 ");
  // a2 gives its GPUs to b1 at 30, and has 71 s left at 40.
  EXPECT_EQ(ends_with_events(trace_of(kWaiting), quota(30, "B", R"("guarantee": 4)")), "b1 30-40 a1 0-100 a2 1-111 ");
  // Withdrawn before b1 comes, it was never of use.
  EXPECT_EQ(ends_with_events(trace_of(kWaiting), quota(0, "B", R"("guarantee": 4)") + "," + quota(10, "B", R"("guarantee": 0)")),
            "a1 0-100 a2 1-101 b1 100-110 ");
}

TEST(SimulatedQuotas, WhatHoldsBeforeTheFirstSubmissionHoldsThen) {
  EXPECT_EQ(ends_with_events(trace_of(kThree), quota(0, "A", R"("limit": 4)")), "a1 0-100 a2 100-150 a3 150-160 ");
}

TEST(SimulatedQuotas, AJobBeyondTheLimitOfItsQueueWaitsUntilALaterEventRaisesIt) {
  EXPECT_EQ(ends_with_events(trace_of(kThree), quota(0, "A", R"("limit": 2)") + "," + quota(60, "A", R"("limit": 8)")),
            "a2 60-110 a3 110-120 a1 60-160 ");
  // Each waits for the first event that admits it; jobs that are within the limit are not held up.
  const std::vector<TraceJob> sizes{of_queue("A", job("a8", 10, 5, 8)), of_queue("A", job("a6", 11, 5, 6)),
                                    of_queue("A", job("a4", 12, 5, 4))};
  EXPECT_EQ(ends_with_events(trace_of(sizes), quota(0, "A", R"("limit": 4)") + "," + quota(50, "A", R"("limit": 6)") + "," +
                                                  quota(100, "A", R"("guarantee": 0)")),
            "a4 12-17 a6 50-55 a8 100-105 ");
  // A limit above the queue, and one that ends as the queue moves away from it.
  const std::string below = R"({"at_s": 0, "event": "quota", "queue": {"id": "A", "parent": "B"}})";
  const std::string away = R"({"at_s": 70, "event": "quota", "queue": {"id": "A"}})";
  EXPECT_EQ(ends_with_events(trace_of(sizes), below + "," + quota(0, "B", R"("limit": 5)") + "," + quota(60, "B", R"("limit": 8)")),
            "a4 12-17 a8 60-65 a6 65-70 ");
  EXPECT_EQ(ends_with_events(trace_of(sizes), below + "," + quota(0, "B", R"("limit": 5)") + "," + away), "a4 12-17 a8 70-75 a6 75-80 ");
}

TEST(SimulatedQuotas, AJobThatNoLaterEventAdmitsIsRejectedAtOnce) {
  const std::vector<TraceJob> one{of_queue("A", job("a8", 10, 5, 8))};
  std::vector<JobOutcome> ended;
  const auto rejected_at = [&](const std::string& events) {
    const std::string rows = ends_with_events(trace_of(one), events, &ended);
    return rows == "a8 rejected " ? ended.front().end_us / kSecond : -1;
  };
  const std::string low = quota(0, "A", R"("limit": 4)");
  EXPECT_EQ(rejected_at(low), 10);
  EXPECT_EQ(rejected_at(low + "," + quota(60, "A", R"("limit": 6)")), 10);
  EXPECT_EQ(rejected_at(low + "," + quota(60, "B", R"("limit": 8)")), 10);
  // Of one instant the last one holds.
  EXPECT_EQ(rejected_at(low + "," + quota(60, "A", R"("limit": 8)") + "," + quota(60, "A", R"("limit": 7)")), 10);
  // More than the cluster has.
  const std::vector<TraceJob> large{of_queue("A", job("a9", 10, 5, 9))};
  EXPECT_EQ(ends_with_events(trace_of(large), low + "," + quota(60, "A", R"("limit": 16)"), &ended), "a9 rejected ");
  EXPECT_EQ(ended.front().end_us, 10 * kSecond);
  EXPECT_EQ(ended.front().reason, "needs 9 GPUs; the cluster has 8");
}

TEST(SimulatedQuotas, AJobIsRejectedIfItsLimitRisesAfterItsHardDeadline) {
  std::vector<TraceJob> two{of_queue("A", job("late", 10, 5, 8)), of_queue("A", job("met", 11, 5, 8))};
  for (TraceJob& one : two) one.deadline_hard = true;
  two[0].deadline_us = 64 * kSecond;
  two[1].deadline_us = 65 * kSecond;
  EXPECT_EQ(ends_with_events(trace_of(two), quota(0, "A", R"("limit": 4)") + "," + quota(60, "A", R"("limit": 8)")),
            "late rejected met 60-65 ");
}

// A has all GPUs. Its limit falls below that; later b1, which B is entitled to, displaces its job.
TEST(SimulatedQuotas, ADisplacedJobWaitsUntilTheLimitAdmitsItAgain) {
  const std::vector<TraceJob> two{of_queue("A", job("a1", 0, 1000, 8)), of_queue("B", job("b1", 200, 50, 2))};
  const std::string low = quota(0, "B", R"("guarantee": 8)") + "," + quota(100, "A", R"("limit": 4)");
  std::vector<JobOutcome> ended;
  const auto lost = [](const JobOutcome& one) {
    return static_cast<std::int64_t>(one.lost_gpu_us[static_cast<std::size_t>(Loss::kLostWork)]);
  };
  // 800 of its 1000 s are left.
  EXPECT_EQ(ends_with_events(trace_of(two), low + "," + quota(300, "A", R"("guarantee": 0)"), &ended), "b1 200-250 a1 0-1100 ");
  EXPECT_EQ(ended[1].starts, 2);
  EXPECT_EQ(ended[1].gpu_us, 8 * 1000 * kSecond);
  EXPECT_EQ(lost(ended[1]), 0);

  // The limit stays: what a1 did in 200 s is lost.
  for (const std::string& events : {low, low + "," + quota(300, "A", R"("limit": 2)")}) {
    EXPECT_EQ(ends_with_events(trace_of(two), events, &ended), "b1 200-250 a1 rejected ");
    EXPECT_EQ(ended[1].end_us, 250 * kSecond);
    EXPECT_EQ(ended[1].gpu_us, 8 * 200 * kSecond);
    EXPECT_EQ(lost(ended[1]), 8 * 200 * kSecond);
  }
}

TEST(SimulatedQuotas, AQueueMayMoveBelowAnother) {
  const std::string below = R"({"at_s": 0, "event": "quota", "queue": {"id": "A", "parent": "B"}})";
  // The limit of B counts for the jobs of A, too.
  EXPECT_EQ(ends_with_events(trace_of(kWaiting), below + "," + quota(0, "B", R"("limit": 4)")), "a1 0-100 a2 100-200 b1 200-210 ");
}

TEST(SimulatedQuotas, SayWhereAnEventIsWrong) {
  const auto problem = [](const std::string& queue) {
    const std::string event = R"({"at_s": 3, "event": "quota", "queue": )" + queue + "}";
    return test::problem_of([&] { ends_with_events(trace_of(kThree), quota(10, "A", R"("limit": 4)") + "," + event); });
  };

  EXPECT_EQ(problem(R"({"id": "C"})"), "e: /events/1/queue/id: the cluster has no queue 'C'; did you mean 'A'?");
  EXPECT_EQ(problem(R"({"id": "A", "parent": "C"})"), "e: /events/1/queue/parent: there is no queue 'C'; did you mean 'B'?");
  EXPECT_EQ(problem(R"({"id": "A", "parent": "A"})"), "e: /events/1/queue/parent: queue 'A' would be its own ancestor");
  EXPECT_EQ(problem(R"({"id": "A", "quotas": [{"gpu_type": "H", "limit": 1}]})"),
            "e: /events/1/queue/quotas/0/gpu_type: there is no GPU type 'H' ('*' stands for all together)");
  EXPECT_EQ(problem(R"({"id": "A", "quotas": [{"gpu_type": "*"}, {"gpu_type": "*"}]})"),
            "e: /events/1/queue/quotas/1/gpu_type: '*' has a quota already");
  // Each alone is a tree.
  EXPECT_EQ(problem(R"({"id": "A", "parent": "B"}}, {"at_s": 4, "event": "quota", "queue": {"id": "B", "parent": "A"})"),
            "e: /events/2/queue/parent: queue 'B' would be its own ancestor");
  EXPECT_EQ(problem("{\"id\": \"" + std::string(78, 'x') + "\u00fc and more\"}"),
            "e: /events/1/queue/id: the cluster has no queue '" + std::string(77, 'x') + "...'");
}

}  // namespace berth::sim::simulated_quotas_test
