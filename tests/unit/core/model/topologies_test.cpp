// Nodes that name no domain of a level: each is there on its own, whatever asks.
#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::topologies_test {
namespace {

const LevelRef kRack{TopologyKind::kSwitch, "rack"}, kPod{TopologyKind::kSwitch, "pod"};

// n0 and n1 in rack r0; n2 and n3 in the pod, in no rack. `a` holds all of n0.
Snapshot half_racked() {
  Snapshot s = two_racks();
  s.nodes[2].domain[0] = s.nodes[3].domain[0] = "p";
  run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  return s;
}

// Where job b of these members is put: "n1 n2 ", or why it is not.
std::string placed(Snapshot s, const Group& group, Backend backend = Backend::kCpu) {
  add_job(s, "b", group.members_want * group.gpus_per_member).shapes[0].groups = {group};
  const ClusterState state(s);
  Request request;
  request.policy = "fifo";
  request.backend = backend;
  const Plan plan = Engine().decide(state, request);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  const std::int32_t job = state.find_job("b");
  const Decision& d = plan.decisions.at(static_cast<std::size_t>(state.job_rank(job)));
  std::string text = d.action == Action::kStart ? "" : render_reason(state, d.reason, job);
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) text += state.node(plan.entries.at(static_cast<std::size_t>(e)).node).id + " ";
  return text;
}

std::string on_both(const Snapshot& s, const Group& group) {
  const std::string reference = placed(s, group, Backend::kReference);
  EXPECT_EQ(placed(s, group), reference);
  return reference;
}

}  // namespace

TEST(Topologies, ASegmentDoesNotSpanNodesOutsideRacks) {
  Group pair = group_of("w", 2, 8), four = group_of("w", 4, 2);
  pair.segment = Segment{2, kRack};
  four.segment = Segment{4, kRack};

  EXPECT_EQ(
      on_both(half_racked(), pair),
      "needs 16 GPUs of one type (such as a100) as 1 segment of 16 GPUs in one rack; 0 of 1 still fit; 24 free in all after this plan");
  EXPECT_EQ(on_both(half_racked(), four), "n2 ") << "one node is one place";
}

TEST(Topologies, ASpreadOverRacksCountsNodesOutsideThemOneByOne) {
  Group three = group_of("w", 3, 8);
  three.spread = Spread{kRack, 1};

  EXPECT_EQ(on_both(half_racked(), three), "n2 n3 n1 ");
}

TEST(Topologies, NodesOutsideRacksAreNoRackToPrefer) {
  Snapshot s = half_racked();
  s.jobs.clear();
  Group pair = group_of("w", 2, 8);
  pair.prefer = kRack;

  EXPECT_EQ(on_both(s, pair), "n0 n1 ");
}

// A rack that is in no pod is one place at the level of pods.
TEST(Topologies, ADomainBelowNoneIsOnItsOwnAsAWhole) {
  Snapshot s = two_racks();
  s.domains.push_back(domain_of("x", "rack", ""));
  s.nodes[0].domain[0] = "";
  s.nodes[1].domain[0] = s.nodes[2].domain[0] = "x";
  Group pair = group_of("w", 2, 8), three = group_of("w", 3, 8);
  pair.segment = Segment{2, kPod};
  three.segment = Segment{3, kPod};

  EXPECT_EQ(on_both(s, pair), "n1 n2 ");
  EXPECT_EQ(on_both(s, three).substr(0, 9), "needs 24 ");
}

TEST(Topologies, TheSegmentOfTheRegressionWaits) {
  const std::string name = test::source_dir() + "/data/regressions/segment_outside_racks.json";
  const ClusterState state(io::parse_snapshot(io::read_file(name), name));
  Request request;
  request.policy = "price";
  const Plan plan = Engine().decide(state, request);

  EXPECT_EQ(plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job("J2")))).action, Action::kWait);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
}

}  // namespace berth::test::topologies_test
