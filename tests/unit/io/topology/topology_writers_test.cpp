// What is written, and what is read again.
#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/io/topology/block_sizes.hpp"
#include "host/io/topology/slurm_hostlist.hpp"
#include "tests/unit/io/topology/topology_support.hpp"

namespace berth::test::topology_writers_test {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Through a snapshot and its JSON.
io::TopologyModel through_snapshot(const io::TopologyModel& model) {
  Snapshot snapshot;
  io::add_to_snapshot(model, {8, "H100"}, snapshot);
  check_snapshot(snapshot);
  return io::model_of(io::parse_snapshot(io::to_json(snapshot)), "again");
}

std::string conf_again(const std::string& conf) { return io::write_slurm_conf(through_snapshot(slurm_model(conf))); }

}  // namespace

TEST(CompactHostlist, RangesAreOfNumbersAtTheEnd) {
  EXPECT_EQ(io::compact_hostlist({"n2", "n1", "n3", "n10", "x", "n9", "r1a"}), "n[1-3,9-10],r1a,x");
  EXPECT_EQ(io::compact_hostlist({"n08", "n09", "n10", "n11"}), "n[08-11]");
  EXPECT_EQ(io::compact_hostlist({"n1", "n01", "n2", "7"}), "7,n[1,01,2]");
  EXPECT_EQ(refusal_of([] { io::compact_hostlist({"a,b"}); }), "'a,b' cannot be written as a name of Slurm");
}

TEST(CompactHostlist, ExpandsToTheSameNames) {
  for (const std::vector<std::string>& names : {std::vector<std::string>{"n1", "n01", "n2", "n10", "n099", "n100", "a", "b7"},
                                                {"x99999999999999999999", "x100000000000000000000", "0", "00", "1"}}) {
    std::vector<std::string> again, sorted = names;
    std::int64_t left = 100;
    EXPECT_EQ(io::expand_hostlist(io::compact_hostlist(names), left, again), "");
    std::sort(again.begin(), again.end());
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(again, sorted);
  }
}

