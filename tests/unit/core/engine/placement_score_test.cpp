// The best places of each job, computed by hand.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/placement.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::placement_score_test {
namespace {

using test::add_job;
using test::run_on;

/// "n0 n3" for job i.
std::string places(const Candidates& all, std::size_t i) {
  std::string text;
  for (const Candidate& c : all.of(i)) text += (text.empty() ? "" : " ") + std::string(c.where);
  return text;
}

std::string refusal(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// n0 has 8 free GPUs, n1 has 5, n2 has 3, n3 has 3; racks p/r0 and p/r1.
Snapshot filled() {
  Snapshot s = test::two_racks();
  run_on(add_job(s, "h1", 3), "n1", {0, 1, 2});
  run_on(add_job(s, "h2", 5), "n2", {0, 1, 2, 3, 4});
  run_on(add_job(s, "h3", 5), "n3", {3, 4, 5, 6, 7});
  return s;
}

TEST(ScoreCandidates, TightestNodeFirstAndTiesByRank) {
  Snapshot s = filled();
  add_job(s, "w", 2).estimate.run_us = 10 * kSecond;
  const ClusterState state(s);
  ScoreRequest request;
  request.k = 16;

  const Candidates all = Placement().score(state, request);

  ASSERT_EQ(all.job, std::vector<std::int32_t>{state.find_job("w")});
  EXPECT_EQ(places(all, 0), "n2 n3 n1 n0") << "four nodes, though 16 were asked for";
  const Candidate& best = all.of(0)[0];
  EXPECT_EQ(best.shape, 0);
  EXPECT_EQ(best.gpu_type, "a100");
  EXPECT_EQ(best.node, state.find_node("n2"));
  EXPECT_EQ(best.gpu_time_ms, 2 * 10'000);
  EXPECT_EQ(best.leftover, 1);
  EXPECT_EQ(best.score, 20'001);
}

TEST(ScoreCandidates, DomainsAreNamedByPathAndCostsAreAdded) {
  Snapshot s = filled();
  add_job(s, "w", 6).estimate.run_us = kSecond;
  const ClusterState state(s);
  ScoreRequest request;
  request.level.level = "rack";
  request.leftover_weight = 100;
  request.k = 2;
  Placement placement;
  EXPECT_EQ(places(placement.score(state, request), 0), "p/r1 p/r0");
  request.domain_cost = {{"p/r1", 800}, {"p/r0", -10}};

  const Candidates all = placement.score(state, request);

  EXPECT_EQ(places(all, 0), "p/r0 p/r1");
  const Candidate& first = all.of(0)[0];
  EXPECT_EQ(first.node, -1);
  EXPECT_EQ(first.leftover, 7);
  EXPECT_EQ(first.domain_cost, -10);
  EXPECT_EQ(first.score, 6'000 + 700 - 10);
  EXPECT_EQ(all.of(0)[1].domain_cost, 800);
  EXPECT_EQ(all.of(0)[1].score, 6'000 + 0 + 800);
}

TEST(ScoreCandidates, WholeClusterIsAPlaceToo) {
  Snapshot s = filled();
  add_job(s, "w", 19);
  const ClusterState state(s);
  ScoreRequest request;
  request.level.level = "cluster";

  const Candidates all = Placement().score(state, request);

  EXPECT_EQ(places(all, 0), "the cluster");
  EXPECT_EQ(all.of(0)[0].leftover, 0);
}

TEST(ScoreCandidates, TakenGpusAreNotFree) {
  Snapshot s = filled();
  add_job(s, "w", 3);
  const ClusterState state(s);
  Placement placement;
  ScoreRequest request;
  request.k = 4;
  request.taken = {{"n2"}, {"n3", 0x1}, {"n0", 0xF}, {"n0", 0x3C}};

  EXPECT_EQ(places(placement.score(state, request), 0), "n1") << "n0 keeps 2, n3 keeps 2";
  request.taken.clear();
  EXPECT_EQ(places(placement.score(state, request), 0), "n2 n3 n1 n0");
}

TEST(ScoreCandidates, JobsByIdInTheOrderAskedAndNoneWhereNothingFits) {
  Snapshot s = filled();
  add_job(s, "x", 9);
  add_job(s, "y", 1);
  const ClusterState state(s);
  ScoreRequest request;
  request.jobs = {"y", "x", "h1"};

  const Candidates all = Placement().score(state, request);

  EXPECT_EQ(all.job, (std::vector<std::int32_t>{state.find_job("y"), state.find_job("x"), state.find_job("h1")}));
  EXPECT_EQ(all.begin, (std::vector<std::int32_t>{0, 1, 1, 2}));
}

TEST(ScoreCandidates, NoJobWaits) {
  const ClusterState state(filled());

  const Candidates all = Placement().score(state, {});

  EXPECT_TRUE(all.job.empty());
  EXPECT_EQ(all.begin, std::vector<std::int32_t>{0});
}

TEST(ScoreCandidates, RefusesWhatItDoesNotKnowAndSaysWhat) {
  Snapshot s = filled();
  add_job(s, "w", 1);
  const ClusterState state(s);
  Placement placement;
  const auto say = [&](const std::function<void(ScoreRequest&)>& change) {
    ScoreRequest request;
    change(request);
    return refusal([&] { placement.score(state, request); });
  };

  EXPECT_EQ(say([](ScoreRequest& r) { r.jobs = {"w", "missing"}; }), "unknown job 'missing'");
  EXPECT_EQ(say([](ScoreRequest& r) { r.level.level = "shelf"; }),
            "unknown level 'shelf' of topology switch (known: node, rack, pod, cluster)");
  EXPECT_EQ(say([](ScoreRequest& r) { r.domain_cost = {{"n9", 1}}; }), "unknown node 'n9'");
  EXPECT_EQ(say([](ScoreRequest& r) {
              r.level.level = "rack";
              r.domain_cost = {{"p", 1}};
            }),
            "no domain 'p' at level 'rack' of topology switch");
  EXPECT_EQ(say([](ScoreRequest& r) { r.taken = {{"n7"}}; }), "unknown node 'n7'");
  EXPECT_EQ(say([](ScoreRequest& r) { r.k = 0; }), "k is 0, not in 1..16");
  EXPECT_EQ(say([](ScoreRequest& r) { r.k = 17; }), "k is 17, not in 1..16");
  EXPECT_EQ(refusal([] { Placement(Backend::kCpu, 0); }), "threads is 0, not in 1..4096");
  EXPECT_EQ(placement.score(state, {}).rows.size(), 1U) << "still of use";
}

}  // namespace
}  // namespace berth::placement_score_test
