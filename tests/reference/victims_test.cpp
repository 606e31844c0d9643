#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/backend/check_victims.hpp"
#include "tests/support/victims/random_victims.hpp"

namespace berth::test::victims_test {
namespace {

using kernel::kNone;
using kernel::VictimsOutcome;
using Candidates = std::vector<std::int32_t>;

/// Builds a case by hand. Each candidate is a job, and preference is the order in which they are added.
struct VictimsByHand {
  ProblemBuilder builder;
  VictimsCase one;
  std::vector<std::int32_t> jobs, priorities;
  std::vector<std::int64_t> costs;
  std::vector<std::uint64_t> held;  // of each node
  std::vector<GroupSpec> asked;

  int node(NodeSpec spec) {
    held.push_back(0);
    spec.path[kSwitchTopology] = "rack";
    return builder.node(spec);
  }
  int node(std::int32_t gpus = 8) {
    NodeSpec spec;
    spec.gpus = gpus;
    return node(spec);
  }
  /// A job on several nodes with that many GPUs of each, and cores there.
  void job(const std::vector<int>& nodes, std::int32_t gpus, std::int64_t cost, std::int32_t priority = 0, std::int64_t cpu = 0) {
    jobs.push_back(builder.gang(1));
    costs.push_back(cost);
    priorities.push_back(priority);
    for (const int at : nodes) {
      HeldSpec spec;
      spec.node = at;
      auto& taken = held[static_cast<std::size_t>(at)];
      for (std::int32_t left = gpus; left > 0; --left) {
        const std::uint64_t bit = ~taken & (taken + 1);
        spec.mask |= bit;
        taken |= bit;
      }
      spec.cpu = cpu;
      builder.hold(jobs.back(), spec);
    }
  }
  /// Asks for members of N GPUs in the whole cluster.
  VictimsBuffers ask(std::int32_t members, std::int32_t gpus, std::int64_t cpu = 0) {
    GroupSpec group;
    group.members = members;
    group.gpus = gpus;
    group.cpu = cpu;
    const int demand = builder.demand({{group}, 0, {}});
    one.problem = builder.build();
    for (std::size_t i = 0; i < jobs.size(); ++i) one.add_candidate(jobs[i], priorities[i], costs[i]);
    one.ask_all(demand);
    return answer();
  }
  /// The reference's answer, which is that of the CPU backend.
  VictimsBuffers answer() const {
    core::check_victims(one.problem.view(), one.request());
    VictimsBuffers want = victims(*core::make_reference_backend(), one);
    EXPECT_EQ(victims(*core::make_cpu_backend(2), one), want);
    return want;
  }
};

TEST(VictimsReference, TheExampleOfThePage) {
  VictimsByHand by;
  const int a = by.node(), b = by.node();
  by.job({a}, 4, 5);
  by.job({a}, 4, 9);
  by.job({b}, 2, 3);
  by.job({b}, 2, 4);
  by.job({b}, 4, 8);

  const VictimsBuffers got = by.ask(1, 8);

  // Node a gives its 8 GPUs for 5 + 9, node b for 3 + 4 + 8.
  EXPECT_EQ(got.outcome[0], VictimsOutcome::kChosen);
  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{0, 1}));
  EXPECT_EQ(got.cost[0], 14);
  EXPECT_EQ(got.count[0], 2);
  EXPECT_EQ(got.members[0], 2);
}

TEST(VictimsReference, OfEightJobsTheCheapestThreeLeave) {
  VictimsByHand by;
  const int a = by.node();
  for (const std::int64_t cost : {7, 3, 9, 3, 8, 2, 9, 5}) by.job({a}, 1, cost);

  const VictimsBuffers got = by.ask(1, 3);

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{1, 3, 5}));
  EXPECT_EQ(got.cost[0], 8);
  EXPECT_EQ(got.members[0], 2);
}

TEST(VictimsReference, OneLargeJobLeavesInPlaceOfSeveralCheapOnes) {
  VictimsByHand by;
  const int a = by.node();
  by.job({a}, 1, 1);
  by.job({a}, 1, 2);
  by.job({a}, 2, 4);
  by.job({a}, 4, 5);

  // 4 GPUs cost 1 + 2 + 4 = 7, or 5. The cheapest jobs first, until it fits, would be the former.
  EXPECT_EQ(by.ask(1, 4).chosen_of(by.one, 0), (Candidates{3}));
}

TEST(VictimsReference, OnlyGpusThatLackBecomeFree) {
  VictimsByHand by;
  const int a = by.node();
  by.job({a}, 3, 6);
  by.job({a}, 2, 4);  // 3 GPUs stay free

  EXPECT_EQ(by.ask(1, 5).chosen_of(by.one, 0), (Candidates{1}));
}

