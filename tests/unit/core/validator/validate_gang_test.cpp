// Gangs: complete, whole, of one GPU type, and inside the required domains.
#include <gtest/gtest.h>

#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::validate_gang_test {
namespace {

// One waiting job "a" with these groups; returns the validator's output for the entries.
std::string check(const Snapshot& cluster, const std::vector<Group>& groups, const std::vector<PlanEntry>& entries) {
  Snapshot s = cluster;
  add_job(s, "a", 0).shapes[0].groups = groups;
  PlanMaker m(s);
  m.give(0, Action::kStart, entries);
  return m.check();
}

PlanEntry entry(std::int32_t node, std::int32_t group, std::int32_t member, std::int32_t members, std::uint64_t gpus) {
  return {node, group, member, members, gpus, kWholeGpu};
}

std::string flat_job(const Snapshot& cluster, const Job& like, const std::vector<PlanEntry>& entries) {
  Snapshot s = cluster;
  s.jobs = {like};
  PlanMaker m(s);
  m.give(0, Action::kStart, entries);
  return m.check();
}

}  // namespace

TEST(ValidateGang, EveryMemberIsPlacedOnce) {
  const Snapshot s = two_racks();
  Group group = group_of("w", 2, 4);
  group.spares = 1;

  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 0xff), entry(1, 0, 2, 1, 0xf)}), "");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 0xff)}), "");  // without the spare
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 1, 0xf)}), "job a: group w has 1 member placed of 3\n");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 0xff), entry(1, 0, 1, 1, 0xf)}),
            "job a: group w has an entry that begins at member 1; member 2 comes next\njob a: group w has 2 members placed of 3\n");
  EXPECT_EQ(check(s, {group}, {entry(0, 3, 0, 2, 0xff)}), "job a: names group 3; shape s has 1 group\n");
}

TEST(ValidateGang, ElasticGangStartsWithTheSmallestCountOfEveryGroup) {
  const Snapshot s = two_racks();
  Group a = group_of("a", 4, 1), b = group_of("b", 2, 1);
  a.members_min = 2;
  b.members_min = 1;

  EXPECT_EQ(check(s, {a, b}, {entry(0, 0, 0, 2, 0x3), entry(0, 1, 0, 1, 0x4)}), "");
  EXPECT_EQ(check(s, {a, b}, {entry(0, 0, 0, 2, 0x3), entry(0, 1, 0, 2, 0xc)}), "job a: group a has 2 members placed of 4\n");
}

TEST(ValidateGang, MemberIsNotDivided) {
  const Snapshot s = two_racks();

  EXPECT_EQ(check(s, {group_of("w", 2, 4)}, {entry(0, 0, 0, 1, 0x7), entry(1, 0, 1, 1, 0x1f)}),
            "job a: has 3 GPUs on node n0 for 1 member of group w, which needs 4 GPUs each\n"
            "job a: has 5 GPUs on node n1 for 1 member of group w, which needs 4 GPUs each\n");
}

TEST(ValidateGang, RequireHoldsForTheWholeSubtree) {
  const Snapshot s = two_racks();
  Group top = group_of("top", 0, 1), child = group_of("child", 2, 8, "top");
  top.require = LevelRef{TopologyKind::kSwitch, "rack"};

  EXPECT_EQ(check(s, {top, child}, {entry(0, 1, 0, 1, 0xff), entry(1, 1, 1, 1, 0xff)}), "");
  EXPECT_EQ(check(s, {top, child}, {entry(1, 1, 0, 1, 0xff), entry(2, 1, 1, 1, 0xff)}),
            "job a: group top must be in one rack; nodes n1 and n2 are in different ones\n");
}

TEST(ValidateGang, RequireNodeMeansOneNode) {
  const Snapshot s = two_racks();
  Group group = group_of("w", 2, 1);
  group.require = LevelRef{TopologyKind::kSwitch, "node"};

  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 0x3)}), "");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 1, 1), entry(1, 0, 1, 1, 1)}),
            "job a: group w must be in one node; nodes n0 and n1 are in different ones\n");
}

