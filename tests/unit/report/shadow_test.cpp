#include "host/report/shadow.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"

namespace berth::report::shadow_test {
namespace {

// One node of 8 GPUs at an instant, with these jobs.
ClusterState to_index(int now_s, const std::string& jobs) {
  return io::parse_state(R"({"schema": "berth.snapshot.v1", "now_s": )" + std::to_string(now_s) +
                         R"(, "gpu_types": [{"id": "A"}], "nodes": [{"id": "n", "gpu_type": "A", "gpus": 8}], "jobs": [)" + jobs + "]}");
}
std::string waits(const std::string& id, int gpus) {
  return R"({"id": ")" + id + R"(", "submit_s": 0, "gpus": )" + std::to_string(gpus) + "}";
}
// Running for this long, on the GPUs from `first` on.
std::string runs(const std::string& id, int gpus, int first, int run_s) {
  std::string list;
  for (int g = first; g < first + gpus; ++g) list += (list.empty() ? "" : ", ") + std::to_string(g);
  return R"({"id": ")" + id + R"(", "submit_s": 0, "gpus": )" + std::to_string(gpus) + R"(, "state": "running", "progress": {"run_s": )" +
         std::to_string(run_s) + R"(}, "allocation": {"shape": ")" + std::to_string(gpus) + R"(", "entries": [{"node": "n", "gpus": [)" +
         list + "]}]}}";
}

ShadowReport shadow(const std::vector<ClusterState>& states, const std::string& policy = "fifo", TimeUs slack = 0) {
  Request request;
  request.policy = policy;
  Shadow day(request, slack);
  for (const ClusterState& state : states) day.add(state, "");
  return day.finish();
}

std::vector<ClusterState> list(ClusterState a, ClusterState b) {
  std::vector<ClusterState> all;
  all.push_back(std::move(a));
  all.push_back(std::move(b));
  return all;
}

}  // namespace

TEST(Shadow, AJobThatReallyStartsLaterSavesTheTimeBetween) {
  // Both fit at once; in the recording the second one started 40 s after the first state.
  std::vector<ClusterState> states =
      list(to_index(100, runs("a", 4, 0, 50) + "," + waits("b", 4)), to_index(200, runs("a", 4, 0, 150) + "," + runs("b", 4, 4, 60)));

  const ShadowReport report = shadow(states);

  ASSERT_EQ(report.differences.size(), 1u);
  const ShadowDifference& d = report.differences[0];
  EXPECT_EQ(d.kind, ShadowDifference::Kind::kEarlier);
  EXPECT_EQ(d.job, "b");
  EXPECT_EQ(d.planned_us, 100 * kSecond);
  EXPECT_EQ(d.really_us, 140 * kSecond);
  EXPECT_EQ(d.planned_place, "n[4-7]");
  EXPECT_EQ(report.wait_saved_us, 40 * kSecond);
  EXPECT_EQ(report.gpu_us, 800 * kSecond);
  EXPECT_EQ(report.real_gpu_us, (400 + 240) * kSecond);
  EXPECT_EQ(report.planned_gpu_us, 800 * kSecond);
  EXPECT_EQ(report.same_starts, 0);
}

TEST(Shadow, StartsWithinTheSlackAreTheSame) {
  std::vector<ClusterState> states = list(to_index(100, waits("b", 4)), to_index(200, runs("b", 4, 4, 60)));

  const ShadowReport report = shadow(states, "fifo", 40 * kSecond);

  EXPECT_TRUE(report.differences.empty());
  EXPECT_EQ(report.same_starts, 1);
  EXPECT_EQ(report.other_nodes, 1) << "n[0-3] planned, n[4-7] really";
}

TEST(Shadow, AJobCountsFromTheFirstStateAtWhichBerthStartsIt) {
  std::vector<ClusterState> states = list(to_index(100, waits("b", 4)), to_index(200, waits("b", 4)));
  states.push_back(to_index(300, waits("b", 4)));

  const ShadowReport report = shadow(states);

  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_EQ(report.differences[0].planned_us, 100 * kSecond);
  EXPECT_EQ(report.differences[0].really_us, kNever);
  EXPECT_EQ(report.still_waiting, 1);
  EXPECT_EQ(report.wait_saved_us, 200 * kSecond);
}

TEST(Shadow, AJobThatReallyStartedWhileBerthLetsItWaitSaysWhy) {
  // First come, first served: the small one waits behind the large one. In the recording it was backfilled.
  std::vector<ClusterState> states =
      list(to_index(100, runs("a", 4, 0, 50) + "," + waits("b-large", 8) + "," + waits("c-small", 4)),
           to_index(200, runs("a", 4, 0, 150) + "," + waits("b-large", 8) + "," + runs("c-small", 4, 4, 90)));

  const ShadowReport report = shadow(states);

  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_EQ(report.differences[0].kind, ShadowDifference::Kind::kLater);
  EXPECT_EQ(report.differences[0].really_us, 110 * kSecond);
  EXPECT_EQ(report.differences[0].real_place, "n[4-7]");
  EXPECT_NE(report.differences[0].reason.find("behind job b-large"), std::string::npos) << report.differences[0].reason;
}

TEST(Shadow, WhatBecameFreeAfterTheRecordedStateIsNoDifference) {
  std::vector<ClusterState> states = list(to_index(100, runs("a", 8, 0, 50) + "," + waits("b", 8)), to_index(200, runs("b", 8, 0, 60)));

  const ShadowReport report = shadow(states);

  EXPECT_TRUE(report.differences.empty());
  EXPECT_EQ(report.unseen, 1);
}

TEST(Shadow, AJobThatBerthDisplacesIsReportedOnce) {
  const std::string long_one = R"({"id": "a", "submit_s": 0, "gpus": 8, "state": "running", "estimate": {"run_s": 90000},
    "allocation": {"shape": "8", "entries": [{"node": "n", "gpus": [0, 1, 2, 3, 4, 5, 6, 7]}]}})";
  const std::string short_one = R"({"id": "b", "submit_s": 0, "gpus": 8, "estimate": {"run_s": 10}})";
  std::vector<ClusterState> states = list(to_index(100, long_one + "," + short_one), to_index(200, long_one + "," + short_one));

  const ShadowReport report = shadow(states, "srsf");

  ASSERT_EQ(report.differences.size(), 2u);
  EXPECT_EQ(report.differences[0].kind, ShadowDifference::Kind::kEarlier);
  EXPECT_EQ(report.differences[1].kind, ShadowDifference::Kind::kDisplaced);
  EXPECT_EQ(report.differences[1].job, "a");
  EXPECT_EQ(report.differences[1].reason, "displaced by job b");
}

