#include "tests/support/traces.hpp"
#include "tests/unit/io/topology/topology_support.hpp"

namespace berth::test::topology_readers_test {
namespace {

using Paths = std::vector<std::string>;

std::string node_object(const std::string& name, const std::string& labels, const std::string& gpus = "8") {
  return R"({"kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {)" + labels +
         R"(}}, "status": {"capacity": {"nvidia.com/gpu": ")" + gpus + "\"}}}";
}
std::string list_of(const std::string& items) { return "{\"kind\": \"List\", \"items\": [\n" + items + "\n]}"; }

const std::string kTopologyObject =
    R"({"kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}})";

std::string instances(const std::string& rows) { return "{\"instances\": [\n" + rows + "\n]}"; }

}  // namespace

TEST(ReadKueue, LabelsAreUniqueOnlyAlongThePath) {
  const io::TopologyModel model = read_text(
      io::read_kueue,
      list_of(kTopologyObject + ",\n" + node_object("n1", R"("block": "b1", "rack": "r1", "nvidia.com/gpu.product": "H100")") + ",\n" +
              node_object("n2", R"("block": "b2", "rack": "r1")") + ",\n" + node_object("n3", R"("block": "b2", "rack": "r2")", "0")));

  EXPECT_EQ(paths_of_nodes(model), (Paths{"b1/r1", "b2/r1"}));
  EXPECT_EQ(domain_at(model, "b2/r1").level, "rack");
  EXPECT_EQ(model.nodes[0].gpus, 8);
  EXPECT_EQ(model.nodes[0].gpu_type, "H100");
}

TEST(ReadKueue, ManifestsInYamlAreTheSame) {
  const std::string yaml =
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata:\n  name: t\nspec:\n  levels:\n  - nodeLabel: rack\n"
      "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n    rack: r1\n    nvidia.com/gpu.clique: c.1\n"
      "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: n2\n  labels: {rack: r2}\nspec: {unschedulable: true}\n";

  const io::TopologyModel model = read_text(io::read_kueue, yaml);

  EXPECT_EQ(paths_of_nodes(model), (Paths{"r1", "r2"}));
  EXPECT_EQ(paths_of_nodes(model, TopologyKind::kNvlink), (Paths{"c.1", ""}));
  EXPECT_EQ(model.nodes[1].state, NodeState::kDrain);
  EXPECT_EQ(model.nodes[0].gpus, -1) << "no node of the list says";
}

TEST(ReadKueue, WithoutATopologyTheTiersOfTopographAreTheLevels) {
  const io::TopologyModel model =
      read_text(io::read_kueue, list_of(node_object("n1", R"("fabric.topograph.run/tier-0": "leaf", "fabric.topograph.run/tier-1": "spine",
        "accelerator.topograph.run/domain": "nvl1", "accelerator.topograph.run/sub-domain": "half")")));

  EXPECT_EQ(paths_of_nodes(model), Paths{"spine/leaf"});
  EXPECT_EQ(domain_at(model, "spine").level, "tier-1");
  EXPECT_EQ(paths_of_nodes(model, TopologyKind::kNvlink), Paths{"nvl1/half"});
}

TEST(ReadKueue, WhatIsNoTopologyIsRefusedAtItsLine) {
  const auto refused = [](const std::string& items, const std::string& topology = "") {
    return refusal_of_text(io::read_kueue, list_of(items), topology);
  };
  const std::string node = node_object("n1", R"("block": "b1", "rack": "r1")");
  EXPECT_EQ(refused(kTopologyObject + ",\n" + node_object("n1", R"("block": "b1")")),
            "in:3: node 'n1' has no label 'rack', a level of topology 't'");
  EXPECT_EQ(refused(kTopologyObject + ",\n" + node + ",\n" + node), "in:4: duplicate node 'n1'");
  EXPECT_EQ(refused(kTopologyObject + ",\n" + node_object("n1", R"("block": "a/b", "rack": "r")")),
            "in:3: 'a/b' is no name of a domain: it has a '/'");
  EXPECT_EQ(refused(kTopologyObject + ",\n" + kTopologyObject + ",\n" + node), "in:3: duplicate topology 't'");
  EXPECT_EQ(refused(kTopologyObject + ",\n" + node, "u"), "--topology: there is no topology 'u' (topologies: t)");
  EXPECT_EQ(refused(node), "in: no Topology, and no node has a label fabric.topograph.run/tier-0: the nodes are in no domain");
  EXPECT_EQ(refused(node_object("n1", R"("fabric.topograph.run/tier-1": "s")")),
            "in:2: node 'n1' has the label fabric.topograph.run/tier-1 and not fabric.topograph.run/tier-0");
  EXPECT_EQ(refused(kTopologyObject), "in: no nodes with GPUs: give what 'kubectl get nodes -o json' prints, too");
  EXPECT_EQ(refused(R"({"metadata": {}})"), "in:2: /items/0: an object without 'kind': this is no object of Kubernetes");
  EXPECT_EQ(
      refused(R"({"kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "a"}]}},)" + node),
      "in:2: topology 't': level 'a' stands twice");
  EXPECT_EQ(
      refused(
          R"({"kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "a"}]}},)" +
          node),
      "in:2: topology 't': level 'kubernetes.io/hostname' is the node and comes last");
}

