// The order of rows in a snapshot has no effect: the plan is the same, byte for byte.

#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/params.hpp"
#include "tests/support/random.hpp"

namespace berth::permutation_test {
namespace {

std::string planned(const Snapshot& snapshot, const std::string& policy) {
  const ClusterState state(snapshot);
  Engine engine;
  Request request;
  request.policy = policy;
  request.params = test::short_search(policy);
  return io::to_json(engine.decide(state, request), state, false);
}

TEST(Permutation, OfRowsLeavesThePlanAsItIs) {
  for (const auto workload : {sim::Workload::kPhilly, sim::Workload::kHelios, sim::Workload::kLlm}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      sim::GenerateOptions o;
      o.nodes = 24;
      o.jobs = 60;
      o.workload = workload;
      o.seed = seed;
      o.nodes_per_rack = 4;
      o.racks_per_pod = 2;
      const Snapshot given = test::some_overtaken(sim::generate(o), o.seed);
      Snapshot shuffled = given;
      test::Random random(seed);
      random.shuffle(shuffled.nodes);
      random.shuffle(shuffled.jobs);
      random.shuffle(shuffled.domains);
      random.shuffle(shuffled.queues);
      random.shuffle(shuffled.history);
      ASSERT_FALSE(shuffled.jobs == given.jobs);
      for (const std::string& policy : test::policy_names()) {
        EXPECT_TRUE(planned(shuffled, policy) == planned(given, policy)) << sim::name(workload) << ", seed " << seed << ", " << policy;
      }
    }
  }
}

}  // namespace
}  // namespace berth::permutation_test
