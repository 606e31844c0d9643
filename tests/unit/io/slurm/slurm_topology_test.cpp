#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_topology_test {
namespace {

io::SlurmImport with_topology(const std::string& text, const std::vector<SlurmRow>& jobs = {}) {
  return imported(text + nodes22({node22("n1"), node22("n2"), node22("n3"), node22("n4")}) + jobs22(jobs));
}

const Domain& domain_of(const io::SlurmImport& import, const std::string& id) {
  return *std::find_if(import.snapshot.domains.begin(), import.snapshot.domains.end(), [&](const Domain& d) { return d.id == id; });
}

std::string switch_of(const io::SlurmImport& import, std::size_t node) {
  return import.snapshot.nodes[node].domain[static_cast<std::size_t>(TopologyKind::kSwitch)];
}

}  // namespace

TEST(SlurmTopology, SwitchesBecomeDomainsNamedByHeight) {
  const io::SlurmImport import = with_topology(
      "SwitchName=l1 Nodes=n[1-2] # first\nswitchname=l2 NODES=n[3-4] LinkSpeed=100\n\nSwitchName=s1 Switches=l[1-2]\nSwitchName=c "
      "Switches=s1\n");

  EXPECT_EQ(domain_of(import, "l1").level, "leaf");
  EXPECT_EQ(domain_of(import, "l1").parent, "c/s1");
  EXPECT_EQ(domain_of(import, "s1").level, "spine");
  EXPECT_EQ(domain_of(import, "c").level, "core");
  EXPECT_EQ(switch_of(import, 0), "c/s1/l1");
  EXPECT_EQ(switch_of(import, 3), "c/s1/l2");
}

TEST(SlurmTopology, WhatScontrolPrintsIsTheSameTree) {
  const io::SlurmImport printed = with_topology(
      "SwitchName=l1 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=l2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
      "SwitchName=s1 Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=l[1-2]\n");
  const io::SlurmImport file = with_topology("SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=s1 Switches=\\\nl[1-2]\n");

  EXPECT_EQ(printed.snapshot,
            with_topology("SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=s1 Switches=l[1-2]\n").snapshot);
  EXPECT_EQ(switch_of(printed, 2), "s1/l2");
  EXPECT_EQ(file.snapshot.domains.size(), 3u);
}

TEST(SlurmTopology, ASwitchIsAsHighAsTheLongestWayDown) {
  const io::SlurmImport import =
      with_topology("SwitchName=l1 Nodes=n1\nSwitchName=s1 Switches=l1\nSwitchName=l2 Nodes=n2\nSwitchName=c Switches=s1,l2\n");

  EXPECT_EQ(domain_of(import, "c").level, "core");
  EXPECT_EQ(domain_of(import, "l2").level, "leaf");
  EXPECT_EQ(domain_of(import, "l2").parent, "c");
}

TEST(SlurmTopology, BlocksBecomeDomainsOfNvlinkAndSegmentsStayInThem) {
  const SlurmRow job =
      job22(1).text("tres_per_node", "gres:gpu:8").with("segment_size", "2").text("tres_req_str", "cpu=1,node=4").with("max_nodes", "4");

  const io::SlurmImport import = with_topology("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n", {job});

  EXPECT_EQ(domain_of(import, "b2").topology, TopologyKind::kNvlink);
  EXPECT_EQ(domain_of(import, "b2").level, "block");
  EXPECT_EQ(import.snapshot.nodes[3].domain[static_cast<std::size_t>(TopologyKind::kNvlink)], "b2");
  ASSERT_TRUE(find_job(import.snapshot, "1")->shapes[0].groups.at(0).segment.has_value());
  EXPECT_EQ(find_job(import.snapshot, "1")->shapes[0].groups[0].segment->size, 2);
  EXPECT_EQ(import.snapshot.x, (Extensions{{"x_block_sizes", "[2,4]"}}));
}

