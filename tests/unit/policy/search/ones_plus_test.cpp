// Plans of ones-plus: docs/ones-plus.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::ones_plus_test {
namespace {

using test::elastic;
using test::fate;
using test::one_node;
using test::runs;

Request asking(std::vector<std::pair<std::string, std::string>> params = {}) {
  if (std::none_of(params.begin(), params.end(), [](const auto& one) { return one.first == "generations"; })) {
    params.emplace_back("generations", "20");
  }
  return test::asking("ones-plus", std::move(params));
}

/// Two nodes of 8 GPUs, each with a job on 4 of them, and one that needs 8 of one node: the total of free GPUs.
Snapshot divided() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  runs(elastic(s, "a", {{4, 4'000'000}}), 4, "n0");
  runs(elastic(s, "b", {{4, 4'000'000}}), 4, "n1");
  Job& c = test::add_job(s, "c", 8);
  c.shapes[0].groups = {test::group_of("all", 1, 8)};
  return s;
}

std::int64_t value_of(const Plan& plan) { return plan.bound.value; }

TEST(OnesPlus, MovesAJobOutOfTheWayOfOneThatFindsNoPlace) {
  const ClusterState state(divided());
  EXPECT_EQ(fate(state, test::valid_plan(state, test::asking("price")), "c"), "wait");

  const Plan plan = test::valid_plan(state, asking());

  EXPECT_EQ(fate(state, plan, "c"), "start s");
  const bool a_moves = fate(state, plan, "a") == "migrate 4";
  EXPECT_EQ(fate(state, plan, a_moves ? "b" : "a"), "keep 4");
  EXPECT_EQ(fate(state, plan, a_moves ? "a" : "b"), "migrate 4");
  EXPECT_EQ(plan.totals.gpus_used, 16);
}

// Moving costs more than c gains: by throughput, over an hour, three quarters of it.
TEST(OnesPlus, NoJobMovesForLessThanItCosts) {
  for (const std::int64_t migrate_s : {900, 3'500}) {
    Snapshot s = divided();
    for (Job& job : s.jobs) job.costs.migrate_us = migrate_s * kSecond;
    s.jobs[2].weight_ppm = 500'000;
    const ClusterState state(s);
    const Plan plan = test::valid_plan(state, asking({{"objective", "throughput"}, {"terms", "migration"}}));
    EXPECT_EQ(fate(state, plan, "c"), migrate_s == 900 ? "start s" : "wait");
    EXPECT_EQ(plan.totals.moves, migrate_s == 900 ? 1 : 0);
  }
}

TEST(OnesPlus, NothingMovesForNothing) {
  Snapshot s = divided();
  s.jobs.pop_back();
  const ClusterState state(s);
  for (const char* terms : {"none", "restart", "migration"}) {
    const Plan plan = test::valid_plan(state, asking({{"terms", terms}, {"generations", "50"}}));
    EXPECT_EQ(fate(state, plan, "a"), "keep 4") << terms;
    EXPECT_EQ(fate(state, plan, "b"), "keep 4") << terms;
  }
}

// No GPU is idle that has a value to some job.
TEST(OnesPlus, FillsWhatIsIdle) {
  Snapshot s = one_node();
  for (int i = 0; i < 12; ++i) elastic(s, "j" + std::to_string(i + 10));
  const ClusterState state(s);
  for (const char* operators : {"none", "grow,make_room", "make_room,offer,crossover,mutate"}) {
    EXPECT_EQ(test::valid_plan(state, asking({{"operators", operators}})).totals.gpus_used, 8) << operators;
  }
}

TEST(OnesPlus, AskedBeforeTheFirstGenerationItIsThePlanOfPrices) {
  const ClusterState state(divided());
  Request request = asking();
  std::vector<std::int64_t> told;
  request.progress = [&](std::int64_t made, std::int64_t all) {
    EXPECT_EQ(all, 20);
    told.push_back(made);
    return false;
  };
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    request.backend = backend;
    told.clear();
    const Plan plan = test::valid_plan(state, request);
    EXPECT_EQ(told, std::vector<std::int64_t>{0});
    EXPECT_EQ(plan.iterations, 1);
    EXPECT_EQ(plan.stopped_by, "cancel");
    EXPECT_EQ(value_of(plan), value_of(test::valid_plan(state, test::asking("price", {{"terms", "migration,restart,span"}}))));
  }
}

