#include "tests/cli/command.hpp"
#include "tests/support/traces.hpp"

namespace berth::test::topology_test {
namespace {

const char* const kRows = "ip,DSW,PSW,ASW\nh1,D,P1,S1\nh2,D,P1,S1\nh3,D,P1,S2\nh4,D,P2,S1\n";
const char* const kLinks = " --gpus-per-node 8 --gpu-type H100 --nics 8 --bandwidth node=50 --bandwidth ASW=400 --oversubscription PSW=4 ";

/// The snapshot with these jobs.
std::string with_jobs(const Folder& folder, const std::string& snapshot, const std::string& jobs) {
  const std::string text = content_of(snapshot);
  return folder.write("jobs.json", text.substr(0, text.rfind("[]")) + '[' + jobs + "]}");
}
std::string gang(const std::string& id, int members, const std::string& more) {
  return R"({"id":")" + id + R"(","submit_s":0,"shapes":[{"groups":[{"name":"w","members":)" + std::to_string(members) +
         R"(,"gpus_per_member":8)" + more + "}]}]}";
}

/// Plans jobs on an imported topology and returns what is said of each.
struct PlannedTopology {
  Answer plan, wide, tight;
};
PlannedTopology planned(const Folder& folder, const std::string& snapshot, const std::string& level) {
  const std::string file = with_jobs(folder, snapshot, gang("wide", 3, "") + "," + gang("tight", 4, R"(,"require":")" + level + "\""));
  const std::string plan = folder / "plan.json", of = " --snapshot " + quoted(file) + " --plan " + quoted(plan) + " --job ";
  return {berth("plan --policy fifo --snapshot " + quoted(file) + " --out " + quoted(plan)), berth("explain" + of + "wide"),
          berth("explain" + of + "tight")};
}

}  // namespace

TEST(CliTopology, ALingjunTopologyIsPlannedWithReasonsThatNameLevelsAndLinks) {
  const Folder folder;
  const std::string snapshot = folder / "s.json";
  const Answer imported = berth("import lingjun " + quoted(folder.write("topo.csv", kRows)) + kLinks + "--out " + quoted(snapshot));
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(contains(imported.out, "4 nodes, 32 GPUs, 0 jobs")) << imported.out;

  const PlannedTopology answer = planned(folder, snapshot, "ASW");

  EXPECT_TRUE(contains(answer.tight.out, "needs 32 GPUs in one ASW; largest ASW has 16: D/P1/S1")) << answer.tight.out;
  EXPECT_TRUE(contains(answer.wide.out, "in PSW D/P1; crosses 2 links: D/P1/S1 up at 400 GB/s, oversubscribed 2; D/P1/S2 up at 400 GB/s\n"))
      << answer.wide.out;
}

TEST(CliTopology, TheGraphTheLabelsAndTheHyperNodesOfATopologyArePlannedAlike) {
  const Folder folder;
  const std::string snapshot = folder / "s.json";
  ASSERT_EQ(berth("import lingjun " + quoted(folder.write("topo.csv", kRows)) + kLinks + "--out " + quoted(snapshot)).code, 0);
  struct WrittenFormat {
    std::string format, reader, level, largest;
  };
  for (const WrittenFormat& one : {WrittenFormat{"topograph", "topograph", "tier-0", "switch1"},
                                   {"labels", "kueue", "fabric.topograph.run/tier-0", "D/P1/S1"},
                                   {"hypernodes", "volcano", "tier-1", "hypernode-3"},
                                   {"slurm-conf", "slurm", "leaf", "switch1"},
                                   {"slurm-yaml", "slurm", "leaf", "switch1"}}) {
    SCOPED_TRACE(one.format);
    const std::string file = folder / one.format, again = folder / "again.json";
    const Answer written = berth("topology --snapshot " + quoted(snapshot) + " --format " + one.format + " --out " + quoted(file));
    const Answer imported =
        berth("import " + one.reader + " " + quoted(file) + " --gpus-per-node 8 --bandwidth " + one.level + "=400 --out " + quoted(again));
    ASSERT_EQ(written.code, 0) << written.err;
    ASSERT_EQ(imported.code, 0) << imported.err;

    const PlannedTopology answer = planned(folder, again, one.level);

    EXPECT_TRUE(contains(answer.tight.out, "needs 32 GPUs in one " + one.level + "; largest " + one.level + " has 16: "))
        << answer.tight.out;
    EXPECT_TRUE(contains(answer.tight.out, one.largest)) << answer.tight.out;
    EXPECT_TRUE(contains(answer.wide.out, "; crosses 2 links: ") && contains(answer.wide.out, " up at 400 GB/s")) << answer.wide.out;
  }
}

