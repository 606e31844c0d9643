#include "berth/engine.hpp"
#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_input_test {
namespace {

const std::string kJobs = jobs22({job22(1)});
const std::string kNodes = nodes22({node22("n1"), node22("n2")});
const std::string kTree = "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\nSwitchName=top Switches=s[1-2]\n";

}  // namespace

TEST(SlurmInput, DocumentsComeInAnyOrderInOneStreamOrSeveral) {
  const Snapshot one = imported(kJobs + kNodes + kTree).snapshot;

  EXPECT_EQ(one, imported(kTree + kNodes + kJobs).snapshot);
  EXPECT_EQ(one, imported(kNodes + "\n" + kTree + "# a comment\n\n" + kJobs).snapshot);
  EXPECT_EQ(one, io::import_slurm({{"a", kTree}, {"b", kJobs}, {"c", kNodes}}).snapshot);
  EXPECT_EQ(one.domains.size(), 3u);
}

TEST(SlurmInput, ASnapshotFromSlurmIsPlanned) {
  ClusterState state(imported(kJobs + kNodes + kTree).snapshot);
  Engine engine;
  PolicyState kept;
  Request request;
  request.policy = "priority";
  Plan plan;

  engine.decide(state, kept, request, plan);

  EXPECT_EQ(plan.totals.starts, 1);
}

TEST(SlurmInput, NodesAreNeededAndJobsAreNot) {
  EXPECT_EQ(refusal(kJobs),
            "in: no list of nodes: give what 'sinfo --json' (Slurm 22.05) or 'scontrol show nodes --json' (later) prints, too");
  EXPECT_TRUE(noted(imported(kNodes), "no list of jobs"));
}

TEST(SlurmInput, TheSinfoOfLaterVersionsHasNoNodes) {
  EXPECT_EQ(refusal(R"({"sinfo":[],"meta":{}})"),
            "in:1: /sinfo: this 'sinfo --json' has summaries, no nodes; give 'scontrol show nodes --json' instead");
}

TEST(SlurmInput, AListGivenTwiceIsRefused) {
  EXPECT_TRUE(refusal(kJobs + kNodes + kJobs).find("a second list of jobs") != std::string::npos);
  EXPECT_TRUE(refusal(kNodes + kNodes).find("a second list of nodes") != std::string::npos);
  EXPECT_THROW(io::import_slurm({{"a", kNodes + kTree}, {"b", kTree}}), InputError);
}

TEST(SlurmInput, WhatIsNoOutputOfSlurmIsRefusedAtItsLine) {
  EXPECT_EQ(refusal(R"({"a":1})"),
            "in:1: neither jobs nor nodes: expected what 'squeue --json', 'sinfo --json' or 'scontrol show nodes --json' prints");
  EXPECT_EQ(refusal(R"({"schema":"berth.cluster.v1","nodes":[]})"),
            "in:1: /schema: a document with the schema \"berth.cluster.v1\" is no output of Slurm");
  EXPECT_EQ(refusal("\nJOBID PARTITION\n"),
            "in:2: 'JOBID PARTITION' begins no JSON and no line of a topology: expected '{', SwitchName= or BlockName=");
  EXPECT_EQ(refusal("  "), "in:1: the file is empty");
}

TEST(SlurmInput, ATruncatedDocumentIsRefusedWithItsPlace) {
  const std::string cut = kNodes.substr(0, kNodes.find("\"n2\""));

  EXPECT_EQ(refusal(cut), "in:6: /nodes/1/name: the file ends in the middle of a value");
}

TEST(SlurmInput, BadValuesAreNamedWithTheirPlace) {
  EXPECT_EQ(refusal(jobs22({job22(1).text("time_limit", "long")}) + kNodes), R"(in:5: /jobs/0/time_limit: expected a number, not "long")");
  EXPECT_EQ(refusal(jobs22({job22(1), job22(2).with("job_id", "-1")}) + kNodes), "in:6: /jobs/1/job_id: -1 is not within 0 to 4294967295");
  EXPECT_EQ(refusal(jobs22({job22(1).with("submit_time", "288230376151711")}) + kNodes),
            "in:5: /jobs/0/submit_time: 288230376151711 is no instant in Unix seconds");
  EXPECT_EQ(refusal(jobs22({running22(1, "n[1-4000000000]", {})}) + kNodes),
            R"(in:5: /jobs/0/nodes: "n[1-4000000000]" is no list of hosts: one expression stands for more than 65536 names)");
  EXPECT_EQ(refusal(jobs22({job22(1).text("tres_req_str", "mem=much")}) + kNodes),
            "in:5: /jobs/0/tres_req_str: 'mem=much' is no amount of a resource");
}

TEST(SlurmInput, MissingFieldsAreNamedWithTheVersionThatLacksThem) {
  EXPECT_EQ(refusal(document("jobs", {job22(1), job22(2).without("priority").without("tres_req_str")}, meta_of("v0.0.99")) + kNodes),
            "in:6: /jobs/1 lacks what is needed: priority, tres_req_str (data parser v0.0.99)");
  EXPECT_EQ(refusal(nodes22({node22("n1").without("gres_used")})), "in:5: /nodes/0 lacks what is needed: gres_used (data parser v0.0.38)");
}

TEST(SlurmInput, AnUnknownVersionWithAllFieldsIsReadAndReported) {
  EXPECT_TRUE(noted(imported(document("jobs", {job22(1)}, meta_of("v0.0.99")) + kNodes),
                    "data parser v0.0.99: read as v0.0.43, the newest one known"));
}

TEST(SlurmInput, AccountingDataIsSentToItsOwnImport) {
  const std::string hint = "this is accounting data (sacct); 'berth import sacct' reads it";
  EXPECT_TRUE(refusal(R"({"meta":{"plugin":{"type":"openapi/dbv0.0.38"}},"jobs":[]})").find(hint) != std::string::npos);
  EXPECT_TRUE(refusal(R"({"jobs":[{"steps":[]}]})").find(hint) != std::string::npos);
}

TEST(SlurmInput, WhatSlurmCallsAnErrorIsOne) {
  EXPECT_EQ(refusal(R"({"meta":{},"errors":[{"error":"no contact"}],"jobs":[]})"),
            R"(in:1: /errors/0: Slurm reports an error: {"error":"no contact"})");
}

TEST(SlurmInput, PartitionsAreNotUsed) {
  EXPECT_TRUE(noted(imported(kNodes + R"({"partitions":[],"meta":)" + kMeta22 + "}"), "the list of partitions is not used"));
}

TEST(SlurmInput, NowIsTheLatestInstantThatIsNamedAsPast) {
  const std::string later = R"({"jobs":[],"last_update":)" + wrapped(1500) + R"(,"meta":)" + meta_of("v0.0.40") + "}";

  EXPECT_EQ(imported(kNodes).snapshot.now_us, 900 * kSecond);
  EXPECT_EQ(imported(kJobs + kNodes).snapshot.now_us, 1'000 * kSecond);
  EXPECT_EQ(imported(jobs22({job22(1).with("last_sched_evaluation", "1200").with("eligible_time", "1300")}) + kNodes).snapshot.now_us,
            1'200 * kSecond);
  EXPECT_EQ(imported(later + kNodes).snapshot.now_us, 1'500 * kSecond);
}

}  // namespace berth::test::slurm_input_test