TEST(OnesPlus, ALimitOfWorkRepeatsWhatWasStopped) {
  Snapshot s = divided();
  for (int i = 0; i < 10; ++i) elastic(s, "j" + std::to_string(i + 10));
  const ClusterState state(s);
  Request request = asking();
  request.progress = [](std::int64_t made, std::int64_t) { return made < 3; };
  PolicyState stopped, repeated;
  const Plan first = test::valid_plan(state, request, stopped);
  EXPECT_EQ(first.iterations, 4);
  request.progress = nullptr;
  request.max_iterations = 4;
  const Plan again = test::valid_plan(state, request, repeated);
  EXPECT_EQ(again.stopped_by, "iterations");
  EXPECT_TRUE(same_plan(first, again));
  EXPECT_EQ(stopped, repeated);
}

TEST(OnesPlus, TheHistoryNeverFallsAndIsReadBack) {
  const ClusterState state(divided());
  const Plan plan = test::valid_plan(state, asking());
  ASSERT_GE(plan.history.size(), 2U);
  EXPECT_EQ(plan.history.front().first, 0);
  for (std::size_t i = 1; i < plan.history.size(); ++i) {
    EXPECT_GT(plan.history[i].first, plan.history[i - 1].first);
    EXPECT_GT(plan.history[i].second, plan.history[i - 1].second);
  }
  EXPECT_EQ(plan.history.back().second, value_of(plan) - plan.totals.moves);  // a moved job loses at least one unit
  EXPECT_EQ(io::parse_plan(io::to_json(plan, state), state, "plan").history, plan.history);
}

// On one node d is four times as fast as on two, and 4 GPUs are idle on each.
TEST(OnesPlus, MakesRoomOnOneNodeWhereSpanCounts) {
  for (const bool span : {true, false}) {
    Snapshot s = divided();
    s.jobs.pop_back();
    Job& d = test::add_job(s, "d", 8);
    d.profile.kind = ProfileKind::kTable;
    d.profile.unit = "samples";
    for (const auto& [where, rate] : {std::pair{"node", 8'000'000}, std::pair{"rack", 2'000'000}}) {
      RatePoint point;
      point.gpus = 8;
      point.span = where;
      point.rate = rate;
      d.profile.points.push_back(point);
    }
    const ClusterState state(s);
    const Plan plan = test::valid_plan(state, asking({{"terms", span ? "migration,span" : "migration"}}));
    EXPECT_EQ(fate(state, plan, "d"), "start s");
    const Decision& decision = plan.decisions[2];
    EXPECT_EQ(decision.entry_end - decision.entry_begin, span ? 1 : 2);
    EXPECT_EQ(plan.totals.moves, span ? 1 : 0);
  }
}