TEST(VictimsReference, TiesFallToFewerJobsThenToThePreferredOnesThenToTheLowerNode) {
  VictimsByHand fewer;
  const int a = fewer.node();
  for (const std::int32_t gpus : {2, 2, 4}) fewer.job({a}, gpus, gpus);
  EXPECT_EQ(fewer.ask(1, 4).chosen_of(fewer.one, 0), (Candidates{2}));

  VictimsByHand preferred;
  const int b = preferred.node();
  for (int i = 0; i < 4; ++i) preferred.job({b}, 2, 1);
  EXPECT_EQ(preferred.ask(1, 4).chosen_of(preferred.one, 0), (Candidates{0, 1}));

  VictimsByHand lower;
  const int c = lower.node(4), d = lower.node(4);
  lower.job({d}, 4, 1);
  lower.job({c}, 4, 1);
  EXPECT_EQ(lower.ask(1, 4).chosen_of(lower.one, 0), (Candidates{1}));
}

TEST(VictimsReference, AGangOverFourNodesIsCheaperThanFourJobs) {
  VictimsByHand by;
  std::vector<int> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(by.node());
  for (const int at : nodes) by.job({at}, 4, 3);
  by.job(nodes, 4, 10);

  const VictimsBuffers got = by.ask(4, 4);

  // 3 for a member, or 10 for four of them: 2.5 each.
  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{4}));
  EXPECT_EQ(got.cost[0], 10);
  EXPECT_EQ(got.members[0], 8);
}

TEST(VictimsReference, AGangIsWorthOnlyTheMembersThatLack) {
  VictimsByHand by;
  std::vector<int> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(by.node());
  for (const int at : nodes) by.job({at}, 4, 3);
  by.job(nodes, 4, 10);

  // Two members lack: 3 + 3 is less than 10.
  EXPECT_EQ(by.ask(2, 4).chosen_of(by.one, 0), (Candidates{0, 1}));
}

TEST(VictimsReference, PriorityCountsBeforeCost) {
  VictimsByHand by;
  const int a = by.node(4), b = by.node(4);
  by.job({a}, 4, 1, 5);
  by.job({b}, 2, 100, 2);
  by.job({b}, 2, 100, -3);

  const VictimsBuffers got = by.ask(1, 4);

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{1, 2}));
  EXPECT_EQ(got.priority[0], 2);
  EXPECT_EQ(got.cost[0], 200);
}

TEST(VictimsReference, AJobThatMakesRoomForTwoIsBestByMember) {
  VictimsByHand by;
  const int a = by.node();
  by.job({a}, 4, 6);
  by.job({a}, 2, 4);
  by.job({a}, 2, 4);

  // Members of 2 GPUs: 4 for one, or 6 for two, which is 3 each.
  EXPECT_EQ(by.ask(2, 2).chosen_of(by.one, 0), (Candidates{0}));
}

TEST(VictimsReference, AJobThatALaterOneMakesNeedlessStays) {
  VictimsByHand by;
  const int a = by.node(4), b = by.node(4);
  by.job({a, b}, 3, 5);
  by.job({b}, 1, 2);
  by.job({a}, 1, 4);

  // Members of 3 GPUs. The gang alone makes room for two: 2.5 each. On a, job 2 would free 1 of 3.
  EXPECT_EQ(by.ask(2, 3).chosen_of(by.one, 0), (Candidates{0}));

  VictimsByHand less;
  const int c = less.node(4), d = less.node(6);
  less.job({c}, 2, 1);     // 1 for a member
  less.job({c, d}, 2, 9);  // 4.5 each for two
  less.job({d}, 4, 14);    // 7 each for two
  // Three members of 2 GPUs: job 0, then the gang for two.
  EXPECT_EQ(less.ask(3, 2).chosen_of(less.one, 0), (Candidates{0, 1}));
}

TEST(VictimsReference, WhatTheLastSetMakesNeedlessIsGivenBack) {
  VictimsByHand by;
  const int a = by.node(4);
  by.job({a}, 2, 2);
  by.job({a}, 2, 3);
  const int b = by.node(4);
  by.job({b}, 4, 8);

  // Members of 2 GPUs: 2, then 3, then the third: 8 for one that lacks. It makes room for two, so job 1 stays, which is dearer than job 0.
  EXPECT_EQ(by.ask(3, 2).chosen_of(by.one, 0), (Candidates{0, 2}));
}

