// Policies that choose shapes, on whole clusters: plans are valid, proved by their prices, and the same on every backend.

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/params.hpp"

namespace berth::shape_policies_test {
namespace {

ClusterState cluster(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 12;
  o.jobs = 60;
  o.seed = seed;
  o.elastic = true;
  o.workload = seed % 3 == 0 ? sim::Workload::kLlm : seed % 3 == 1 ? sim::Workload::kPhilly : sim::Workload::kHelios;
  if (seed % 2 == 0) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 2}};
  return ClusterState(test::some_overtaken(sim::generate(o), seed));
}

class ShapePolicies : public ::testing::TestWithParam<std::string> {};

TEST_P(ShapePolicies, MakeValidPlansThatNoBackendMakesOtherwise) {
  Request request;
  request.policy = GetParam();
  request.params = test::short_search(GetParam());
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const ClusterState state = cluster(seed);
    request.seed = seed;
    Engine engine;
    PolicyState kept, of_other[2];
    const std::pair<Backend, std::int32_t> others[] = {{Backend::kReference, 1}, {Backend::kCpu, 1}};
    Plan plan, other;
    for (int round = 0; round < 2; ++round) {
      request.backend = Backend::kCpu;
      request.threads = 2;
      engine.decide(state, kept, request, plan);
      EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << "seed " << seed;
      EXPECT_LE(plan.bound.value, plan.bound.bound) << "seed " << seed;
      EXPECT_GT(plan.bound.value, 0) << "seed " << seed;
      for (std::size_t i = 0; i < 2; ++i) {
        std::tie(request.backend, request.threads) = others[i];
        engine.decide(state, of_other[i], request, other);
        EXPECT_TRUE(same_plan(plan, other)) << "seed " << seed << ", backend " << i;
        EXPECT_EQ(kept, of_other[i]) << "seed " << seed << ", backend " << i;
      }
    }
  }
}

// Decisions do not depend on the floating-point settings of the host program.
TEST_P(ShapePolicies, DecideAlikeInEveryRoundingMode) {
  const ClusterState state = cluster(4);
  Request request;
  request.policy = GetParam();
  const Plan plan = Engine().decide(state, request);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Plan other = Engine().decide(state, request);
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(same_plan(plan, other));
  }
}

TEST_P(ShapePolicies, RepeatByAWorkLimitWhatWasCutShort) {
  const ClusterState state = cluster(4);
  Engine engine;
  Request request;
  request.policy = GetParam();
  request.params = test::short_search(GetParam());
  request.params.emplace_back("quotas", "limits");  // where guarantees take GPUs back, nothing is searched
  request.max_iterations = 1;
  const Plan limited = engine.decide(state, request);
  EXPECT_EQ(limited.stopped_by, "iterations");
  request.max_iterations = 0;
  engine.cancel();
  const Plan cancelled = engine.decide(state, request);
  EXPECT_EQ(cancelled.stopped_by, "cancel");
  EXPECT_EQ(cancelled.iterations, 1);
  EXPECT_TRUE(same_plan(cancelled, limited));
}

// The policy state may be in a file between two decisions.
TEST_P(ShapePolicies, GoOnFromAKeptStateThatWasWrittenAndRead) {
  Request request;
  request.policy = GetParam();
  request.params = test::short_search(GetParam());
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ClusterState state = cluster(seed);
    request.seed = seed;
    Engine engine;
    PolicyState kept;
    Plan plan, other;
    engine.decide(state, kept, request, plan);
    for (int round = 0; round < 3; ++round) {
      commit(state, plan);
      state.apply(delta::SetTime{state.now() + 200 * kSecond});
      PolicyState read = io::parse_policy_state(io::to_json(kept));
      EXPECT_FALSE(read.scalars.empty());
      engine.decide(state, kept, request, plan);
      Engine().decide(state, read, request, other);
      EXPECT_TRUE(same_plan(plan, other)) << "seed " << seed << ", round " << round;
      EXPECT_EQ(read, kept) << "seed " << seed << ", round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShapePolicies, ::testing::ValuesIn(test::shape_policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::shape_policies_test
