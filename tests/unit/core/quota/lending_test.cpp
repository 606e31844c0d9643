// Queues that lend a part of their guarantee: docs/quotas.md, "Lending".
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/queues.hpp"
#include "berth/state.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/support/random.hpp"

namespace berth::test::lending_test {
namespace {

Queue lender(const std::string& id, const std::string& parent, Quota quota) {
  Queue queue;
  queue.id = id;
  queue.parent = parent;
  queue.quotas = {std::move(quota)};
  return queue;
}

// Kueue, Concepts, Cluster Queue, section "LendingLimit", with GPUs in place of CPUs: team-a has 9, and team-b lends 1 of 12.
Snapshot two_teams() {
  Snapshot s;
  s.now_us = 100 * kSecond;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "H";
  for (int n = 0; n < 4; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = "H";
    node.gpus = 8;
    s.nodes.push_back(node);
  }
  s.queues = {lender("team-ab", "", {"H", 21, 21}), lender("team-a", "team-ab", {"H", 9}),
              lender("team-b", "team-ab", {"H", 12, kUnlimited, kUnlimited, 1})};
  return s;
}

Job& wait_in(Snapshot& s, const std::string& id, const std::string& queue, std::int32_t members) {
  Job job;
  job.id = id;
  job.queue = queue;
  job.submit_us = static_cast<TimeUs>(s.jobs.size()) * kSecond;
  job.estimate.run_us = 3600 * kSecond;
  Shape shape;
  shape.id = "s";
  shape.gpus = members;
  job.shapes = {shape};
  s.jobs.push_back(job);
  return s.jobs.back();
}

Request in_order(const std::string& policy = "fifo") {
  Request request;
  request.policy = policy;
  request.params = {{"discipline", "greedy"}};
  return request;
}

// "start" or the reason of each job.
std::vector<std::string> actions(const Snapshot& s, const std::string& quotas = "guarantees") {
  const ClusterState state(s);
  Request request = in_order();
  request.params.emplace_back("quotas", quotas);
  const Plan plan = Engine().decide(state, request);
  EXPECT_TRUE(validate_plan(state, plan).empty());
  std::vector<std::string> out;
  for (const Decision& d : plan.decisions) out.push_back(d.action == Action::kStart ? "start" : render_reason(state, d.reason, d.job));
  return out;
}

}  // namespace

TEST(Lending, TeamAMayUseNineAndTheOneThatIsLent) {
  Snapshot s = two_teams();
  wait_in(s, "a0", "team-a", 8);
  wait_in(s, "a1", "team-a", 2);
  wait_in(s, "a2", "team-a", 1);
  EXPECT_EQ(actions(s),
            (std::vector<std::string>{"start", "start", "needs 1 GPU; queue team-ab has 0 left of its limit, as queues below it keep 11"}));
  s.queues[2].quotas[0].lending = kUnlimited;
  EXPECT_EQ(actions(s), (std::vector<std::string>{"start", "start", "start"}));
}

// What team-b does not lend is its own also when all else is in use, and it borrows as before.
TEST(Lending, TeamBUsesWhatItKeepsAndBorrows) {
  Snapshot s = two_teams();
  wait_in(s, "a0", "team-a", 8);
  wait_in(s, "a1", "team-a", 2);
  wait_in(s, "b0", "team-b", 8);
  wait_in(s, "b1", "team-b", 4);
  wait_in(s, "b2", "team-b", 2);
  EXPECT_EQ(actions(s, "limits"),
            (std::vector<std::string>{"start", "start", "start", "needs 4 GPUs; queue team-ab has 1 left of its limit", "start"}));
  const std::vector<std::string> with_guarantees = actions(s);  // b1 is within the guarantee of 12, a1 borrows
  EXPECT_EQ(with_guarantees[1], "needs 2 GPUs; queue team-ab has 1 left of its limit");
  EXPECT_EQ(with_guarantees[3], "start");
  Snapshot alone = two_teams();
  wait_in(alone, "b0", "team-b", 8);
  wait_in(alone, "b1", "team-b", 8);
  wait_in(alone, "b2", "team-b", 5);
  wait_in(alone, "b3", "team-b", 1);
  EXPECT_EQ(actions(alone), (std::vector<std::string>{"start", "start", "start", "needs 1 GPU; queue team-ab has 0 left of its limit"}));
}

TEST(Lending, IsOfItsGpuTypeAndOfAllTypesApart) {
  Snapshot s = two_teams();
  s.gpu_types.resize(2);
  s.gpu_types[1].id = "A";
  s.nodes[2].gpu_type = s.nodes[3].gpu_type = "A";
  s.queues = {lender("p", "", {"*", 0, 12}), lender("x", "p", {"A", 8}), lender("y", "p", {"H", 8, kUnlimited, kUnlimited, 2})};
  wait_in(s, "x0", "x", 8).shapes[0].gpu_type = "H";
  wait_in(s, "x1", "x", 4).shapes[0].gpu_type = "A";
  // No limit of H stands above y: what it keeps of H has no effect on all types together.
  EXPECT_EQ(actions(s), (std::vector<std::string>{"start", "start"}));
  s.queues[0].quotas.push_back({"H", 0, 12});
  EXPECT_EQ(actions(s),
            (std::vector<std::string>{"needs 8 H GPUs; queue p has 6 left of its limit of H GPUs, as queues below it keep 6", "start"}));
  s.queues[2].quotas.push_back({"*", 9, kUnlimited, kUnlimited, 0});
  EXPECT_EQ(actions(s)[1], "needs 4 GPUs; queue p has 3 left of its limit, as queues below it keep 9");
}

TEST(Lending, WithoutALimitAboveHasNoEffect) {
  Snapshot s = two_teams();
  s.queues[0].quotas.clear();
  wait_in(s, "a0", "team-a", 8);
  wait_in(s, "a1", "team-a", 8);
  wait_in(s, "a2", "team-a", 8);
  wait_in(s, "a3", "team-a", 8);
  EXPECT_EQ(actions(s), (std::vector<std::string>(4, "start")));
  EXPECT_TRUE(ClusterState(s).impl().queue_kept.empty());
}

// The state stays legal, and the queue above shrinks only.
TEST(Lending, WhatIsKeptMayRiseAboveALimitWhileJobsRun) {
  Snapshot s = two_teams();
  s.queues[2].quotas[0].lending = 12;
  wait_in(s, "a0", "team-a", 8);
  wait_in(s, "a1", "team-a", 8);
  ClusterState state(s);
  Engine engine;
  Request limits = in_order();
  limits.params.emplace_back("quotas", "limits");
  commit(state, engine.decide(state, limits));
  Queue keeps = s.queues[2];
  keeps.quotas[0].lending = 0;
  state.apply(Delta(delta::PutQueue{keeps}));
  Job more = s.jobs[0];
  more.id = "b0";
  more.queue = "team-b";
  more.shapes[0].gpus = 4;
  state.apply(Delta(delta::PutJob{more}));
  Plan plan = engine.decide(state, limits);
  EXPECT_EQ(plan.totals.keeps, 2);
  EXPECT_EQ(plan.totals.waits, 1) << "16 and 12 that are kept are more than 21";
  EXPECT_TRUE(validate_plan(state, plan).empty());
  state.apply(Delta(delta::StopJob{"a1"}));
  state.apply(Delta(delta::RemoveJob{"a1", ""}));
  plan = engine.decide(state, limits);
  EXPECT_EQ(plan.totals.starts, 1);
}

// Of its guarantee team-b gets back what team-a borrows, as far as it lent that; the rest it has.
TEST(Lending, StandingsSayWhatAQueueKeeps) {
  Snapshot s = two_teams();
  wait_in(s, "a0", "team-a", 8);
  wait_in(s, "a1", "team-a", 8);
  const ClusterState state(s);
  std::map<std::pair<std::int32_t, std::int32_t>, QueueStanding> of;
  for (const QueueStanding& one : queue_standings(state)) of[{one.queue, one.gpu_type}] = one;
  EXPECT_EQ((of[{2, 0}].keeps), 11 * kWholeGpu);
  EXPECT_EQ((of[{1, 0}].keeps), 0);
  EXPECT_EQ((of[{2, 0}].has), 0) << "what is kept is not had";
  EXPECT_EQ((of[{0, 0}].has), 0);
  EXPECT_EQ((of[{0, 0}].entitled), 10 * kWholeGpu) << "11 of 21 are kept";
  EXPECT_EQ((of[{1, 0}].entitled), 10 * kWholeGpu);
}

// Whatever is put, starts and stops: what is charged is what the definition says.
TEST(Lending, ChargesAreAlwaysThoseOfTheDefinition) {
  int limited = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Snapshot s = two_teams();
    s.queues.clear();
    for (int q = 0; q < 9; ++q) {
      Queue queue = lender("q" + std::to_string(q), q > 0 && random.percent(85) ? "q" + std::to_string(random.below(q)) : "",
                           {random.percent(50) ? "*" : "H", random.within(0, 9), random.percent(50) ? random.within(0, 32) : kUnlimited});
      s.queues.push_back(queue);
    }
    for (int j = 0; j < 8; ++j) {
      Job& job = wait_in(s, "j" + std::to_string(j), random.percent(90) ? "q" + std::to_string(random.below(9)) : "", 4);
      if (random.percent(50)) continue;
      job.state = JobState::kRunning;
      job.allocation.shape = "s";
      job.allocation.entries = {{"", 0, "n" + std::to_string(j / 2), {}, kWholeGpu, false}};
      for (std::int32_t g = 0; g < 4; ++g) job.allocation.entries[0].gpus.push_back(j % 2 * 4 + g);
    }
    ClusterState state(s);
    for (int step = 0; step < 20; ++step) {
      const Snapshot now = state.snapshot();
      const Job& job = random.of(now.jobs);
      if (random.percent(40)) {
        Queue queue = random.of(now.queues);
        for (Quota& quota : queue.quotas) {
          quota.guarantee = random.within(0, 9);
          quota.lending =
              quota.guarantee > 0 && !queue.parent.empty() ? random.below(static_cast<std::int32_t>(quota.guarantee) + 1) : kUnlimited;
          if (random.percent(30)) quota.limit = random.percent(50) ? random.within(0, 32) : kUnlimited;
        }
        state.apply(Delta(delta::PutQueue{queue}));
      } else if (job.state == JobState::kRunning) {
        state.apply(Delta(delta::StopJob{job.id}));
      } else {
        const int at = job.id.back() - '0';
        Allocation allocation;
        allocation.shape = "s";
        allocation.entries = {{"", 0, "n" + std::to_string(at / 2), {}, kWholeGpu, false}};
        for (std::int32_t g = 0; g < 4; ++g) allocation.entries[0].gpus.push_back(at % 2 * 4 + g);
        state.apply(Delta(delta::StartJob{job.id, allocation}));
      }
      const StateImpl& impl = state.impl();
      const std::size_t columns = 2;
      std::vector<std::int64_t> charged(impl.queues.size() * columns, 0);
      for (std::size_t j = 0; j < impl.jobs.size(); ++j) {
        if (!impl.jobs[j].job || impl.job.queue[j] < 0) continue;
        for (std::size_t c = 0; c < columns; ++c)
          charged[static_cast<std::size_t>(impl.job.queue[j]) * columns + c] += impl.job.running[j] != 0 ? 4 * kWholeGpu : 0;
      }
      for (std::size_t q = impl.queues.size(); q-- > 0;) {
        for (std::size_t c = 0; c < columns; ++c) {
          std::int64_t kept = 0;
          for (const Quota& quota : impl.queues[q].quotas) {
            const bool here = quota.gpu_type == (c == 0 ? "H" : "*");
            if (here && quota.lending != kUnlimited) kept = (quota.guarantee - quota.lending) * kWholeGpu;
          }
          if (impl.queue_parent[q] < 0) continue;
          bool below_limit = false;
          for (std::int32_t up = impl.queue_parent[q]; up >= 0; up = impl.queue_parent[static_cast<std::size_t>(up)]) {
            below_limit = below_limit || impl.queue_cap[static_cast<std::size_t>(up) * columns + c] != kernel::kNoLimit;
          }
          limited += below_limit && kept > 0 ? 1 : 0;
          charged[static_cast<std::size_t>(impl.queue_parent[q]) * columns + c] +=
              std::max(charged[q * columns + c], below_limit ? kept : 0);
        }
      }
      ASSERT_EQ(impl.queue_used, charged) << "seed " << seed << ", step " << step;
    }
  }
  EXPECT_GT(limited, 1000);
}

