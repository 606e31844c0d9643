// Plan terms on whole clusters: they only lower the value, by the stated amount, and equally on all backends.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/validator/plan_value.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"

namespace berth::plan_terms_test {
namespace {

constexpr const char* kAll = "fragmentation,link_load,migration,restart,span,tardiness";

Snapshot cluster(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 40;
  o.nodes_per_rack = 3;
  o.racks_per_pod = 2;
  o.gpus_per_node = seed % 2 == 0 ? 4 : 8;
  o.fabric = seed % 2 == 0 ? sim::Fabric::kNvl72 : sim::Fabric::kTree;
  o.jobs = 60;
  o.seed = seed;
  o.elastic = true;
  o.workload = seed % 5 == 0 ? sim::Workload::kHelios : sim::Workload::kLlm;
  Snapshot s = sim::generate(o);
  for (std::size_t j = 0; j < s.jobs.size(); j += 3) s.jobs[j].deadline.at_us = s.now_us + static_cast<TimeUs>(j) * 600 * kSecond;
  for (Domain& domain : s.domains) domain.uplink_bytes_per_s /= seed % 3 == 0 ? 100 : 1;  // gangs compete for links
  return test::some_overtaken(s, seed);
}

// One objective per cluster.
Plan decide(const ClusterState& state, const std::string& terms, Backend backend, std::uint64_t seed) {
  Request request;
  request.policy = "price";
  request.params = {{"terms", terms}, {"objective", std::string(core::objectives()[seed % core::objectives().size()].name)}};
  request.backend = backend;
  return Engine().decide(state, request);
}

std::int64_t total(const Bound& bound) {
  std::int64_t sum = 0;
  for (const auto& [name, loss] : bound.terms) {
    EXPECT_GE(loss, 0) << name;
    sum += loss;
  }
  return sum;
}

}  // namespace

TEST(PlanTermsOnClusters, TakeWhatTheySayFromTheValueOfTheShapes) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 42; ++seed) {
    SCOPED_TRACE(seed);
    const ClusterState state(cluster(seed));
    const Plan plan = decide(state, kAll, Backend::kCpu, seed);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    EXPECT_TRUE(same_plan(plan, decide(state, kAll, Backend::kReference, seed)));
    EXPECT_LE(plan.bound.value, plan.bound.bound);
    for (const auto& [name, loss] : plan.bound.terms) seen[name] += loss > 0 ? 1 : 0;

    // The choice does not consider places.
    const Plan of_shapes = decide(state, "restart,tardiness", Backend::kCpu, seed);
    EXPECT_EQ(plan.bound.prices, of_shapes.bound.prices);
    EXPECT_EQ(plan.bound.value + total(plan.bound), of_shapes.bound.value);

    // A plan of a policy without terms.
    Request fifo;
    fifo.policy = "fifo";
    const Plan other = Engine().decide(state, fifo);
    EXPECT_LE(core::objective_value_by(state.impl(), other, plan), core::objective_value_by(state.impl(), other, of_shapes));
  }
  EXPECT_GT(seen["fragmentation"], 0);
  EXPECT_GT(seen["link_load"], 0);
  EXPECT_GT(seen["span"], 0);
}

}  // namespace berth::plan_terms_test