TEST(VictimsReference, CoresLimit) {
  VictimsByHand by;
  NodeSpec spec;
  spec.cpu = 16'000;
  const int a = by.node(spec);
  by.job({a}, 4, 1, 0, 2'000);   // GPUs without many cores
  by.job({a}, 2, 5, 0, 12'000);  // cores
  by.job({a}, 2, 2, 0, 2'000);

  // 4 GPUs with 8,000 milli-cores. Job 0 has the GPUs for 1, but 6,000 milli-cores lack: job 2 has 2,000 for 2, and job 1 enough for 5.
  // All three are added by cost, and then 2 and 0 go back where job 1 and one of them suffice.
  const VictimsBuffers got = by.ask(1, 4, 8'000);

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{0, 1}));
  EXPECT_EQ(got.cost[0], 6);
}

TEST(VictimsReference, WithEnoughCoresTheCheapestByGpusIsExact) {
  VictimsByHand by;
  NodeSpec spec;
  spec.cpu = 16'000;
  const int a = by.node(spec);
  for (int i = 0; i < 4; ++i) by.job({a}, 1, 2, 0, 1'000);
  by.job({a}, 4, 7, 0, 4'000);

  // Jobs by cost would be the first four, for 8.
  EXPECT_EQ(by.ask(1, 4, 4'000).chosen_of(by.one, 0), (Candidates{4}));
}

TEST(VictimsReference, OverdrawnCoresComeBackFirst) {
  VictimsByHand by;
  NodeSpec spec;
  spec.cpu = 4'000;
  const int a = by.node(spec);
  by.job({a}, 1, 1, 0, 6'000);
  by.job({a}, 1, 1, 0, 3'000);  // 5,000 more than there are

  const VictimsBuffers got = by.ask(1, 1, 2'000);  // 6 GPUs are free

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{0, 1}));
  EXPECT_EQ(got.members[0], 2);
}

TEST(VictimsReference, NoWithEvidence) {
  VictimsByHand by;
  const int a = by.node(), b = by.node();
  by.job({a}, 6, 1);
  by.job({b}, 6, 1);
  by.job({b}, 2, 1);
  by.jobs.pop_back(), by.costs.pop_back(), by.priorities.pop_back();  // may not leave

  const VictimsBuffers got = by.ask(5, 4);

  EXPECT_EQ(got.outcome[0], VictimsOutcome::kNoRoom);
  EXPECT_EQ(got.members[0], 3);
  EXPECT_EQ(got.count[0], 0);
  EXPECT_EQ(got.chosen, (std::vector<std::uint8_t>{0, 0}));
}

TEST(VictimsReference, YesWithoutVictims) {
  VictimsByHand by;
  by.node(), by.node();
  by.job({0}, 2, 1);

  const VictimsBuffers got = by.ask(3, 3);

  EXPECT_EQ(got.outcome[0], VictimsOutcome::kFits);
  EXPECT_EQ(got.members[0], 4);
  EXPECT_EQ(got.chosen, (std::vector<std::uint8_t>{0}));
}

TEST(VictimsReference, ADrainedNodeFreesNothing) {
  VictimsByHand by;
  const int a = by.node();
  NodeSpec closed;
  closed.closed = true;
  const int b = by.node(closed);
  by.job({a}, 8, 50);
  by.job({b}, 8, 1);

  const VictimsBuffers got = by.ask(1, 8);

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{0}));
  EXPECT_EQ(got.members[0], 1);
}

TEST(VictimsReference, NodesThatCloseBeforeTheJobEndsDoNotCount) {
  VictimsByHand by;
  NodeSpec ends;
  ends.until = 100 * kSecond;
  const int a = by.node(ends), b = by.node();
  by.job({a}, 8, 1);
  by.job({b}, 8, 5);
  by.ask(1, 8);
  const std::int32_t demand = by.one.demand[0];
  by.one.ask(demand, 0, kNone, 0, 2, 100 * kSecond);
  by.one.ask(demand, 0, kNone, 0, 2, 100 * kSecond + 1);

  const VictimsBuffers got = by.answer();

  EXPECT_EQ(got.chosen_of(by.one, 0), (Candidates{1}));  // its end is not known
  EXPECT_EQ(got.chosen_of(by.one, 1), (Candidates{0}));
  EXPECT_EQ(got.chosen_of(by.one, 2), (Candidates{1}));
}

TEST(VictimsReference, QuestionsAboutNodesAndDomainsShareCandidates) {
  ProblemBuilder builder;
  builder.rack("a", {4, 4}).rack("b", {4, 4});
  for (int at = 0; at < 4; ++at) {
    HeldSpec held;
    held.node = at;
    held.mask = 0xf;
    builder.hold(builder.gang(1, 4), held);
  }
  VictimsCase one;
  one.problem = builder.build();
  for (std::int32_t job = 0; job < 4; ++job) one.add_candidate(job, 0, 10 - job);
  const std::int32_t first = one.problem.topology[kSwitchTopology].level_begin[1];
  one.ask(0, kSwitchTopology, first, 0, 4);
  one.ask(0, kSwitchTopology, first + 1, 0, 4);
  one.ask(0, kNone, 1, 0, 4);  // node 1
  one.ask(0, kNone, 1, 2, 4);  // by candidates that hold nothing of it

  const VictimsBuffers got = victims(*core::make_reference_backend(), one);

  EXPECT_EQ(got.chosen_of(one, 0), (Candidates{1}));
  EXPECT_EQ(got.chosen_of(one, 1), (Candidates{3}));
  EXPECT_EQ(got.chosen_of(one, 2), (Candidates{1}));
  EXPECT_EQ(got.outcome[3], VictimsOutcome::kNoRoom);
  EXPECT_EQ(got.members[3], 0);
  EXPECT_EQ(victims(*core::make_cpu_backend(1), one), got);
}

TEST(VictimsReference, CostsSaturate) {
  VictimsByHand by;
  for (int i = 0; i < 200; ++i) by.job({by.node(1)}, 1, INT64_MAX);

  const VictimsBuffers got = by.ask(200, 1);

  EXPECT_EQ(got.count[0], 200);
  EXPECT_EQ(got.cost[0], INT64_MAX);  // 200 x 2^56
}

TEST(VictimsCheck, RefusesWhatBackendsDoNotExpect) {
  const auto valid = [] {
    VictimsByHand by;
    const int a = by.node();
    by.job({a}, 4, 1);
    by.job({a}, 4, 1);
    by.ask(1, 8);
    return by.one;
  };
  const auto message = [&](const std::function<void(VictimsCase&)>& change) -> std::string {
    VictimsCase one = valid();
    change(one);
    try {
      core::check_victims(one.problem.view(), one.request());
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](VictimsCase&) {}), "");
  EXPECT_EQ(message([](VictimsCase& one) { one.demand[0] = 9; }), "question 0: demand is 9; it must be 0 to 2");
  EXPECT_EQ(message([](VictimsCase& one) { one.topology[0] = 5; }), "question 0: topology is 5; it must be 0 to 4");
  EXPECT_EQ(message([](VictimsCase& one) { one.topology[0] = kNone; }), "question 0: node is -1; it must be 0 to 0");
  EXPECT_EQ(message([](VictimsCase& one) { one.domain[0] = 1'000; }).substr(0, 45), "question 0: domain of topology 0 is 1000; it ");
  EXPECT_EQ(message([](VictimsCase& one) { one.candidate_end[0] = 3; }), "question 0: end of candidates is 3; it must be 0 to 2");
  EXPECT_EQ(message([](VictimsCase& one) { one.candidate_begin[0] = -1; }), "question 0: first candidate is -1; it must be 0 to 2");
  EXPECT_EQ(message([](VictimsCase& one) { one.chosen_begin[0] = 1; }), "question 0: first row of `chosen` is 1; it must be 0 to 0");
  EXPECT_EQ(message([](VictimsCase& one) { one.candidate_job[1] = 7; }), "question 0, candidate 1: job is 7; it must be 0 to 1");
  EXPECT_EQ(message([](VictimsCase& one) { one.candidate_job[1] = 0; }),
            "question 0, candidate 1: job 0 holds no GPUs, or GPUs of another candidate, on node 0");
  EXPECT_EQ(message([](VictimsCase& one) { one.candidate_cost[0] = -4; }),
            "question 0, candidate 0: cost is -4; it must be 0 to 9223372036854775807");
  EXPECT_EQ(message([](VictimsCase& one) { one.problem.held[1].share_ppm = 5; }), "question 0, candidate 1: job 1 holds shares of GPUs");
  EXPECT_EQ(message([](VictimsCase& one) { one.problem.groups[2].segment_size = 1; }),
            "question 0: demand 2 has segments; ask for one flat group of whole GPUs");
  EXPECT_EQ(message([](VictimsCase& one) { one.problem.groups[2].spread_most = 1; }),
            "question 0: demand 2 has a spread; ask for one flat group of whole GPUs");
  EXPECT_EQ(message([](VictimsCase& one) { one.problem.groups[2].share_ppm = 7; }),
            "question 0: demand 2 asks for shares of GPUs; ask for one flat group of whole GPUs");
  EXPECT_EQ(message([](VictimsCase& one) {
              one.ask_all(one.demand[0]);
              one.chosen_begin[1] = 1;
              ++one.n_chosen;
            }),
            "two questions write row 1 of `chosen`; give each its own rows");
}

}  // namespace
}  // namespace berth::test::victims_test