TEST(SlurmTopology, SwitchesOverTheSameSwitchesAreOneDomain) {
  const io::SlurmImport import = with_topology(
      "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=s1 Switches=l[1-2]\nSwitchName=s2 Switches=l[1-2]\n"
      "SwitchName=c1 Switches=s1\nSwitchName=c2 Switches=s[1-2]\n");

  EXPECT_EQ(switch_of(import, 3), "c1/s1/l2");
  EXPECT_EQ(domain_of(import, "s1").spine_count, 2);
  EXPECT_EQ(domain_of(import, "c1").spine_count, 2) << "once s1 and s2 are one, both have the same below";
  EXPECT_EQ(import.snapshot.domains.size(), 4u);
}

TEST(SlurmTopology, AloneItNeedsACountOfGpus) {
  const io::SlurmImport import = imported("SwitchName=l1 Nodes=n[1-2]\n", {.nodes = {8, "H100"}});

  EXPECT_EQ(import.snapshot.nodes.size(), 2u);
  EXPECT_EQ(import.snapshot.nodes[1].gpus, 8);
  EXPECT_EQ(switch_of(import, 1), "l1");
}

TEST(SlurmTopology, NodesOfTheTopologyThatAreNotThereAreCounted) {
  EXPECT_TRUE(
      noted(with_topology("SwitchName=l1 Nodes=n[1-9]\n"), "5 nodes of the topology left out: not among the nodes with GPUs (first: n5)"));
}

TEST(SlurmTopology, WhatIsNoTreeIsRefusedAtItsLine) {
  const std::string nodes = nodes22({node22("n1"), node22("n2")});
  const auto refused = [&](const std::string& text) { return refusal(text + nodes); };
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n"), "in:2: there is no switch 'c'");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"), "in:2: duplicate switch 'a'");
  EXPECT_EQ(refused("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"), "in:1: switch 'a' lies below itself");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=d Nodes=n2\nSwitchName=b Switches=a\nSwitchName=c Switches=a,d\n"),
            "in:4: switch 'a' lies below 'b' and 'c': no tree");
  EXPECT_EQ(refused("RingName=a Nodes=n1\n"), "in:1: a ring is no tree: describe it with switches or blocks");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Switches=b\n"), "in:2: switch 'b' lies below itself");
  EXPECT_EQ(refused("BlockName=a Nodes=n1\nBlockSizes=2\n"), "in:1: block 'a' has 1 node, fewer than 2, the first of BlockSizes");
  EXPECT_EQ(refused("BlockName=a Nodes=n[1-2]\nBlockSizes=2,6\n"), "in:2: BlockSizes: 6 is no power of two times 2, the first");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n"), "in:2: node 'n1' lies in 'a' and in 'b': no tree");
  EXPECT_EQ(refused("SwitchName=a Nodes=n[1-4000000000]\n"),
            "in:1: 'n[1-4000000000]' is no list of names: one expression stands for more than 65536 names");
  EXPECT_EQ(refused("SwitchName=a/b Nodes=n1\n"), "in:1: 'a/b' is no name of a switch or block");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2 nodes=n1\n"), "in:2: 'nodes' stands twice on this line");
  EXPECT_EQ(refused("SwitchName=a SwitchName=b Nodes=n1\n"), "in:1: 'switchname' stands twice on this line");
}

TEST(SlurmTopology, MoreThanSixLevelsAreRefused) {
  std::string text = "SwitchName=s0 Nodes=n1\n";
  for (int i = 1; i < 7; ++i) text += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i - 1) + "\n";

  EXPECT_EQ(refusal(text + nodes22({node22("n1")})), "in:7: switch 's6' is more than 6 levels above the nodes");
}

TEST(SlurmTopology, BlocksAndNamesAreCheckedWhereTheyStand) {
  const std::string nodes = nodes22({node22("n1"), node22("n2")});

  EXPECT_EQ(refusal("BlockName=b Nodes=n1\nBlockName=b Nodes=n2\n" + nodes), "in:2: duplicate block 'b'");
  EXPECT_EQ(refusal("SwitchName=s\x01 Nodes=n1\n" + nodes),
            "in:1: 's\\u0001' is no name of a switch or block: a text must not hold control characters");
}

}  // namespace berth::test::slurm_topology_test