TEST(ValidateGang, UnnamedDomainNeverSatisfiesRequire) {
  Snapshot s = two_racks();
  s.nodes[2].domain[0] = s.nodes[3].domain[0] = "p";  // in the pod, in no rack; ranks come first: "p" < "p/r0"
  Group rack = group_of("w", 2, 8), pod = rack;
  rack.require = LevelRef{TopologyKind::kSwitch, "rack"};
  pod.require = LevelRef{TopologyKind::kSwitch, "pod"};
  const std::vector<PlanEntry> entries{entry(0, 0, 0, 1, 0xff), entry(1, 0, 1, 1, 0xff)};

  EXPECT_EQ(check(s, {rack}, entries),
            "job a: group w must be in one rack; node n2 is in none\njob a: group w must be in one rack; node n3 is in none\n");
  EXPECT_EQ(check(s, {pod}, entries), "");
}

TEST(ValidateGang, NodesOutsideAnyRackAreEachOnTheirOwn) {
  Snapshot s = two_racks();
  s.nodes[2].domain[0] = s.nodes[3].domain[0] = "p";  // ranks 0 and 1
  Group segments = group_of("w", 2, 8), spread = segments;
  segments.segment = Segment{2, LevelRef{TopologyKind::kSwitch, "rack"}};
  spread.spread = Spread{LevelRef{TopologyKind::kSwitch, "rack"}, 1};
  const std::vector<PlanEntry> apart{entry(0, 0, 0, 1, 0xff), entry(1, 0, 1, 1, 0xff)};

  EXPECT_EQ(check(s, {segments}, apart), "job a: segment 0 of group w lies on nodes n2 and n3, in different places at level rack\n");
  EXPECT_EQ(check(s, {segments}, {entry(2, 0, 0, 1, 0xff), entry(3, 0, 1, 1, 0xff)}), "");
  EXPECT_EQ(check(s, {spread}, apart), "");
}

// A rack below no pod is together there: its nodes are, whatever the pod is called.
TEST(ValidateGang, ADomainBelowNoneIsOnItsOwnAsAWhole) {
  Snapshot s = two_racks();
  s.domains.push_back(domain_of("x", "rack", ""));
  s.nodes[0].domain[0] = s.nodes[1].domain[0] = "x";
  Group segments = group_of("w", 2, 8);
  segments.segment = Segment{2, LevelRef{TopologyKind::kSwitch, "pod"}};

  // Ranks 2 and 3: "p/r1" < "x".
  EXPECT_EQ(check(s, {segments}, {entry(2, 0, 0, 1, 0xff), entry(3, 0, 1, 1, 0xff)}), "");
}

TEST(ValidateGang, EveryTopologyIsItsOwnTree) {
  Snapshot s = two_racks();
  Domain feed = domain_of("f", "feed", "");
  feed.topology = TopologyKind::kPower;
  s.domains.push_back(feed);
  s.nodes[1].domain[static_cast<std::size_t>(TopologyKind::kPower)] = s.nodes[2].domain[static_cast<std::size_t>(TopologyKind::kPower)] =
      "f";
  Group group = group_of("w", 2, 8);
  group.require = LevelRef{TopologyKind::kPower, "feed"};

  EXPECT_EQ(check(s, {group}, {entry(1, 0, 0, 1, 0xff), entry(2, 0, 1, 1, 0xff)}), "");
  EXPECT_EQ(check(s, {group}, {entry(1, 0, 0, 1, 0xff), entry(0, 0, 1, 1, 0xff)}),
            "job a: group w must be in one feed; node n0 is in none\n");
}

TEST(ValidateGang, SpreadLimitsMembersPerDomain) {
  const Snapshot s = two_racks();
  Group group = group_of("w", 4, 1);
  group.spread = Spread{{TopologyKind::kSwitch, "rack"}, 2};

  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 3), entry(2, 0, 2, 2, 3)}), "");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 3), entry(1, 0, 2, 1, 1), entry(2, 0, 3, 1, 1)}),
            "job a: group w has 3 members in rack r0; at most 2 may be in one\n");
}

