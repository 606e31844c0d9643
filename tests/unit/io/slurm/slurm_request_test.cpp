#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_request_test {
namespace {

// "2x8": members and GPUs of each; "g12": a flat gang; "+": members on separate nodes.
std::string request_of(const SlurmRow& row) {
  const io::SlurmImport import = of_jobs({row});
  const Job* job = find_job(import.snapshot, "1");
  if (job == nullptr) return import.notes.empty() ? "nothing" : import.notes.front();
  const Shape& shape = job->shapes.at(0);
  std::string text = shape.id;
  if (!shape.groups.empty() && shape.groups[0].spread) text += '+';
  return text + (shape.gpu_type.empty() ? "" : " " + shape.gpu_type);
}

SlurmRow asking(const std::string& key, const std::string& gpus, int nodes, int max_nodes, int tasks) {
  return job22(1)
      .text("tres_per_node", "")
      .text(key, gpus)
      .text("tres_req_str", "cpu=4,mem=400M,node=" + std::to_string(nodes))
      .with("node_count", std::to_string(nodes))
      .with("max_nodes", std::to_string(max_nodes))
      .with("tasks", std::to_string(tasks));
}

}  // namespace

TEST(SlurmRequest, GpusOfANodeMakeOneMemberANode) {
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:h100:8", 2, 2, 2)), "2x8 h100");
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:5", 1, 0, 1)), "1x5");
  EXPECT_EQ(request_of(asking("tres_per_node", "gres/gpu:h100=8", 2, 2, 2)), "2x8 h100");
}

TEST(SlurmRequest, MembersThatWouldFitOnOneNodeAreSpread) {
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:4", 2, 2, 2)), "2x4+");
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:4", 1, 1, 1)), "1x4");
}

TEST(SlurmRequest, GpusOfTheJobAreAFlatGangUnlessTheNodesAreCounted) {
  EXPECT_EQ(request_of(asking("tres_per_job", "gres:gpu:12", 1, 0, 1)), "g12");
  EXPECT_EQ(request_of(asking("tres_per_job", "gres:gpu:12", 2, 2, 2)), "2x6");
  EXPECT_EQ(request_of(asking("tres_per_job", "gres:gpu:7", 2, 2, 2)), "g7");
}

TEST(SlurmRequest, GpusOfATaskMakeOneMemberATaskUnlessTheNodesAreCounted) {
  EXPECT_EQ(request_of(asking("tres_per_task", "gres:gpu:2", 1, 0, 6)), "6x2");
  EXPECT_EQ(request_of(asking("tres_per_task", "gres:gpu:2", 2, 2, 4)), "2x4+");
  EXPECT_EQ(request_of(asking("tres_per_task", "gres:gpu:2", 2, 2, 5)), "5x2");
}

TEST(SlurmRequest, ARangeOfNodesTakesTheLeast) {
  const io::SlurmImport import = of_jobs({asking("tres_per_node", "gres:gpu:8", 2, 4, 2).with("node_count", "4")});

  EXPECT_EQ(find_job(import.snapshot, "1")->shapes[0].id, "2x8");
  EXPECT_TRUE(noted(import, "of a range of node counts the least is taken"));
}

TEST(SlurmRequest, WhatTheModelCannotExpressIsLeftOutWithItsCause) {
  EXPECT_EQ(request_of(job22(1).text("tres_per_socket", "gres:gpu:1")), "1 job left out: GPUs are asked for by socket (first: 1)");
  EXPECT_EQ(request_of(job22(1).text("tres_per_node", "gres:gpu:a:1,gres:gpu:b:1")),
            "1 job left out: several types of GPUs are asked for (first: 1)");
  EXPECT_EQ(request_of(job22(1).text("tres_per_node", "gres:gpu:65")),
            "1 job left out: more than 64 GPUs of one node are asked for (first: 1)");
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:64", 4'000'000, 0, 1)),
            "1 job left out: more than 100000000 GPUs are asked for (first: 1)");
  EXPECT_EQ(request_of(job22(1).text("tres_per_node", "").text("tres_req_str", "cpu=1,gres/gpu=2")),
            "1 job left out: GPUs are asked for in a way that the record does not show (first: 1)");
}

TEST(SlurmRequest, CoresForEachGpuCountWhereTheyAreMore) {
  const io::SlurmImport import = of_jobs({job22(1).text("cpus_per_tres", "gres:gpu:7"), job22(2)});

  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.cpu_milli_per_gpu, 7'000);
  EXPECT_EQ(find_job(import.snapshot, "2")->constraints.cpu_milli_per_gpu, 1'000);
}

TEST(SlurmRequest, AmountsForAGpuAreRoundedDownSoThatAWholeNodeFits) {
  const io::SlurmImport import = of_jobs({asking("tres_per_node", "gres:gpu:6", 1, 0, 1).text("tres_req_str", "cpu=64,mem=1000M,node=1")});

  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.cpu_milli_per_gpu, 10'666);
}

TEST(SlurmRequest, AnExclusiveJobTakesAllGpusOfItsNodes) {
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:2", 2, 2, 2).text("shared", "none")), "2x8");
  EXPECT_EQ(request_of(asking("tres_per_node", "gres:gpu:2", 1, 1, 1).with("shared", R"(["none"])")), "1x8");
  EXPECT_TRUE(
      noted(of_jobs({asking("tres_per_job", "gres:gpu:2", 1, 0, 1).text("shared", "none")}), "1 job: nodes of its own are not kept"));
}

TEST(SlurmRequest, NamesOfFeaturesBecomeLabels) {
  using Labels = std::vector<std::pair<std::string, std::vector<std::string>>>;
  const io::SlurmImport import = of_jobs({job22(1).text("features", "ib&fast"), job22(2).text("features", "ib,fast")});

  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.labels, Labels({{"fast", {"true"}}, {"ib", {"true"}}}));
  EXPECT_EQ(find_job(import.snapshot, "2")->constraints.labels, Labels({{"fast", {"true"}}, {"ib", {"true"}}}));
}