TEST(BlockSizes, AreInferredFromTheDomains) {
  EXPECT_EQ(io::inferred_block_sizes(Sizes{8, 9, 8}), (Sizes{8, 16}));
  EXPECT_EQ(io::inferred_block_sizes(Sizes(8, 8)), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(io::inferred_block_sizes(Sizes{8, 0}), Sizes{8}) << "an empty block completes a larger one";
  EXPECT_EQ(io::inferred_block_sizes(Sizes(15, 9), Sizes{135}), (Sizes{9, 144}));
  EXPECT_EQ(io::inferred_block_sizes(Sizes{}), Sizes{});
}

TEST(WriteSlurmConf, IsTheFileThatWasRead) {
  const std::string tree = "SwitchName=l1 Nodes=n[01-18]\nSwitchName=l2 Nodes=n[19-36]\nSwitchName=s Switches=l[1-2]\n";
  EXPECT_EQ(conf_again(tree), tree);
  EXPECT_EQ(conf_again(kNvl72Conf), kNvl72Conf) << "both spines";
  const std::string blocks = "BlockName=b1 Nodes=n[1-32]\nBlockName=b2 Nodes=n[33-64]\nBlockName=b3\nBlockSizes=30,120\n";
  EXPECT_EQ(conf_again(blocks), blocks);
}

TEST(WriteSlurmConf, NamesThatRepeatAreReplacedAndGivenInAComment) {
  const io::TopologyModel model = read_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,G,P1,S\nh2,G,P2,S\n");

  EXPECT_EQ(io::write_slurm_conf(model),
            "SwitchName=G Switches=P[1-2]\nSwitchName=P1 Switches=switch1\n# switch1=G/P1/S\nSwitchName=switch1 Nodes=h1\n"
            "SwitchName=P2 Switches=switch2\n# switch2=G/P2/S\nSwitchName=switch2 Nodes=h2\n");
  EXPECT_EQ(paths_of_nodes(slurm_model(io::write_slurm_conf(model))), (std::vector<std::string>{"G/P1/switch1", "G/P2/switch2"}));
}

TEST(WriteSlurmYaml, ConfAndYamlAreOneTree) {
  const io::TopologyModel conf =
      slurm_model(std::string(kNvl72Conf) + "BlockName=b1 Nodes=n[01-18]\nBlockName=b2 Nodes=n[19-72]\nBlockSizes=18,36\n");
  const std::string yaml = io::write_slurm_yaml(conf);
  const io::TopologyModel again = slurm_model(yaml);

  EXPECT_EQ(io::write_slurm_yaml(again), yaml);
  EXPECT_EQ(io::write_slurm_conf(again), kNvl72Conf);
  EXPECT_EQ(paths_of_nodes(again), paths_of_nodes(conf));
  EXPECT_EQ(paths_of_nodes(again, TopologyKind::kNvlink), paths_of_nodes(conf, TopologyKind::kNvlink));
  EXPECT_EQ(again.block_sizes, conf.block_sizes);
}

TEST(WriteTopograph, IsTheGraphThatWasRead) {
  const std::string graph =
      "{\"instances\":[\n"
      R"({"id":"i1","network_layers":["l1","s"],"labels":{"accelerator.topograph.run/domain":"B1","accelerator.topograph.run/sub-domain":"p","nvidia.com/gpu.count":"8"}},)"
      "\n"
      R"({"id":"i2","network_layers":["l2","s"],"labels":{"nvidia.com/gpu.count":"8"}}]})"
      "\n";

  EXPECT_EQ(io::write_topograph(read_text(io::read_topograph, graph)), graph);
  EXPECT_EQ(io::write_topograph(through_snapshot(read_text(io::read_topograph, graph))), graph);
}

TEST(WriteLabels, AreTheTopologyWhenTheyAreRead) {
  const io::TopologyModel conf = slurm_model(std::string(kNvl72Conf) + "BlockName=b1 Nodes=n[01-72]\n"), before = through_snapshot(conf);
  const io::TopologyModel after = read_text(io::read_kueue, io::write_labels(before));

  EXPECT_EQ(paths_of_nodes(after), paths_of_nodes(before));
  EXPECT_EQ(paths_of_nodes(after, TopologyKind::kNvlink), paths_of_nodes(before, TopologyKind::kNvlink));
  EXPECT_EQ(after.nodes[0].gpus, 8);
  EXPECT_EQ(io::write_labels(after), io::write_labels(through_snapshot(after)));
  EXPECT_EQ(refusal_of([] { io::write_labels(slurm_model("SwitchName=a:b Nodes=n1\n")); }),
            "'a:b' is no value of a Kubernetes label: up to 63 letters, digits, '-', '_' and '.'");
}

TEST(WriteHypernodes, AreTheTreeWhenTheyAreRead) {
  const io::TopologyModel before = slurm_model(kNvl72Conf);
  const io::TopologyModel after = read_text(io::read_volcano, io::write_hypernodes(before));

  EXPECT_EQ(paths_of_nodes(after), paths_of_nodes(before));
  EXPECT_EQ(domain_at(after, "spine1").level, "tier-2");
  EXPECT_EQ(io::write_hypernodes(after), io::write_hypernodes(before));
}

TEST(WriteTopology, ANodeBesideSwitchesIsRefusedWhereSlurmHasNone) {
  io::TopologyModel model = slurm_model("SwitchName=l Nodes=n1\nSwitchName=s Switches=l\n");
  model.place(model.add_node("n2", 0), TopologyKind::kSwitch, 1, 0);

  EXPECT_EQ(refusal_of([&] { io::write_slurm_conf(model); }), "'s' has nodes and domains below it, and a switch of Slurm has one of them");
  EXPECT_EQ(refusal_of([] { io::write_slurm_yaml(io::TopologyModel()); }),
            "no domain of topology switch or nvlink holds a node: nothing to write");
}

}  // namespace berth::test::topology_writers_test