TEST(Lending, IsRefusedWhereItMeansNothing) {
  const auto problem_of = [](Queue queue) {
    Snapshot s = two_teams();
    s.queues[2] = std::move(queue);
    std::string of_snapshot, of_delta;
    try {
      check_snapshot(s, "mine");
    } catch (const InputError& e) {
      of_snapshot = e.what();
    }
    ClusterState state(two_teams());
    try {
      state.apply(Delta(delta::PutQueue{s.queues[2]}));
    } catch (const InputError& e) {
      of_delta = e.what();
    }
    EXPECT_EQ(of_snapshot.empty(), of_delta.empty()) << of_snapshot << "\n" << of_delta;
    return of_snapshot;
  };
  EXPECT_EQ(problem_of(lender("team-b", "team-ab", {"H", 12, kUnlimited, kUnlimited, 12})), "");
  EXPECT_EQ(problem_of(lender("team-b", "", {"H", 12, kUnlimited, kUnlimited, 1})),
            "mine: /queues/2/quotas/0/lending: a queue without a parent has no others to lend to: leave out `lending`, or state `parent`");
  EXPECT_EQ(problem_of(lender("team-b", "team-ab", {"H", 0, 9, kUnlimited, 0})),
            "mine: /queues/2/quotas/0/lending: a queue lends of its guarantee: state `guarantee` beside it, or leave out `lending`");
  EXPECT_EQ(problem_of(lender("team-b", "team-ab", {"H", 12, kUnlimited, kUnlimited, 13})),
            "mine: /queues/2/quotas/0/lending: 13 is more than the guarantee of 12: lend that at most");
  EXPECT_EQ(problem_of(lender("team-b", "team-ab", {"H", 12, kUnlimited, kUnlimited, -2})),
            "mine: /queues/2/quotas/0/lending: -2 is not within -1 to 1000000000000");
}

// The sum over all queues fits 64 bits in millionths.
TEST(Lending, QueuesTogetherKeepNoMoreThanAQuotaMayBe) {
  Snapshot s = two_teams();
  s.queues[1].quotas = {{"H", 600'000'000'000, kUnlimited, kUnlimited, 0}};
  s.queues[2].quotas = {{"H", 400'000'000'000, kUnlimited, kUnlimited, 0}};
  check_snapshot(s, "mine");
  EXPECT_EQ(ClusterState(s).impl().queue_used[0], 1'000'000'000'000 * std::int64_t{kWholeGpu});
  wait_in(s, "a0", "team-a", 1);
  EXPECT_EQ(actions(s),
            (std::vector<std::string>{"needs 1 GPU; queue team-ab has 0 left of its limit, as queues below it keep 400000000000"}));
  s.queues[2].quotas[0].guarantee += 1;
  try {
    check_snapshot(s, "mine");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "mine: /queues/2/quotas: queues keep more than 1000000000000 GPUs in all: raise `lending`");
  }
  s.queues[1].quotas[0].gpu_type = "*";  // another column
  check_snapshot(s, "mine");
}

}  // namespace berth::test::lending_test
