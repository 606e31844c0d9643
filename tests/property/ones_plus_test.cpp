// The search of ones-plus never ends below its start, for any network.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/random.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::ones_plus_test {
namespace {

/// A cluster with different uplinks and latencies per domain.
Snapshot uneven(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 24;
  o.gpus_per_node = 4;
  o.jobs = 60;
  o.elastic = true;
  o.workload = seed % 2 == 0 ? sim::Workload::kHelios : sim::Workload::kLlm;
  o.nodes_per_rack = 4;
  o.racks_per_pod = 2;
  o.seed = seed;
  Snapshot s = sim::generate(o);
  test::Random random(seed);
  for (Domain& domain : s.domains) {
    domain.uplink_bytes_per_s = random.of<std::int64_t>({0, 1'000'000, 100'000'000, 50'000'000'000});
    domain.latency_us = random.within(0, 50);
  }
  for (Node& node : s.nodes) node.nic_bytes_per_s = random.of<std::int64_t>({1'000'000'000, 12'500'000'000, 50'000'000'000});
  for (Job& job : s.jobs) job.profile.gradient_bytes *= random.within(1, 40);
  return test::some_overtaken(s, seed);
}

TEST(OnesPlusValue, IsNeverBelowThatOfPrice) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ClusterState state(uneven(seed));
    const std::vector<std::pair<std::string, std::string>> params{{"objective", seed % 3 == 0 ? "throughput" : "flow_time"},
                                                                  {"terms", seed % 4 == 0   ? "link_load,migration,restart,span"
                                                                            : seed % 4 == 1 ? "fragmentation,span"
                                                                                            : "migration,restart"}};
    Request request;
    request.policy = "price";
    request.params = params;
    request.params.emplace_back("quotas", "limits");  // with guarantees the plan of price stands in most of these clusters
    const std::int64_t price = Engine().decide(state, request).bound.value;
    request.policy = "ones-plus";
    request.params.emplace_back("generations", "6");
    const Plan plan = Engine().decide(state, request);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << "seed " << seed;
    EXPECT_GE(plan.bound.value, price) << "seed " << seed;
    better += plan.bound.value > price ? 1 : 0;
  }
  EXPECT_GT(better, 10);
}

// The search may not let a job start where a queue is over its limit, however many of its jobs leave for it.
TEST(OnesPlusLimits, NothingStartsInAQueueThatIsOverItsLimit) {
  const std::string file = test::source_dir() + "/data/regressions/queue_over_limit.json";
  const ClusterState state(io::parse_snapshot(io::read_file(file), file));
  Request request;
  request.policy = "ones-plus";
  request.max_iterations = 100;
  for (const Backend backend : {Backend::kCpu, Backend::kReference}) {
    request.backend = backend;
    const Plan plan = Engine().decide(state, request);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace berth::ones_plus_test