TEST(CliTopology, TheLingjunClusterIsPlanned) {
  const std::string file = trace_file("lingjun/topo.csv");
  if (file.empty()) GTEST_SKIP() << "no lingjun/topo.csv";
  const Folder folder;
  const std::string snapshot = folder / "s.json";

  const Answer imported =
      berth("import lingjun " + quoted(file) + " --gpus-per-node 8 --bandwidth ASW=400 --failed G6/P8/S2 --out " + quoted(snapshot));
  const PlannedTopology answer = planned(folder, snapshot, "ASW");

  EXPECT_TRUE(contains(imported.out, "847 nodes, 6776 GPUs")) << imported.err;
  EXPECT_EQ(answer.plan.code, 0) << answer.plan.err;
  EXPECT_TRUE(contains(answer.plan.out + answer.plan.err, "failed")) << answer.plan.out;
}

TEST(CliTopology, WhatIsMissingOrWrongIsNamed) {
  const Folder folder;
  const std::string rows = folder.write("topo.csv", kRows), import = "import lingjun " + quoted(rows) + " --out - ";
  const auto problem = [&](const std::string& options) {
    const Answer answer = berth(import + options);
    EXPECT_EQ(answer.code, 2) << options;
    return answer.err;
  };
  EXPECT_TRUE(contains(problem(""), "topo.csv does not say how many GPUs its nodes have: give --gpus-per-node"));
  EXPECT_TRUE(
      contains(problem("--gpus-per-node 8 --bandwidth ASW=0"), "--bandwidth: 'ASW=0': expected LEVEL=GB/s above 0, such as leaf=50"));
  EXPECT_TRUE(
      contains(problem("--gpus-per-node 8 --bandwidth AWS=1"), "there is no level 'AWS' (levels: DSW, PSW, ASW); did you mean 'ASW'?"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --links ASW=x"), "--links: 'ASW=x': expected LEVEL=N, such as leaf=2"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --links ASW=2 --links ASW=3"), "--links: 'ASW' is given twice"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --failed S1"), "several switches are called 'S1'"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --nics 2"), "--nics needs --bandwidth node=GB/s"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --at +1"), "--at and --cluster are for traces: a topology has no jobs"));
  EXPECT_TRUE(contains(problem("--gpus-per-node 8 --topology t"), "lingjun has one"));
  EXPECT_TRUE(contains(berth("import pai " + quoted(rows) + " --links a=1 --out -").err,
                       "--links is for topologies: the formats slurm, kueue, lingjun, topograph, volcano"));
  EXPECT_TRUE(contains(berth("topology --snapshot " + quoted(golden("racks")) + " --format dot --out -").err, "--format"));
}

TEST(CliTopology, AGeneratedClusterIsWrittenInEveryFormat) {
  const Folder folder;
  const std::string snapshot = folder / "s.json";
  ASSERT_EQ(berth("generate --nodes 40 --jobs 0 --fabric nvl72 --out " + quoted(snapshot)).code, 0);
  for (const std::string format : {"slurm-conf", "slurm-yaml", "topograph", "labels", "hypernodes"}) {
    const Answer answer = berth("topology --snapshot " + quoted(snapshot) + " --format " + format + " --out -");
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_FALSE(answer.out.empty()) << format;
  }
}

}  // namespace berth::test::topology_test
