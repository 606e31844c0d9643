// Published placements of Kueue and KAI-Scheduler under packing "topology": their own examples, by hand.
// Kueue's LeastFreeCapacity, which fills nodes in ascending order of free GPUs, has no counterpart here.

#include <bit>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/unit/io/topology/topology_support.hpp"

namespace berth::test::topology_placement_test {
namespace {

/// A node of that many GPUs in a domain, by path. The levels are zone and rack.
struct FreeNode {
  std::string path;
  std::int32_t gpus;
};

/// GPUs that a gang gets of each node.
std::vector<std::int32_t> placed(const std::vector<FreeNode>& free, const std::string& group) {
  io::TopologyModel model;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const std::size_t slash = free[i].path.find('/');
    io::ModelNode& node = model.add_node("n" + std::to_string(i), 0);
    node.gpus = free[i].gpus;
    const std::int32_t rack =
        model.domain_at(TopologyKind::kSwitch, {{"zone", free[i].path.substr(0, slash)}, {"rack", free[i].path.substr(slash + 1)}}, 0);
    model.place(node, TopologyKind::kSwitch, rack, 0);
  }
  Snapshot snapshot;
  io::add_to_snapshot(model, {}, snapshot);
  const std::string json = io::to_json(snapshot);
  const ClusterState state = io::parse_state(json.substr(0, json.rfind("[]")) +
                                             R"([{"id":"j","submit_s":0,"shapes":[{"groups":[{"name":"w",)" + group + "}]}]}]}");
  Request request;
  request.policy = "fifo";
  Engine engine;
  const Plan plan = engine.decide(state, request);
  std::vector<std::int32_t> out(free.size(), 0);
  for (const PlanEntry& entry : plan.entries) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (state.find_node("n" + std::to_string(i)) == entry.node) out[i] += std::popcount(entry.gpus);
    }
  }
  return out;
}

using Gpus = std::vector<std::int32_t>;

}  // namespace

TEST(TopologyPlacement, KueueBestFitTakesTheMostFreeAndTheTightestLast) {
  EXPECT_EQ(placed({{"z/r", 3}, {"z/r", 3}, {"z/r", 2}, {"z/r", 1}}, R"("members":7,"gpus_per_member":1)"), (Gpus{3, 3, 0, 1}));
}

TEST(TopologyPlacement, KueueSlicesOfTwoAreMembersOfTwo) {
  EXPECT_EQ(placed({{"z/r", 6}, {"z/r", 5}, {"z/r", 4}, {"z/r", 3}, {"z/r", 2}}, R"("members":6,"gpus_per_member":2)"),
            (Gpus{6, 0, 4, 0, 2}));
}

TEST(TopologyPlacement, KaiRequiresAZoneAndPrefersARack) {
  const std::vector<FreeNode> zones{{"A/1", 2}, {"A/2", 1}, {"A/3", 1}, {"A/4", 1}, {"B/1", 2}, {"B/2", 2}, {"B/3", 2}};

  EXPECT_EQ(placed(zones, R"("members":3,"gpus_per_member":1,"require":"zone","prefer":"rack")"), (Gpus{2, 1, 0, 0, 0, 0, 0}));
}

}  // namespace berth::test::topology_placement_test
