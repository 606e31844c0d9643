#include "tests/unit/io/slurm/slurm_support.hpp"
#include "tests/unit/io/topology/topology_support.hpp"

namespace berth::test::slurm_topology_yaml_test {
namespace {

const char* const kYaml =
    "---\n"
    "- topology: fabric\n"
    "  cluster_default: true\n"
    "  tree:\n"
    "    switches:\n"
    "      - switch: s1\n"
    "        children: l[1-2]\n"
    "      - switch: l1\n"
    "        nodes: n[1-2]\n"
    "      - switch: l2\n"
    "        nodes: n[3-4]\n"
    "- topology: racks\n"
    "  block:\n"
    "    block_sizes: [2, 4]\n"
    "    blocks:\n"
    "      - block: b1\n"
    "        nodes: n[1-2]\n"
    "      - block: b2\n"
    "        nodes: n[3-4]\n"
    "- topology: none\n"
    "  flat: true\n";

std::string refused(const std::string& yaml, const std::string& topology = "") {
  return refusal_of([&] { slurm_model(yaml, topology); });
}

}  // namespace

TEST(SlurmTopologyYaml, IsTheTreeOfTheConf) {
  const io::TopologyModel yaml = slurm_model(kYaml),
                          conf = slurm_model("SwitchName=s1 Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\n");

  EXPECT_EQ(paths_of_nodes(yaml), (std::vector<std::string>{"s1/l1", "s1/l1", "s1/l2", "s1/l2"}));
  EXPECT_EQ(paths_of_nodes(yaml), paths_of_nodes(conf));
  EXPECT_EQ(paths_of_nodes(yaml, TopologyKind::kNvlink), (std::vector<std::string>{"b1", "b1", "b2", "b2"}));
  EXPECT_EQ(yaml.block_sizes, (std::vector<std::int64_t>{2, 4}));
}

TEST(SlurmTopologyYaml, StandsBetweenTheDocumentsOfTheImport) {
  const std::string nodes = nodes22({node22("n1"), node22("n2"), node22("n3"), node22("n4")});
  const io::SlurmImport after = imported(nodes + kYaml), before = imported(kYaml + nodes + jobs22({job22(1)}));

  EXPECT_EQ(after.snapshot.nodes[3].domain[static_cast<std::size_t>(TopologyKind::kSwitch)], "s1/l2");
  EXPECT_EQ(before.snapshot.domains, after.snapshot.domains);
  EXPECT_EQ(before.snapshot.jobs.size(), 1u);
  const std::string conf = "SwitchName=x Nodes=n1\n", two = "a second topology; one cluster has one";
  EXPECT_EQ(refusal(conf + nodes + kYaml), "in:10: " + two);
  EXPECT_EQ(refusal(kYaml + nodes + conf), "in:30: " + two);
}

TEST(SlurmTopologyYaml, OfSeveralTreesTheNamedOrTheDefaultOneIsTaken) {
  const auto tree = [](const std::string& name, const std::string& more) {
    return "- topology: " + name + "\n" + more + "  tree: {switches: [{switch: " + name + "1, nodes: n1}]}\n";
  };
  const std::string first = tree("a", "") + tree("b", ""), chosen = tree("a", "") + tree("b", "  cluster_default: true\n");

  EXPECT_EQ(paths_of_nodes(slurm_model(first)).front(), "a1");
  EXPECT_EQ(paths_of_nodes(slurm_model(chosen)).front(), "b1");
  EXPECT_EQ(paths_of_nodes(slurm_model(chosen, "a")).front(), "a1");
  EXPECT_EQ(refused(chosen, "c"), "in:1: there is no topology 'c'");
  EXPECT_EQ(slurm_model("- topology: a\n  flat: true\n").of(TopologyKind::kSwitch).size(), 0u);
}

TEST(SlurmTopologyYaml, WhatIsNoTreeIsRefusedAtItsLine) {
  const auto switches = [](const std::string& list) { return "- topology: t\n  tree:\n    switches:\n" + list; };
  EXPECT_EQ(refused(switches("    - {switch: a, children: b}\n")), "in:4: there is no switch 'b'");
  EXPECT_EQ(refused(switches("    - {switch: a, nodes: n1}\n    - {switch: a, nodes: n2}\n")), "in:5: duplicate switch 'a'");
  EXPECT_EQ(refused(switches("    - {switch: a, nodes: n1}\n    - {switch: b, nodes: n1}\n")),
            "in:5: node 'n1' lies in 'a' and in 'b': no tree");
  EXPECT_EQ(refused(switches("    - {switch: a, nodes: 'n[1'}\n")),
            "in:4: /0/tree/switches/0/nodes: 'n[1' is no list of names: '[' without ']'");
  EXPECT_EQ(refused(switches("    - {switch: a, nodes: n1, children: b}\n")),
            "in:4: /0/tree/switches/0: switch 'a' has children and nodes: it needs one of them");
  EXPECT_EQ(refused(switches("    - {nodes: n1}\n")), "in:4: /0/tree/switches/0: the field 'switch' is missing");
  EXPECT_EQ(refused("- topology: t\n"), "in:1: /0: topology 't' needs one of tree, block and flat, and has 0");
  EXPECT_EQ(refused("- flat: true\n"), "in:1: /0: a topology without 'topology', its name");
  EXPECT_EQ(refused("- topology: t\n  flat: true\n- topology: t\n  flat: true\n"), "in:3: /1: duplicate topology 't'");
  EXPECT_EQ(refused("- topology: t\n  torus3d: {}\n"), "in:2: /0/torus3d: a torus is no tree: describe it with switches or blocks");
  EXPECT_EQ(refused("- topology: t\n  tree:\n   switches:\n  - x: [\n").substr(0, 3), "in:");
}

TEST(SlurmTopologyYaml, BlockSizesAreCheckedAsSlurmDoes) {
  const auto block = [](const std::string& sizes, const std::string& nodes) {
    return "- topology: t\n  block:\n    block_sizes: [" + sizes + "]\n    blocks:\n    - {block: b, nodes: '" + nodes +
           "'}\n    - {block: empty}\n";
  };
  EXPECT_EQ(refused(block("4,8", "n[1-3]")), "in:5: block 'b' has 3 nodes, fewer than 4, the first of BlockSizes");
  EXPECT_EQ(refused(block("2,6", "n[1-3]")), "in:3: BlockSizes: 6 is no power of two times 2, the first");
  EXPECT_EQ(refused(block("4,2", "n[1-4]")), "in:3: BlockSizes do not grow: 2 follows 4");
  EXPECT_EQ(refused(block("x", "n1")), "in:3: /0/block/block_sizes/0: block_sizes: 'x' is no number of nodes");
  EXPECT_EQ(slurm_model(block("30,120", "n[1-32]")).block_sizes, (std::vector<std::int64_t>{30, 120}));
}

}  // namespace berth::test::slurm_topology_yaml_test