// The search assumes for d, over two racks, the worst uplink of all, which is that of a drained rack. So it would give
// its GPUs to e and f, whose total value is lower.
TEST(OnesPlus, ABeginningOfGreaterValueStands) {
  Snapshot s = test::two_racks();
  s.gpu_types.resize(1);
  s.domains.push_back(test::domain_of("r2", "rack", "p"));
  s.nodes = {test::node_of("n0", "p/r0"), test::node_of("n1", "p/r1"), test::node_of("n2", "p/r2")};
  s.nodes[2].state = NodeState::kDrain;
  for (Domain& domain : s.domains) {
    if (domain.id != "p") domain.uplink_bytes_per_s = domain.id == "r2" ? 1'000'000 : 50'000'000'000;
  }
  Job& d = test::add_job(s, "d", 16);
  d.weight_ppm = 3'000'000;
  d.profile.kind = ProfileKind::kClosedForm;
  d.profile.unit = "steps";
  d.profile.gradient_bytes = 1'000'000'000;
  StepTime step;
  step.beta_ns = 1'000'000'000;
  d.profile.closed_form.step = {step};
  for (const char* id : {"e", "f"}) test::add_job(s, id, 8);
  const ClusterState state(s);
  const std::vector<std::pair<std::string, std::string>> params{{"objective", "throughput"}, {"terms", "span"}};
  const Plan price = test::valid_plan(state, test::asking("price", params));
  ASSERT_EQ(fate(state, price, "d"), "start s");

  const Plan plan = test::valid_plan(state, asking(params));

  EXPECT_EQ(fate(state, plan, "d"), "start s");
  EXPECT_EQ(value_of(plan), value_of(price));
  EXPECT_GE(plan.history.size(), 2U);  // the search assumed otherwise
}

TEST(OnesPlus, KeepsThePlansOfItsIslandsWhereAsked) {
  Snapshot s = one_node();
  for (int i = 0; i < 12; ++i) elastic(s, "j" + std::to_string(i + 10));
  const ClusterState state(s);
  PolicyState kept;
  test::valid_plan(state, asking(), kept);
  EXPECT_TRUE(kept.columns.empty());
  test::valid_plan(state, asking({{"seeds", "kept"}}), kept);
  EXPECT_EQ(kept.columns.size(), 4U);
  EXPECT_EQ(kept.columns.at("island/00000").size(), 12U);
  test::valid_plan(state, asking({{"seeds", "kept"}, {"islands", "2"}}), kept);
  EXPECT_EQ(kept.columns.size(), 2U);
}

TEST(OnesPlus, AStateOfAnotherClusterDoesNoHarm) {
  Snapshot s = one_node();
  for (int i = 0; i < 6; ++i) elastic(s, "j" + std::to_string(i));
  runs(s.jobs[0], 2);
  const ClusterState state(s);
  for (const std::int64_t value : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, INT64_MAX}) {
    PolicyState kept;
    for (const char* name : {"island/00000", "island/00001", "island/99999", "island/x"}) {
      for (int i = 0; i < 9; ++i) kept.columns[name]["j" + std::to_string(i)] = value;
    }
    test::valid_plan(state, asking({{"seeds", "running,fill,kept"}}), kept);
    EXPECT_EQ(kept.columns.count("island/99999"), 0U);
    EXPECT_EQ(kept.columns.at("island/00000").size(), 6U);
  }
}

TEST(OnesPlus, WhatCannotBeIsRefused) {
  const ClusterState state(divided());
  using Params = std::vector<std::pair<std::string, std::string>>;
  for (const Params& params :
       {Params{{"population", "3"}}, Params{{"population", "0"}}, Params{{"population", "1024"}, {"islands", "8"}}, Params{{"steps", "0"}},
        Params{{"migration", "0"}}, Params{{"operators", "swap"}}, Params{{"seeds", "price"}}}) {
    EXPECT_THROW(test::valid_plan(state, asking(params)), InvalidArgument) << params[0].first;
  }
}

TEST(OnesPlus, NothingToSearch) {
  EXPECT_EQ(test::valid_plan(ClusterState(one_node()), asking()).totals.gpus_used, 0);
  Snapshot drained = one_node();
  elastic(drained, "a");
  drained.nodes[0].state = NodeState::kDrain;
  test::valid_plan(ClusterState(drained), asking());
  Snapshot pinned = divided();
  for (Job& job : pinned.jobs) job.preemption.preemptible = false;
  const ClusterState state(pinned);
  EXPECT_EQ(fate(state, test::valid_plan(state, asking()), "c"), "wait");
  Snapshot full = one_node(1);
  runs(elastic(full, "a", {{1, 1}}), 1);
  EXPECT_EQ(test::valid_plan(ClusterState(full), asking()).totals.keeps, 1);
}

}  // namespace
}  // namespace berth::ones_plus_test