TEST(Shadow, JobsThatWereNotSeenToStartAreCounted) {
  std::vector<ClusterState> states = list(to_index(100, waits("gone", 4)), to_index(200, runs("new", 4, 0, 20)));

  const ShadowReport report = shadow(states);

  EXPECT_EQ(report.unseen, 2);
  EXPECT_TRUE(report.differences.empty());
}

TEST(Shadow, TimesBeyondWhatCanBeCountedStandAtTheLimit) {
  const auto far = [](const std::string& now_s, const std::string& jobs) {
    std::string nodes;
    for (int n = 0; n < 4; ++n) {
      nodes += (n == 0 ? "" : ", ") + (R"({"id": "n)" + std::to_string(n)) + R"(", "gpu_type": "A", "gpus": 64})";
    }
    return io::parse_state(R"({"schema": "berth.snapshot.v1", "now_s": )" + now_s + R"(, "gpu_types": [{"id": "A"}], "nodes": [)" + nodes +
                           R"(], "jobs": [)" + jobs + "]}");
  };
  std::string jobs;
  for (int j = 0; j < 40; ++j) jobs += (j == 0 ? "" : ", ") + waits("j" + std::to_string(j), 1);

  const ShadowReport report = shadow(list(far("0", jobs), far("288230376151", jobs)));

  EXPECT_EQ(report.gpu_us, INT64_MAX);
  EXPECT_EQ(report.wait_saved_us, INT64_MAX);
  EXPECT_EQ(report.planned_gpu_us, INT64_MAX);
}

TEST(Shadow, StatesMustFollowEachOther) {
  Shadow day(Request{}, 0);
  day.add(to_index(100, waits("a", 1)), "");

  EXPECT_THROW(day.add(to_index(99, waits("a", 1)), ""), InvalidArgument);
  EXPECT_THROW(day.add(to_index(200, waits("a", 1)), "2020-01-01T00:00:00"), InvalidArgument);
}

TEST(Shadow, AStateOfTheSameInstantIsLeftOut) {
  std::vector<ClusterState> states = list(to_index(100, waits("a", 1)), to_index(100, waits("a", 1)));
  states.push_back(to_index(160, waits("a", 1)));

  const ShadowReport report = shadow(states);

  EXPECT_EQ(report.states, 2);
  EXPECT_EQ(report.same_instant, 1);
  EXPECT_EQ(report.wait_saved_us, 60 * kSecond);
}

}  // namespace berth::report::shadow_test