TEST(ValidateGang, SpreadOverNodesCountsNodes) {
  const Snapshot s = two_racks();
  Group group = group_of("w", 2, 1);
  group.spread = Spread{{TopologyKind::kSwitch, "node"}, 1};

  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 1, 1), entry(1, 0, 1, 1, 1)}), "");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 2, 3)}), "job a: group w has 2 members in node n0; at most 1 may be in one\n");
}

TEST(ValidateGang, SegmentSharesADomain) {
  const Snapshot s = two_racks();
  Group group = group_of("w", 4, 4);
  group.segment = Segment{2, {TopologyKind::kSwitch, "rack"}};

  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 1, 0xf), entry(1, 0, 1, 1, 0xf), entry(2, 0, 2, 2, 0xff)}), "");
  EXPECT_EQ(check(s, {group}, {entry(0, 0, 0, 1, 0xf), entry(2, 0, 1, 2, 0xff), entry(1, 0, 3, 1, 0xf)}),
            "job a: segment 0 of group w lies on nodes n0 and n2, in different places at level rack\n"
            "job a: segment 1 of group w lies on nodes n2 and n1, in different places at level rack\n");
}

TEST(ValidateGang, GpuTypeIsThatOfTheShapeOrOneForAll) {
  Snapshot s = two_racks();
  s.nodes[1].gpu_type = "h100";
  add_job(s, "a", 2);
  Job any = s.jobs[0], fixed = any;
  fixed.shapes[0].gpu_type = "h100";

  EXPECT_EQ(flat_job(s, fixed, flat({{1, 3}})), "");
  EXPECT_EQ(flat_job(s, fixed, flat({{0, 3}})), "job a: uses node n0 of GPU type a100; shape s runs on h100\n");
  EXPECT_EQ(flat_job(s, any, flat({{0, 1}, {1, 1}})),
            "job a: uses node n1 of GPU type h100; shape s runs on one type, and began with a100\n");
}

TEST(ValidateGang, GpuMemoryMustSuffice) {
  Snapshot s = two_racks();
  add_job(s, "a", 1).constraints.gpu_memory_bytes = (std::int64_t{80} << 30) + 1;

  EXPECT_EQ(flat_job(s, s.jobs[0], flat({{0, 1}})),
            "job a: needs 85899345921 bytes of GPU memory; node n0 has GPUs of 85899345920 bytes\n");
}

TEST(ValidateGang, ConstraintsOnNodesHold) {
  Snapshot s = two_racks();
  s.nodes[0].labels = {{"zone", "a"}};
  s.nodes[1].virtual_clusters = {"vc"};
  add_job(s, "a", 1);
  Job labels = s.jobs[0], required = labels, excluded = labels, inside = labels;
  labels.constraints.labels = {{"zone", {"a", "b"}}};
  required.constraints.required_nodes = {"n3"};
  excluded.constraints.excluded_nodes = {"n3"};
  inside.virtual_cluster = "vc";

  EXPECT_EQ(flat_job(s, labels, flat({{0, 1}})), "");
  EXPECT_EQ(flat_job(s, labels, flat({{2, 1}})), "job a: may not use node n2: its labels do not match\n");
  EXPECT_EQ(flat_job(s, required, flat({{2, 1}})), "job a: may not use node n2: it is not one of the required nodes\n");
  EXPECT_EQ(flat_job(s, excluded, flat({{3, 1}})), "job a: may not use node n3: the job excludes it\n");
  EXPECT_EQ(flat_job(s, inside, flat({{1, 1}})), "");
  EXPECT_EQ(flat_job(s, excluded, flat({{1, 1}})), "job a: may not use node n1: it serves other virtual clusters\n");
}

}  // namespace berth::test::validate_gang_test
