// Consolidated jobs are placed as required, by a count of nodes and racks that does not use demands. The others are as under las.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/random.hpp"

namespace berth::tiresias_test {
namespace {

constexpr std::int32_t kGpus = 8, kNodesPerRack = 4, kRacksPerPod = 2, kNodes = 24;

/// All nodes are equal and serve every job, so that counts decide what could ever hold a job.
Snapshot drawn(std::uint64_t seed, test::Random& random) {
  sim::GenerateOptions o;
  o.nodes = kNodes;
  o.jobs = 80;
  o.seed = seed;
  o.nodes_per_rack = kNodesPerRack;
  o.racks_per_pod = kRacksPerPod;
  o.gpu_types = {{"A100-80GB", 1}};
  o.labels = o.demands = false;
  o.queues = 0;
  Snapshot s = sim::generate(o);
  for (Job& job : s.jobs) {
    job.profile.model = random.of<const char*>({"", "vgg16", "bert-large", "ResNet-50"});
    if (job.state != JobState::kWaiting || job.shapes.size() != 1 || !job.shapes[0].groups.empty()) continue;
    job.shapes[0].gpus = random.of<std::int32_t>({1, 2, 3, 4, 6, 8, 9, 12, 16, 20, 24, 33, 40});
  }
  return s;
}

std::string planned(const ClusterState& state, const std::string& policy, std::vector<std::pair<std::string, std::string>> params,
                    Backend backend, Plan& plan) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  request.backend = backend;
  plan = Engine().decide(state, request);
  for (const std::string& violation : validate_plan(state, plan)) ADD_FAILURE() << violation;
  Plan same = plan;
  same.backend = same.policy = "any";
  same.params.clear();
  return io::to_json(same, state, false);
}

struct Lies {
  std::set<std::int32_t> nodes;
  std::set<std::string> racks, pods;
};

Lies where(const ClusterState& state, const Plan& plan, const Decision& d) {
  Lies lies;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const std::int32_t node = plan.entries[static_cast<std::size_t>(e)].node;
    const std::string rack = state.node(node).domain[0];
    lies.nodes.insert(node);
    lies.racks.insert(rack);
    lies.pods.insert(rack.substr(0, rack.find('/')));
  }
  return lies;
}

}  // namespace

TEST(Tiresias, ConsolidatedJobsUseAsFewNodesAsHoldThemInTheLowestDomain) {
  std::int64_t seen = 0, several = 0, scattered = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    test::Random random(seed);
    const ClusterState state(test::some_overtaken(drawn(seed, random), seed));
    for (const char* reading : {"paper", "code"}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + reading);
      const char* packing = random.of<const char*>({"topology", "count", "consolidate", "emptiest"});
      const std::vector<std::pair<std::string, std::string>> params{{"reading", reading}, {"packing", packing}};
      Plan plan, other;
      const std::string answer = planned(state, "tiresias", params, Backend::kCpu, plan);
      EXPECT_EQ(answer, planned(state, "tiresias", params, Backend::kReference, other));
      for (const Decision& d : plan.decisions) {
        const Job& job = *state.job(d.job);
        if (d.action != Action::kStart && d.action != Action::kMigrate) continue;
        const Lies lies = where(state, plan, d);
        if (job.profile.model == "bert-large" || job.profile.model == "ResNet-50") {
          scattered += lies.nodes.size() > static_cast<std::size_t>((job.shapes[0].gpus + kGpus - 1) / kGpus) ? 1 : 0;
          continue;
        }
        const auto fewest = static_cast<std::size_t>((job.shapes[0].gpus + kGpus - 1) / kGpus);
        ++seen;
        several += fewest > 1 ? 1 : 0;
        if (std::string(reading) == "paper") {
          EXPECT_EQ(lies.nodes.size(), fewest) << job.id;
        }
        if (fewest <= kNodesPerRack) {
          EXPECT_EQ(lies.racks.size(), 1U) << job.id;
        } else {
          EXPECT_EQ(lies.pods.size(), 1U) << job.id;
        }
      }
    }
  }
  EXPECT_GT(seen, 300);
  EXPECT_GT(several, 30);
  EXPECT_GT(scattered, 5);
}

TEST(Tiresias, WithoutSkewedModelsItDecidesAsLas) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Random random(seed);
    Snapshot s = drawn(seed, random);
    for (Job& job : s.jobs) job.profile.model = "bert";
    const ClusterState state(test::some_overtaken(s, seed));
    Plan a, b;
    EXPECT_EQ(planned(state, "tiresias", {}, Backend::kCpu, a), planned(state, "las", {}, Backend::kCpu, b)) << seed;
  }
}

}  // namespace berth::tiresias_test
