// States that became illegal after the fact: limits lowered below what runs, GPUs and nodes lost, drained or kept for others under running
// jobs. Every policy has a valid plan of them, the same from every backend, and the state takes it.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/params.hpp"

namespace berth::illegal_states_test {
namespace {

constexpr int kRounds = 3;

Snapshot cluster(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 4;
  o.jobs = 16;
  o.seed = seed;
  o.elastic = seed % 2 == 0;
  o.workload = seed % 3 == 0 ? sim::Workload::kLlm : seed % 3 == 1 ? sim::Workload::kPhilly : sim::Workload::kHelios;
  o.spare_ppm = seed % 4 == 0 ? 100'000 : 0;
  if (seed % 5 < 2) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 1}};
  return test::overtaken(sim::generate(o), seed);
}

void lose_more(test::Random& random, ClusterState& state) {
  for (const Delta& one : test::random_losses(random, state.snapshot())) {
    try {
      state.apply(one);
    } catch (const InputError&) {
    }
  }
}

class IllegalStates : public ::testing::TestWithParam<std::string> {};

TEST_P(IllegalStates, HaveAValidPlanThatTheStateTakes) {
  Request request;
  request.policy = GetParam();
  request.params = test::short_search(GetParam());
  const std::uint64_t seeds = test::has_param(GetParam(), "generations") ? 5 : 25;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    request.seed = seed;
    test::Random random(seed);
    ClusterState state(cluster(seed));
    Engine engine;
    PolicyState kept, by_reference;
    Plan plan, other;
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
      request.backend = Backend::kCpu;
      ASSERT_NO_THROW(engine.decide(state, kept, request, plan)) << io::to_json(state.snapshot());
      request.backend = Backend::kReference;
      Engine().decide(state, by_reference, request, other);
      EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << io::to_json(state.snapshot());
      // So it is by a state that has not decided.
      EXPECT_EQ(validate_plan(ClusterState(state.snapshot()), plan), std::vector<std::string>{}) << io::to_json(state.snapshot());
      EXPECT_TRUE(same_plan(plan, other));
      EXPECT_EQ(kept, by_reference);
      ASSERT_NO_THROW(commit(state, plan)) << io::to_json(state.snapshot());
      state.apply(delta::SetTime{state.now() + random.within(0, 600) * kSecond});
      lose_more(random, state);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IllegalStates, ::testing::ValuesIn(test::policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::illegal_states_test
