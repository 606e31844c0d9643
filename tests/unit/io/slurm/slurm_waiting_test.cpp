#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_waiting_test {
namespace {

// Ids of the jobs of an import, by submission.
std::string order_of(const io::SlurmImport& import) {
  std::vector<Job> jobs = import.snapshot.jobs;
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; });
  std::string ids;
  for (const Job& job : jobs) ids += (ids.empty() ? "" : " ") + job.id;
  return ids;
}

SlurmRow array22(int id, const std::string& tasks) {
  return job22(id).with("array_job_id", std::to_string(id)).text("array_task_string", tasks);
}

}  // namespace

TEST(SlurmWaiting, AJobThatWaitsForItsPriorityWaits) {
  const io::SlurmImport import = of_jobs({job22(3).text("account", "physics"), job22(4).text("state_reason", "Resources")});

  const Job* job = find_job(import.snapshot, "3");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->state, JobState::kWaiting);
  EXPECT_EQ(job->user, "ann");
  EXPECT_EQ(job->queue, "physics");
  EXPECT_EQ(job->virtual_cluster, "main");
  EXPECT_EQ(job->priority, 100);
  EXPECT_EQ(job->submit_us, 1'000 * kSecond);
  EXPECT_EQ(job->time_limit_us, 3'600 * kSecond);
  EXPECT_EQ(job->constraints.cpu_milli_per_gpu, 1'000);
  EXPECT_EQ(job->constraints.memory_bytes_per_gpu, std::int64_t{100} << 20);
  EXPECT_EQ(import.snapshot.queues.at(0).id, "physics");
  EXPECT_EQ(import.snapshot.jobs.size(), 2u);
}

TEST(SlurmWaiting, WhatMayNotStartNowIsLeftOutAndCountedByCause) {
  const io::SlurmImport import = of_jobs({
      job22(1).text("state_reason", "JobHeldUser").with("priority", "0"),
      job22(2).text("state_reason", "JobHeldAdmin").with("priority", "0"),
      job22(3).text("state_reason", "Dependency").text("dependency", "afterok:9(unfulfilled)"),
      job22(4).text("state_reason", "Priority").text("dependency", "singleton(unfulfilled)"),
      job22(5).text("state_reason", "BeginTime").with("eligible_time", "5000"),
      job22(6).text("state_reason", "QOSMaxJobsPerUserLimit"),
      job22(7).text("resv_name", "maint"),
      job22(8).text("job_state", "REQUEUE_HOLD"),
      job22(9).text("job_state", "COMPLETED"),
      job22(10).text("tres_per_node", ""),
      job22(11).text("state_reason", "BeginTime").with("eligible_time", "1000"),
      job22(12).with("submit_time", "0"),
  });

  EXPECT_EQ(order_of(import), "11");
  EXPECT_TRUE(noted(import, "1 job left out: held (JobHeldUser) (first: 1)"));
  EXPECT_TRUE(noted(import, "1 job left out: held (JobHeldAdmin) (first: 2)"));
  EXPECT_TRUE(noted(import, "2 jobs left out: waits for other jobs (dependency) (first: 3)"));
  EXPECT_TRUE(noted(import, "1 job left out: begin time lies ahead (first: 5)"));
  EXPECT_TRUE(noted(import, "1 job left out: Slurm holds it back (QOSMaxJobsPerUserLimit) (first: 6)"));
  EXPECT_TRUE(noted(import, "1 job left out: waits for a reservation (first: 7)"));
  EXPECT_TRUE(noted(import, "1 job left out: REQUEUE_HOLD; it keeps what it holds (first: 8)"));
  EXPECT_TRUE(noted(import, "1 job left out: finished (first: 9)"));
  EXPECT_TRUE(noted(import, "1 job left out: no GPUs asked for (first: 10)"));
  EXPECT_TRUE(noted(import, "1 job left out: it has no submit_time (first: 12)"));
}

TEST(SlurmWaiting, HeldJobsArePlannedWhereThatIsAskedFor) {
  const SlurmRow held = job22(1).text("state_reason", "JobHeldUser").with("priority", "0").with("eligible_time", "0");

  const io::SlurmImport import = of_jobs({held, held.with("job_id", "2").text("dependency", "afterok:9(unfulfilled)")}, {true});

  EXPECT_EQ(order_of(import), "1");
}

TEST(SlurmWaiting, JobsOfOneSecondKeepTheOrderOfTheirNumbers) {
  const io::SlurmImport import = of_jobs({job22(10), job22(9), array22(7, "2,10"), job22(100).with("submit_time", "999")});

  EXPECT_EQ(order_of(import), "100 7_2 7_10 9 10");
  EXPECT_GE(import.snapshot.now_us, find_job(import.snapshot, "10")->submit_us);
}

TEST(SlurmWaiting, PrioritiesBeyond31BitsBecomeRanks) {
  const io::SlurmImport import =
      of_jobs({job22(1).with("priority", "4294901757"), job22(2).with("priority", "4294901758"), job22(3).with("priority", "5")});

  EXPECT_EQ(find_job(import.snapshot, "3")->priority, 0);
  EXPECT_EQ(find_job(import.snapshot, "1")->priority, 1);
  EXPECT_EQ(find_job(import.snapshot, "2")->priority, 2);
  EXPECT_TRUE(noted(import, "priorities do not fit 31 bits"));
}

TEST(SlurmWaiting, ATimeLimitMayBeMissing) {
  const io::SlurmImport import = of_jobs({job22(1).with("time_limit", "null")});

  EXPECT_EQ(find_job(import.snapshot, "1")->time_limit_us, kNever);
  EXPECT_EQ(find_job(import.snapshot, "1")->estimate.run_us, kNever);
  EXPECT_EQ(find_job(import.snapshot, "1")->estimate.source, "");
  for (const char* infinite : {kUnset, "\"Infinity\"", R"({"set":true,"infinite":true,"number":0})"}) {
    EXPECT_EQ(find_job(of_jobs({job22(1).with("time_limit", infinite)}).snapshot, "1")->time_limit_us, kNever) << infinite;
  }
}

TEST(SlurmWaiting, ADeadlineIsHardAndALateEligibilityIsWhereWaitingBegins) {
  const io::SlurmImport import =
      of_jobs({job22(1).with("deadline", "9000").with("eligible_time", "1200"), job22(2).with("submit_time", "1300")});

  EXPECT_EQ(find_job(import.snapshot, "1")->deadline.at_us, 9'000 * kSecond);
  EXPECT_TRUE(find_job(import.snapshot, "1")->deadline.hard);
  EXPECT_EQ(find_job(import.snapshot, "1")->waiting_since_us, 1'200 * kSecond);
}

TEST(SlurmWaiting, AnArrayIsExpandedIntoItsTasks) {
  EXPECT_EQ(order_of(of_jobs({array22(7, "1,3,10-14:2")})), "7_1 7_3 7_10 7_12 7_14");
  EXPECT_EQ(order_of(of_jobs({job22(9).with("array_job_id", "7").with("array_task_id", "4")})), "7_4");
}

TEST(SlurmWaiting, AnArrayRunsNoMoreTasksAtOnceThanItMay) {
  const SlurmRow running = running22(8, "n1", {"gpu:h100:1(IDX:0)"}).with("array_job_id", "7").with("array_task_id", "1");

  const io::SlurmImport import = of_jobs({array22(7, "2-9%3").with("array_max_tasks", "3"), running});

  EXPECT_NE(find_job(import.snapshot, "7_1"), nullptr);
  EXPECT_NE(find_job(import.snapshot, "7_3"), nullptr);
  EXPECT_EQ(find_job(import.snapshot, "7_4"), nullptr);
  EXPECT_TRUE(noted(import, "6 jobs left out: its array runs as many tasks as it may at once (first: 7_4)"));
}

TEST(SlurmWaiting, OfALongArrayAFewTasksThatWaitAreRemembered) {
  const io::SlurmImport import = of_jobs({array22(7, "0-999999").with("array_max_tasks", "10")});

  EXPECT_EQ(import.snapshot.jobs.size(), 10u);
  EXPECT_TRUE(noted(import, "999990 jobs left out: its array runs as many tasks as it may at once (first: 7_10)"));
  EXPECT_EQ(import.left_out.size(), 1000u);
  EXPECT_EQ(import.left_out.count("7_1009"), 1u);
}

TEST(SlurmWaiting, TasksThatSlurmCutOffAreReported) {
  const io::SlurmImport import = of_jobs({array22(7, "1,2,3,14...")});

  EXPECT_EQ(order_of(import), "7_1 7_2 7_3");  // 14 may be a prefix of 145
  EXPECT_TRUE(noted(import, "1 job array of which the last tasks are missing"));
}

TEST(SlurmWaiting, ABadTaskListAndATooLongOneAreCounted) {
  const io::SlurmImport many = of_jobs({array22(7, "1-4000000000").with("array_max_tasks", "2")});

  for (const std::string bad : {"1-x", "3-1", "1-3:0", "1-3:x", "-1", "1,", "4294967296"}) {
    EXPECT_TRUE(noted(of_jobs({array22(7, bad)}), "1 job left out: its tasks '" + bad + "' are no list of ranges (first: 7)")) << bad;
  }
  EXPECT_EQ(many.snapshot.jobs.size(), 2u);
}

TEST(SlurmWaiting, SeveralPartitionsAreServedByTheNodesOfAllOfThem) {
  const std::string nodes = nodes22({node22("n1").with("partitions", R"(["a"])"), node22("n2").with("partitions", R"(["b"])"),
                                     node22("n3").with("partitions", R"(["c"])")});

  const io::SlurmImport import = imported(jobs22({job22(1).text("partition", "a,b")}) + nodes);

  EXPECT_EQ(find_job(import.snapshot, "1")->virtual_cluster, "a,b");
  EXPECT_EQ(import.snapshot.nodes[0].virtual_clusters, std::vector<std::string>({"a", "a,b"}));
  EXPECT_EQ(import.snapshot.nodes[1].virtual_clusters, std::vector<std::string>({"b", "a,b"}));
  EXPECT_EQ(import.snapshot.nodes[2].virtual_clusters, std::vector<std::string>({"c"}));
}

TEST(SlurmWaiting, ListsOfPartitionsAndFeaturesThatAreTooLongLeaveTheirJobsOut) {
  std::string names = "main";
  while (names.size() <= 1'024) names += ",main";

  const io::SlurmImport import = of_jobs(
      {job22(1).text("partition", names), job22(2).text("features", names), running22(3, "n1", {"gpu:1(IDX:0)"}).text("partition", names)});

  EXPECT_TRUE(import.snapshot.jobs.empty());
  EXPECT_TRUE(noted(import, "1 job left out: its list of partitions is longer than 1024 bytes (first: 1)"));
  EXPECT_TRUE(noted(import, "1 job left out: its features are longer than 1024 bytes (first: 2)"));
  EXPECT_TRUE(noted(import, "1 job left out: its partition has too long a name (first: 3)"));
}

TEST(SlurmWaiting, AHeterogeneousJobAsksForAllItsComponentsAtOnce) {
  const SlurmRow first = job22(12).with("het_job_id", "12").text("tres_req_str", "cpu=4,mem=80M,node=1");
  const SlurmRow second = job22(13).with("het_job_id", "12").with("het_job_offset", "1").text("tres_per_node", "gres:gpu:1");

  const io::SlurmImport import = of_jobs({first, second.text("tres_req_str", "cpu=2,mem=10M,node=1")});

  ASSERT_EQ(import.snapshot.jobs.size(), 1u);
  const Job& job = import.snapshot.jobs[0];
  EXPECT_EQ(job.id, "12");
  EXPECT_EQ(job.shapes.at(0).gpus, 5);
  EXPECT_EQ(job.shapes[0].groups.at(1).name, "component1");
  EXPECT_EQ(job.constraints.cpu_milli_per_gpu, 1'000);
  EXPECT_EQ(job.constraints.memory_bytes_per_gpu, std::int64_t{10} << 20);
  EXPECT_TRUE(noted(import, "1 job: its components differ in cores or memory for a GPU; the least is asked for (first: 12)"));
}

TEST(SlurmWaiting, ComponentsThatNeedDifferentNodesCannotBeOneJob) {
  const SlurmRow first = job22(12).with("het_job_id", "12");
  const SlurmRow second = job22(13).with("het_job_id", "12").with("het_job_offset", "1").text("partition", "other");

  const io::SlurmImport import = of_jobs({first, second});

  EXPECT_TRUE(import.snapshot.jobs.empty());
  EXPECT_TRUE(noted(import, "1 job left out: its components ask for different GPUs or nodes (first: 12)"));
}

}  // namespace berth::test::slurm_waiting_test