TEST(SlurmRequest, AlternativesOfFeaturesBecomeALabelOfNodesThatHaveAny) {
  const std::string nodes =
      nodes22({node22("n1").text("features", "a"), node22("n2").text("features", "b,c"), node22("n3").text("features", "c")});

  const io::SlurmImport import = imported(jobs22({job22(1).text("features", "a|b")}) + nodes);

  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.labels.at(0).first, "a|b");
  EXPECT_EQ(import.snapshot.nodes[0].labels.size(), 2u);
  EXPECT_EQ(import.snapshot.nodes[1].labels.size(), 3u);
  EXPECT_EQ(import.snapshot.nodes[2].labels.size(), 1u);
}

TEST(SlurmRequest, OtherExpressionsOfFeaturesAreLeftOut) {
  for (const char* features : {"[a|b]", "a*2&b", "(a|b)&c", "a&b|c", "!a", "a&", "&"}) {
    EXPECT_EQ(request_of(job22(1).text("features", features)),
              "1 job left out: its features are no names joined by '&' or by '|' alone (first: 1)")
        << features;
  }
}

TEST(SlurmRequest, RequiredAndExcludedNodesAreTakenWhereAllAreRequired) {
  const SlurmRow two = asking("tres_per_node", "gres:gpu:8", 2, 2, 2);
  const io::SlurmImport import = of_jobs({two.text("required_nodes", "n[1-2]").text("excluded_nodes", "n3")});

  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.required_nodes, std::vector<std::string>({"n1", "n2"}));
  EXPECT_EQ(find_job(import.snapshot, "1")->constraints.excluded_nodes, std::vector<std::string>({"n3"}));
  EXPECT_EQ(request_of(two.text("required_nodes", "n1")),
            "1 job left out: it requires some of its nodes and leaves the others open (first: 1)");
}

TEST(SlurmRequest, WishesThatAreNotKeptAreNoted) {
  const io::SlurmImport import = of_jobs({job22(1)
                                              .with("contiguous", "true")
                                              .with("required_switches", "1")
                                              .text("licenses", "matlab:1")
                                              .text("prefer", "fast")
                                              .text("tres_per_node", "gres:gpu:4,gres:nic:1")
                                              .with("segment_size", "2")});

  for (const char* note :
       {"contiguous", "count of switches", "licenses", "features that it prefers", "resources other than GPUs", "segments"}) {
    EXPECT_TRUE(noted(import, note));
  }
  EXPECT_NE(find_job(import.snapshot, "1"), nullptr);
}

namespace {

// Three leaf switches of one node, the first two below s1.
const std::string kSwitches =
    "SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=l3 Nodes=n3\nSwitchName=s1 Switches=l[1-2]\n"
    "SwitchName=s2 Switches=l3\nSwitchName=c Switches=s[1-2]\n";

io::SlurmImport of_switches(int switches, int wait_s) {
  return imported(kSwitches + nodes22({node22("n1"), node22("n2"), node22("n3")}) +
                  jobs22({job22(1)
                              .text("tres_per_job", "gres:gpu:16")
                              .with("required_switches", std::to_string(switches))
                              .with("maximum_switch_wait_time", std::to_string(wait_s))}));
}

std::string awaited(const io::SlurmImport& import) {
  const Job* const job = find_job(import.snapshot, "1");
  if (job == nullptr || job->constraints.longest_wait.size() != 1) return {};
  const auto& [level, wait] = job->constraints.longest_wait.front();
  return std::string(level.topology == TopologyKind::kSwitch ? level.level : "?") + " " + std::to_string(wait / kSecond);
}

}  // namespace

TEST(SlurmRequest, ACountOfSwitchesIsALongestWait) {
  EXPECT_EQ(awaited(of_switches(1, 300)), "leaf 300");
  EXPECT_FALSE(noted(of_switches(1, 300), "count of switches"));
  EXPECT_EQ(awaited(of_switches(2, 60)), "spine 60");
  EXPECT_FALSE(noted(of_switches(2, 60), "count of switches"));
  EXPECT_EQ(awaited(of_switches(3, 60)), "core 60");
  // One more than the largest level has.
  EXPECT_EQ(awaited(of_switches(4, 60)), "core 60");
  EXPECT_TRUE(noted(of_switches(4, 60), "kept as a level with fewer of them"));
}

TEST(SlurmRequest, ACountOfSwitchesWithoutATimeOrSwitchesIsNoted) {
  EXPECT_EQ(awaited(of_switches(1, 0)), "");
  EXPECT_TRUE(noted(of_switches(1, 0), "does not wait for them"));
  EXPECT_EQ(awaited(of_switches(0, 300)), "");
  EXPECT_FALSE(noted(of_switches(0, 300), "count of switches"));
}

TEST(SlurmRequest, ATypeThatNoNodeHasIsKnownAllTheSame) {
  const io::SlurmImport import = of_jobs({job22(1).text("tres_per_node", "gres:gpu:b300:4")});

  ASSERT_EQ(import.snapshot.gpu_types.size(), 2u);
  EXPECT_EQ(import.snapshot.gpu_types[0].id, "b300");
}

}  // namespace berth::test::slurm_request_test