TEST(ReadTopograph, TheClosestSwitchIsTierZero) {
  const io::TopologyModel model =
      read_text(io::read_topograph,
                instances(R"({"id": "i1", "network_layers": ["l1", "s1", "c"], "labels": {"accelerator.topograph.run/domain": "B1"}},
{"id": "i2", "network_layers": ["l2", "s1", "c"]},
{"id": "i3", "network_layers": []})"));

  EXPECT_EQ(paths_of_nodes(model), (Paths{"c/s1/l1", "c/s1/l2", ""}));
  EXPECT_EQ(domain_at(model, "c/s1/l1").level, "tier-0");
  EXPECT_EQ(paths_of_nodes(model, TopologyKind::kNvlink), (Paths{"B1", "", ""}));
}

TEST(ReadTopograph, ASwitchHasOneParentAndOneTier) {
  const auto refused = [](const std::string& rows) { return refusal_of_text(io::read_topograph, instances(rows)); };
  const std::string first = R"({"id": "a", "network_layers": ["l", "s"]},)"
                            "\n";
  EXPECT_EQ(refused(first + R"({"id": "b", "network_layers": ["l", "t"]})"),
            "in:3: /instances/1: switch 'l' lies below 's' and 't': no tree");
  EXPECT_EQ(refused(first + R"({"id": "b", "network_layers": ["l"]})"),
            "in:3: /instances/1: switch 'l' lies below 's' and no switch: no tree");
  EXPECT_EQ(refused(first + R"({"id": "b", "network_layers": ["s", "u"]})"), "in:3: /instances/1: switch 's' is tier-1 and tier-0");
  EXPECT_EQ(refused(R"({"id": "b", "network_layers": ["s", "s"]})"), "in:2: /instances/0: switch 's' is tier-1 and tier-0");
  EXPECT_EQ(refused(first + R"({"id": "a", "network_layers": []})"), "in:3: duplicate node 'a'");
  EXPECT_EQ(refused(R"({"network_layers": []})"), "in:2: /instances/0: the field 'id' is missing");
  EXPECT_EQ(refused(R"({"id": "a", "network_layers": ["1","2","3","4","5","6","7"]})"),
            "in:2: /instances/0: instance 'a' has 7 layers, and 6 are the most");
  EXPECT_EQ(refusal_of_text(io::read_topograph, "{}"), "in:1: the field 'instances' is missing: this is no graph of topograph");
  EXPECT_EQ(refused(""), "in:1: no instances");
}

namespace {

std::string hyper_node(const std::string& name, int tier, const std::string& members) {
  return "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: " + name +
         "}\nspec:\n  tier: " + std::to_string(tier) + "\n  members:\n" + members + "---\n";
}
std::string exact(const std::string& type, const std::string& name) {
  return "  - {type: " + type + ", selector: {exactMatch: {name: " + name + "}}}\n";
}

}  // namespace

TEST(ReadVolcano, HyperNodesAreATree) {
  const io::TopologyModel model = read_text(
      io::read_volcano, hyper_node("s0", 1, exact("Node", "n0") + exact("Node", "n1")) + hyper_node("s1", 1, exact("Node", "n2")) +
                            hyper_node("s4", 2, "  - {type: HyperNode, selector: {regexMatch: {pattern: 's[01]$'}}}\n"));

  EXPECT_EQ(paths_of_nodes(model), (Paths{"s4/s0", "s4/s0", "s4/s1"}));
  EXPECT_EQ(domain_at(model, "s4").level, "tier-2");
}

TEST(ReadVolcano, NodesAreSelectedByPatternAndLabels) {
  const std::string nodes = list_of(node_object("a-1", R"("zone": "x")") + ",\n" + node_object("a-2", R"("zone": "y")") + ",\n" +
                                    node_object("b-1", R"("zone": "x")") + ",\n" + node_object("cpu", "", "0"));
  const Folder folder;
  io::ImportNotes notes;
  const std::string by_pattern = hyper_node("a", 1, "  - {type: Node, selector: {regexMatch: {pattern: '^a-\\d+$'}}}\n"),
                    by_label = hyper_node("y", 1, "  - {type: Node, selector: {labelMatch: {matchLabels: {zone: y}}}}\n");
  const io::TopologyModel pattern = io::read_volcano({folder.write("h", by_pattern), folder.write("n", nodes)}, "", notes),
                          label = io::read_volcano({folder.write("h", by_label), folder.write("n", nodes)}, "", notes);

  EXPECT_EQ(paths_of_nodes(pattern), (Paths{"a", "a", ""}));
  EXPECT_EQ(paths_of_nodes(label), (Paths{"", "y", ""}));
  EXPECT_EQ(pattern.nodes[0].gpus, 8);
}

TEST(ReadVolcano, WhatIsNoTreeIsRefusedAtItsLine) {
  const auto refused = [](const std::string& yaml) { return refusal_of_text(io::read_volcano, yaml); };
  const std::string leaf = hyper_node("l", 1, exact("Node", "n"));
  EXPECT_EQ(refused(hyper_node("a", 1, exact("HyperNode", "b")) + hyper_node("b", 2, exact("HyperNode", "a"))),
            "in:1: HyperNode 'a' lies below itself");
  EXPECT_EQ(refused(leaf + hyper_node("a", 1, exact("HyperNode", "l"))), "in:9: HyperNode 'a' of tier 1 has 'l' of tier 1 below it");
  EXPECT_EQ(refused(leaf + hyper_node("a", 2, exact("HyperNode", "x"))), "in:9: there is no HyperNode 'x'");
  EXPECT_EQ(refused(leaf + hyper_node("k", 1, exact("Node", "n"))), "in:9: node 'n' lies in 'l' and in 'k': no tree");
  EXPECT_EQ(refused(leaf + leaf), "in:9: duplicate HyperNode 'l'");
  EXPECT_EQ(refused(hyper_node("a", 1, "  - {type: Node, selector: {regexMatch: {pattern: x}}}\n")),
            "in:7: HyperNode 'a': it selects nodes by pattern or labels: give what 'kubectl get nodes -o json' prints, too");
  EXPECT_EQ(refused(hyper_node("a", 1, "  - {type: HyperNode, selector: {regexMatch: {pattern: '('}}}\n")),
            "in:7: HyperNode 'a': '(' is no regular expression that is read here");
  EXPECT_EQ(refused(hyper_node("a", 1, "  - {type: HyperNode, selector: {regexMatch: {pattern: 'x'}}}\n")),
            "in:7: HyperNode 'a': no member matches");
  EXPECT_EQ(refused(hyper_node("a", 1, "  - {type: Pod, selector: {exactMatch: {name: x}}}\n")),
            "in:7: /spec/members/0: a member is a Node or a HyperNode, not 'Pod'");
  EXPECT_EQ(refused(hyper_node("a", 1, "  - {type: Node}\n")),
            "in:7: /spec/members/0: a member needs one of exactMatch, regexMatch and labelMatch, and has 0");
  EXPECT_EQ(refused(list_of(node_object("n", ""))), "in: no HyperNodes: give what 'kubectl get hypernodes -o json' prints");
}

TEST(ReadLingjun, SwitchesAreKnownByTheirPath) {
  const io::TopologyModel model = read_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,G6,P10,S1\nh2,G6,P12,S1\nh3,G6,P10,S1\n");

  EXPECT_EQ(paths_of_nodes(model), (Paths{"G6/P10/S1", "G6/P12/S1", "G6/P10/S1"}));
  EXPECT_EQ(domain_at(model, "G6/P12").level, "PSW");
  EXPECT_EQ(refusal_of_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,G,P,S\nh1,G,P,T\n"), "in:3: duplicate node 'h1'");
  EXPECT_EQ(refusal_of_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,G,,S\n"), "in:2: '' is no name of a domain: it is empty");
  EXPECT_EQ(refusal_of_text(io::read_lingjun, "ip,DSW,PSW\nh1,G,P\n").substr(0, 3), "in:");
}

TEST(ReadLingjun, ThePublishedFileHas119Leaves) {
  const std::string file = trace_file("lingjun/topo.csv");
  if (file.empty()) GTEST_SKIP() << "no lingjun/topo.csv";
  io::ImportNotes notes;

  const io::TopologyModel model = io::read_lingjun({file}, "", notes);

  EXPECT_EQ(model.nodes.size(), 847u);
  EXPECT_EQ(model.of(TopologyKind::kSwitch).size(), 1u + 3u + 119u);
}

TEST(ReadTopology, NodesNeedACountOfGpus) {
  io::TopologyModel model = read_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,G6,P10,S1\n");
  model.set_file("topo.csv");
  Snapshot snapshot;

  EXPECT_EQ(refusal_of([&] { io::add_to_snapshot(model, {}, snapshot); }),
            "topo.csv does not say how many GPUs its nodes have: give --gpus-per-node");
  Snapshot full;
  io::add_to_snapshot(model, {8, "H100"}, full);
  EXPECT_NO_THROW(check_snapshot(full));
  EXPECT_EQ(full.nodes[0].gpus, 8);
  EXPECT_EQ(full.gpu_types[0].id, "H100");
}

}  // namespace berth::test::topology_readers_test
