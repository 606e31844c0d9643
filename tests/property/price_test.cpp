// Shapes by prices on whole clusters: plans are valid, proved by their prices, and the same on every backend.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"

namespace berth::price_test {
namespace {

Snapshot elastic(std::uint64_t seed, std::int32_t nodes = 12, std::int32_t jobs = 60) {
  sim::GenerateOptions o;
  o.nodes = nodes;
  o.jobs = jobs;
  o.seed = seed;
  o.elastic = true;
  o.workload = seed % 3 == 0 ? sim::Workload::kLlm : seed % 3 == 1 ? sim::Workload::kPhilly : sim::Workload::kHelios;
  if (seed % 2 == 0) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 2}};
  return test::some_overtaken(sim::generate(o), seed);
}

Request by(std::string_view objective) {
  Request request;
  request.policy = "price";
  request.params = {{"objective", std::string(objective)}};
  return request;
}

TEST(Price, PlansAreValidAndProvedByTheirPrices) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const ClusterState state(elastic(seed));
    for (const core::ObjectiveInfo& objective : core::objectives()) {
      Engine engine;
      const Plan plan = engine.decide(state, by(objective.name));
      EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << "seed " << seed << ", " << objective.name;
      EXPECT_LE(plan.bound.value, plan.bound.bound) << "seed " << seed << ", " << objective.name;
      EXPECT_GT(plan.bound.value, 0) << "seed " << seed << ", " << objective.name;
    }
  }
}

TEST(Price, TheReferenceMakesTheSamePlans) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ClusterState state(elastic(seed));
    for (const core::ObjectiveInfo& objective : core::objectives()) {
      Request request = by(objective.name);
      Engine engine;
      request.backend = Backend::kCpu;
      const Plan one = engine.decide(state, request);
      request.backend = Backend::kReference;
      EXPECT_TRUE(same_plan(engine.decide(state, request), one)) << "seed " << seed << ", " << objective.name;
    }
  }
}

TEST(Price, ACommittedPlanIsKeptByTheNext) {
  ClusterState state(elastic(1));
  Engine engine;
  PolicyState memory;
  Plan plan;
  engine.decide(state, memory, by("throughput"), plan);
  commit(state, plan);
  engine.decide(state, memory, by("throughput"), plan);
  EXPECT_EQ(plan.totals.preempts, 0);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
}

TEST(Price, AWorkLimitRepeatsWhatABudgetCutShort) {
  const ClusterState state(elastic(4));
  Engine engine;
  Request request = by("goodput");
  for (const std::int64_t work : {1, 2, 3}) {
    request.max_iterations = work;
    const Plan cut = engine.decide(state, request);
    EXPECT_EQ(cut.iterations, work);
    EXPECT_EQ(cut.stopped_by, "iterations");
    EXPECT_EQ(validate_plan(state, cut), std::vector<std::string>{});
    EXPECT_TRUE(same_plan(engine.decide(state, request), cut));
  }
}

TEST(Price, ACancelledSearchStillAnswersWithAValidPlan) {
  const ClusterState state(elastic(4));
  Engine engine;
  engine.cancel();
  const Plan plan = engine.decide(state, by("goodput"));
  EXPECT_EQ(plan.stopped_by, "cancel");
  EXPECT_EQ(plan.iterations, 1);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
}

TEST(Price, AFalseBoundIsFound) {
  const ClusterState state(elastic(1));
  Engine engine;
  const Plan plan = engine.decide(state, by("goodput"));
  const auto broken = [&](const auto& change) {
    Plan other = plan;
    change(other);
    return validate_plan(state, other).size();
  };
  EXPECT_EQ(broken([](Plan& p) { p.bound.bound -= 1; }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound.value += 1; }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound.prices[0].second += 1; }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound.prices[0].second = -1; }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound.prices.clear(); }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound.objective = "flow_time"; }), 1u);
  EXPECT_EQ(broken([](Plan& p) { p.bound = {}; }), 1u);
}

TEST(Price, ThePlanIsReadAsItWasWritten) {
  const ClusterState state(elastic(4));
  Engine engine;
  const Plan plan = engine.decide(state, by("flow_time"));
  EXPECT_TRUE(same_plan(io::parse_plan(io::to_json(plan, state, false), state), plan));
}

}  // namespace
}  // namespace berth::price_test
