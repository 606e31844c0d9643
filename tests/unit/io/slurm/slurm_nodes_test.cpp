#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_nodes_test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Node one_node(const SlurmRow& row) {
  const io::SlurmImport import = imported(nodes22({row}));
  EXPECT_EQ(import.snapshot.nodes.size(), 1u);
  return import.snapshot.nodes.at(0);
}

NodeState state_of(const std::string& state, const std::string& flags) {
  return one_node(node22("n1").text("state", state).with("state_flags", "[" + flags + "]")).state;
}

}  // namespace

TEST(SlurmNodes, GpusCoresMemoryPartitionsAndFeaturesAreTaken) {
  const Node node = one_node(node22("n1").with("partitions", R"(["main","two"])").text("active_features", "ib,fast"));

  EXPECT_EQ(node.id, "n1");
  EXPECT_EQ(node.gpu_type, "h100");
  EXPECT_EQ(node.gpus, 8);
  EXPECT_TRUE(node.gpu_list.empty());
  EXPECT_EQ(node.cpu_milli, 64'000);
  EXPECT_EQ(node.memory_bytes, 1'000 * kMiB);
  EXPECT_EQ(node.virtual_clusters, std::vector<std::string>({"main", "two"}));
  using Labels = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(node.labels, Labels({{"fast", "true"}, {"ib", "true"}}));
}

TEST(SlurmNodes, LaterVersionsWriteListsAndWrappedNumbers) {
  const SlurmRow row = node22("n1")
                           .with("state", R"(["MIXED","DRAIN"])")
                           .without("state_flags")
                           .with("features", R"(["ib","slow"])")
                           .with("active_features", R"(["ib"])")
                           .text("gres_used", "gpu:h100:0")
                           .with("last_busy", wrapped(900))
                           .with("effective_cpus", "60")
                           .with("specialized_memory", "100");

  const io::SlurmImport import = imported(document("nodes", {row}, meta_of("v0.0.41")));

  const Node& node = import.snapshot.nodes.at(0);
  EXPECT_EQ(node.state, NodeState::kDrain);
  EXPECT_EQ(node.labels.size(), 1u);
  EXPECT_EQ(node.cpu_milli, 60'000);
  EXPECT_EQ(node.memory_bytes, 900 * kMiB);
  EXPECT_EQ(import.snapshot.now_us, 900 * kSecond);
}

TEST(SlurmNodes, StatesSayWhetherNewJobsMayCome) {
  EXPECT_EQ(state_of("idle", ""), NodeState::kReady);
  EXPECT_EQ(state_of("mixed", R"("COMPLETING","PLANNED")"), NodeState::kReady);
  EXPECT_EQ(state_of("allocated", R"("CLOUD","POWERING_UP")"), NodeState::kReady);
  EXPECT_EQ(state_of("idle", R"("POWERED_DOWN")"), NodeState::kReady);
  EXPECT_EQ(state_of("idle", R"("DRAIN")"), NodeState::kDrain);
  EXPECT_EQ(state_of("mixed", R"("NOT_RESPONDING")"), NodeState::kDrain);
  EXPECT_EQ(state_of("idle", R"("RESERVED")"), NodeState::kDrain);
  EXPECT_EQ(state_of("idle", R"("FAIL")"), NodeState::kDrain);
  EXPECT_EQ(state_of("unknown", ""), NodeState::kDrain);
  EXPECT_EQ(state_of("idle", R"("A_STATE_OF_NEXT_YEAR")"), NodeState::kDrain);
  EXPECT_EQ(state_of("down", R"("DRAIN")"), NodeState::kFailed);
  EXPECT_EQ(state_of("error", ""), NodeState::kFailed);
}

TEST(SlurmNodes, NodesWithoutGpusAndPlannedOnesAreLeftOutAndCounted) {
  const io::SlurmImport import = imported(
      nodes22({node22("n1"), node22("c1").text("gres", ""), node22("c2").text("gres", "nic:2"), node22("f1").text("state", "future")}));

  EXPECT_EQ(import.snapshot.nodes.size(), 1u);
  EXPECT_TRUE(noted(import, "2 nodes left out: no GPUs (first: c1)"));
  EXPECT_TRUE(noted(import, "1 node left out: FUTURE (first: f1)"));
}

TEST(SlurmNodes, OfSeveralTypesTheMostFrequentIsUsedAndTheOthersKeepTheirIndices) {
  const io::SlurmImport import = imported(nodes22({node22("n1").text("gres", "gpu:a100:2(S:0),gpu:v100:4(S:1),nic:1")}));

  const Node& node = import.snapshot.nodes.at(0);
  EXPECT_EQ(node.gpu_type, "v100");
  EXPECT_EQ(node.gpus, 6);
  ASSERT_EQ(node.gpu_list.size(), 6u);
  EXPECT_EQ(node.gpu_list[1].state, GpuState::kReleasing);
  EXPECT_EQ(node.gpu_list[2].state, GpuState::kOk);
  EXPECT_TRUE(noted(import, "1 node with several types of GPUs: only the most frequent type is used"));
}

TEST(SlurmNodes, AnUntypedGpuIsOfTypeGpu) { EXPECT_EQ(one_node(node22("n1").text("gres", "gpu:8")).gpu_type, "gpu"); }

TEST(SlurmNodes, ANodeInNoPartitionServesNoJob) {
  EXPECT_EQ(one_node(node22("n1").with("partitions", "[]")).virtual_clusters, std::vector<std::string>({"(no partition)"}));
}

TEST(SlurmNodes, GpusInUseByNoKnownJobAreKeptFree) {
  const io::SlurmImport import = imported(jobs22({}) + nodes22({node22("n1").text("gres_used", "gpu:h100:3(IDX:0,5-6)")}));
  const io::SlurmImport counted = imported(jobs22({}) + nodes22({node22("n1").text("gres_used", "gpu:h100:2")}));

  const Node& node = import.snapshot.nodes.at(0);
  ASSERT_EQ(node.gpu_list.size(), 8u);
  for (std::size_t g = 0; g < 8; ++g) {
    EXPECT_EQ(node.gpu_list[g].state, g == 0 || g == 5 || g == 6 ? GpuState::kReleasing : GpuState::kOk) << g;
    EXPECT_EQ(node.gpu_list[g].free_at_us, kNever) << g;
  }
  EXPECT_TRUE(noted(import, "3 GPUs in use by no running job of the list: kept free of new jobs (first: n1)"));
  ASSERT_EQ(counted.snapshot.nodes.at(0).gpu_list.size(), 8u);
  EXPECT_EQ(counted.snapshot.nodes[0].gpu_list[1].state, GpuState::kReleasing);
  EXPECT_EQ(counted.snapshot.nodes[0].gpu_list[2].state, GpuState::kOk);
}

TEST(SlurmNodes, CoresAndMemoryInUseAreTakenOff) {
  const io::SlurmImport import =
      imported(jobs22({}) + nodes22({node22("n1").with("alloc_cpus", "10").with("alloc_memory", "300"), node22("n2")}));

  EXPECT_EQ(import.snapshot.nodes[0].cpu_milli, 54'000);
  EXPECT_EQ(import.snapshot.nodes[0].memory_bytes, 700 * kMiB);
  EXPECT_TRUE(noted(import, "1 node where jobs that are left out hold cores or memory: these are not expected back (first: n1)"));
}

TEST(SlurmNodes, MemoryThatSlurmDoesNotHandOutIsNotModelled) {
  const io::SlurmImport import = imported(jobs22({}) + nodes22({node22("n1").with("alloc_cpus", "10"), node22("n2")}));

  EXPECT_EQ(import.snapshot.nodes[0].memory_bytes, kUnlimited);
  EXPECT_EQ(import.snapshot.nodes[1].memory_bytes, kUnlimited);
  EXPECT_TRUE(noted(import, "memory is not handed out by Slurm here"));
}

TEST(SlurmNodes, WithoutAListOfJobsTheMachinesAreEmpty) {
  const io::SlurmImport import = imported(nodes22(
      {node22("n1").with("alloc_cpus", "10").with("alloc_memory", "300").text("gres_used", "gpu:h100:3(IDX:0,5-6)"), node22("n2")}));

  Node first = import.snapshot.nodes[0];
  first.id = "n2";
  EXPECT_EQ(first, import.snapshot.nodes[1]);
  EXPECT_TRUE(noted(import, "the machines are taken for empty"));
}

TEST(SlurmNodes, ALineOfTheClockSaysWhenItWas) {
  EXPECT_EQ(imported("now=5000\n" + jobs22({}) + nodes22({node22("n1")})).snapshot.now_us, 5'000 * kSecond);
  EXPECT_EQ(refusal("now=yesterday\n" + nodes22({node22("n1")})),
            "in:1: 'now=' needs the seconds since 1970, as 'date +now=%s' prints them");
}

TEST(SlurmNodes, DrainedGpusAreNoted) {
  EXPECT_TRUE(noted(imported(nodes22({node22("n1").text("gres_drained", "gpu:h100:1")})), "1 node with drained GPUs"));
}

TEST(SlurmNodes, TooManyGpusAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal(nodes22({node22("n1"), node22("n2").text("gres", "gpu:h100:65")})),
            R"(in:6: /nodes/1/gres: "gpu:h100:65" are more than 64 GPUs)");
  EXPECT_EQ(refusal(nodes22({node22("n1").text("gres", "gpu:a:40,gpu:b:40")})),
            R"(in:5: /nodes/0/gres: "gpu:a:40,gpu:b:40" are more than 64 GPUs)");
}

TEST(SlurmNodes, MoreInUseThanThereIsIsReported) {
  const io::SlurmImport import = imported(
      jobs22({}) + nodes22({node22("n1").text("gres_used", "gpu:h100:1(IDX:8)"), node22("n2").text("gres_used", "gpu:h100:1(IDX:70)"),
                            node22("n3").text("gres_used", "gpu:h100:9(IDX:N/A)")}));

  EXPECT_TRUE(noted(import, "2 nodes: gres_used has indices that gres does not; as many other GPUs are taken for used (first: n1)"));
  EXPECT_TRUE(noted(import, "1 node: gres_used counts more GPUs than gres; all are taken for used (first: n3)"));
  EXPECT_EQ(import.snapshot.nodes.at(0).gpu_list.at(0).state, GpuState::kReleasing);
  EXPECT_EQ(import.snapshot.nodes[0].gpu_list[1].state, GpuState::kOk);
}

}  // namespace berth::test::slurm_nodes_test
