#include "tests/unit/io/slurm/slurm_support.hpp"

// Input that would make an invalid snapshot is rejected at its location in Slurm's document.
namespace berth::test::slurm_ids_test {
namespace {

const std::string kNodes = nodes22({node22("n1"), node22("n2")});

std::string refused(const std::vector<SlurmRow>& jobs) { return refusal(jobs22(jobs) + kNodes); }

SlurmRow array22(int id, const std::string& tasks) {
  return job22(id).with("array_job_id", std::to_string(id)).text("array_task_string", tasks);
}

SlurmRow component22(int id, int offset) { return job22(id).with("het_job_id", "12").with("het_job_offset", std::to_string(offset)); }

}  // namespace

TEST(SlurmIds, AJobIdThatOccursTwiceIsRefusedAtTheSecond) {
  EXPECT_EQ(refused({job22(7), job22(8), job22(7).text("job_state", "COMPLETED")}), "in:7: /jobs/2: job_id 7 is that of /jobs/0 too");
}

TEST(SlurmIds, ATaskThatOccursTwiceIsRefusedWithTheFieldsThatNameIt) {
  EXPECT_EQ(refused({array22(7, "1,3,2-4")}), "in:5: /jobs/0: array_task_string '1,3,2-4' of array_job_id 7 makes job '7_3' twice");
  EXPECT_EQ(refused({array22(7, "1-5"), job22(9).with("array_job_id", "7").with("array_task_id", "3")}),
            "in:6: /jobs/1: array_task_id 3 of array_job_id 7 makes job '7_3', which array_task_string '1-5' of array_job_id 7 at /jobs/0 "
            "makes too");
  // The running one is checked first.
  EXPECT_EQ(refused({array22(7, "1-5"), running22(9, "n1", {"gpu:1(IDX:0)"}).with("array_job_id", "7").with("array_task_id", "3")}),
            "in:6: /jobs/1: array_task_id 3 of array_job_id 7 makes job '7_3', which array_task_string '1-5' of array_job_id 7 at /jobs/0 "
            "makes too");
}

// Otherwise all tasks would be called '0'.
TEST(SlurmIds, TasksWithoutAnArrayAreTheJob) {
  const Snapshot s = imported(jobs22({job22(3).text("array_task_string", "7%24,1")}) + kNodes).snapshot;
  ASSERT_EQ(s.jobs.size(), 1u);
  EXPECT_EQ(s.jobs[0].id, "3");
}

TEST(SlurmIds, AHeterogeneousJobWithTheIdOfAnotherJobIsRefused) {
  EXPECT_EQ(refused({component22(13, 1), job22(12)}), "in:6: /jobs/1: job_id 12 makes job '12', which het_job_id 12 at /jobs/0 makes too");
}

TEST(SlurmIds, ComponentsAreDistinguishedByTheirOffsets) {
  EXPECT_EQ(refused({component22(12, 0), component22(13, 0)}), "in:6: /jobs/1: het_job_offset 0 of het_job_id 12 is that of /jobs/0 too");
  EXPECT_EQ(refused({component22(12, 0).without("het_job_offset")}),
            "in:5: /jobs/0 lacks what is needed: het_job_offset (data parser v0.0.38)");
}

TEST(SlurmIds, NodesAndTheirPartitionsOccurOnce) {
  EXPECT_EQ(refusal(nodes22({node22("n1"), node22("n2"), node22("n1")})), "in:7: /nodes/2: the name 'n1' is that of /nodes/0 too");
  EXPECT_EQ(refusal(nodes22({node22("n1").with("partitions", R"(["a","b","a"])")})), "in:5: /nodes/0/partitions: duplicate partition 'a'");
  EXPECT_EQ(refusal(nodes22({node22("")})), "in:5: /nodes/0/name: a node without a name");
}

TEST(SlurmIds, EmptyFeaturesAndPartitionsAreNone) {
  const Snapshot snapshot =
      imported(nodes22({node22("n1").with("partitions", R"(["","a"])").with("active_features", R"(["","fast"])")})).snapshot;

  EXPECT_EQ(snapshot.nodes.at(0).virtual_clusters, std::vector<std::string>({"a"}));
  EXPECT_EQ(snapshot.nodes[0].labels.size(), 1u);
}

TEST(SlurmIds, TextsThatAreNoNamesAreRefused) {
  const std::string control = R"("a\u0001b")", says = R"("a\u0001b": a text must not hold control characters)";
  for (const char* field : {"account", "user_name", "partition", "features", "required_nodes", "excluded_nodes"}) {
    EXPECT_EQ(refused({job22(7).with(field, control)}), std::string("in:5: /jobs/0/") + field + ": " + says);
  }
  for (const char* field : {"name", "partitions", "features", "active_features"}) {
    EXPECT_EQ(refusal(nodes22({node22("n1").with(field, control)})), std::string("in:5: /nodes/0/") + field + ": " + says);
  }
  EXPECT_NE(refused({job22(7).text("user_name", std::string(1025, 'u'))}).find("a text of 1025 bytes is longer than 1024"),
            std::string::npos);
  EXPECT_EQ(refused({job22(7).text("tres_per_node", "gres:gpu:*:2")}), "in:5: /jobs/0/tres_per_node: '*' is no GPU type");
  EXPECT_EQ(refusal(nodes22({node22("n1").text("gres", "gpu:*:8")})), "in:5: /nodes/0/gres: '*' is no GPU type");
}

TEST(SlurmIds, NumbersThatCannotBeTimesOrIdsAreRefusedAsTheyStand) {
  EXPECT_EQ(refused({job22(7).with("submit_time", "-5")}), "in:5: /jobs/0/submit_time: -5 is no instant in Unix seconds");
  EXPECT_EQ(refused({job22(7).with("deadline", "-1")}), "in:5: /jobs/0/deadline: -1 is no instant in Unix seconds");
  EXPECT_EQ(refused({job22(7).with("start_time", wrapped(-7))}), "in:5: /jobs/0/start_time: -7 is no instant in Unix seconds");
  EXPECT_EQ(refused({job22(7).with("eligible_time", "253402300800")}),
            "in:5: /jobs/0/eligible_time: 253402300800 is no instant in Unix seconds");  // in the year 10000
  EXPECT_EQ(refused({job22(7).with("pre_sus_time", "40000000000")}), "in:5: /jobs/0/pre_sus_time: 40000000000 is no number of seconds");
  EXPECT_EQ(refused({job22(7).with("array_job_id", "7").with("array_task_id", "-3")}),
            "in:5: /jobs/0/array_task_id: -3 is not within 0 to 4294967295");
  EXPECT_EQ(refused({job22(7).with("priority", "-2")}), "in:5: /jobs/0/priority: -2 is no priority");
}

}  // namespace berth::test::slurm_ids_test
