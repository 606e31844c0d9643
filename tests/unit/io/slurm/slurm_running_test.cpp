#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_running_test {
namespace {

using Indices = std::vector<std::int32_t>;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

const std::vector<std::string> kHalf{"gpu:h100:4(IDX:0-3)"};

}  // namespace

TEST(SlurmRunning, AJobKeepsTheGpusThatSlurmSays) {
  const io::SlurmImport import = of_jobs({running22(7, "n1", {"gpu:h100:4(IDX:1,3,5,7)"}), job22(8).with("submit_time", "1600")});

  const Job* job = find_job(import.snapshot, "7");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->state, JobState::kRunning);
  EXPECT_EQ(job->shapes.at(0).gpu_type, "h100");
  ASSERT_EQ(job->allocation.entries.size(), 1u);
  EXPECT_EQ(job->allocation.entries[0].node, "n1");
  EXPECT_EQ(job->allocation.entries[0].gpus, Indices({1, 3, 5, 7}));
  EXPECT_EQ(job->time_limit_us, 3'600 * kSecond);
  EXPECT_EQ(job->estimate.run_us, 3'600 * kSecond);
  EXPECT_EQ(job->estimate.source, "time_limit");
  EXPECT_EQ(job->progress.run_us, 600 * kSecond);
  EXPECT_EQ(job->progress.attained_gpu_us, 2'400 * kSecond);
  EXPECT_EQ(job->last_assignment_us, 1'000 * kSecond);
}

TEST(SlurmRunning, CountsAreReadInEveryFormOfSlurm) {
  for (const char* const four : {"gpu:4", "gpu:h100:4", "gpu:h100:4(IDX:0-3)", "gpu:h100(CNT:4)", "gpu(CNT:4)", "gpu:h100(IDX:0-3)"}) {
    const io::SlurmImport import = of_jobs({running22(7, "n1", {four})});

    const Job* job = find_job(import.snapshot, "7");
    ASSERT_NE(job, nullptr) << four;
    ASSERT_EQ(job->allocation.entries.size(), 1u) << four;
    EXPECT_EQ(job->allocation.entries[0].gpus, Indices({0, 1, 2, 3})) << four;
  }
}

TEST(SlurmRunning, NodesAndTheirIndicesGoTogether) {
  const io::SlurmImport import = of_jobs({running22(7, "n[1-2]", {"gpu:h100:4(IDX:4-7)", "gpu:h100:4(IDX:0-3)"})});

  const Job* job = find_job(import.snapshot, "7");
  ASSERT_NE(job, nullptr);
  ASSERT_EQ(job->allocation.entries.size(), 2u);
  EXPECT_EQ(job->allocation.entries[0].gpus, Indices({4, 5, 6, 7}));
  EXPECT_EQ(job->allocation.entries[1].node, "n2");
  EXPECT_EQ(job->allocation.entries[1].gpus, Indices({0, 1, 2, 3}));
  EXPECT_EQ(job->allocation.entries[1].member, 1);
  EXPECT_EQ(job->shapes[0].groups.at(0).gpus_per_member, 4);
}

TEST(SlurmRunning, AnUnevenGangIsOneOfSingleGpus) {
  const io::SlurmImport import = of_jobs({running22(7, "n[1-2]", {"gpu:h100:4(IDX:4-7)", "gpu:h100:1(IDX:0)"})});

  const Job* job = find_job(import.snapshot, "7");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->shapes[0].groups.at(0).members_want, 5);
  EXPECT_EQ(job->allocation.entries.at(1).member, 4);
}

TEST(SlurmRunning, WithoutIndicesFreeGpusAreChosenAndUsedOnesFirst) {
  const std::string nodes = nodes22({node22("n1").text("gres_used", "gpu:h100:6(IDX:0-2,5-7)"), node22("n2")});

  const io::SlurmImport import =
      imported(jobs22({running22(8, "n1", {"gpu:h100:2"}), running22(7, "n1", {"gpu:h100:3(IDX:0-2)"})}) + nodes);

  ASSERT_NE(find_job(import.snapshot, "8"), nullptr);
  EXPECT_EQ(find_job(import.snapshot, "8")->allocation.entries.at(0).gpus, Indices({5, 6}));
  EXPECT_TRUE(noted(import, "1 job without GPU indices: free ones were chosen (first: 8)"));
  EXPECT_TRUE(noted(import, "1 GPU in use by no running job of the list"));
}

TEST(SlurmRunning, WithoutAnyDetailTheCountsOfTheAllocationServe) {
  const io::SlurmImport import = of_jobs({running22(7, "n[1-2]", {}).text("tres_alloc_str", "cpu=4,node=2,gres/gpu=6"),
                                          running22(8, "n2", {}).text("tres_per_node", "gres:gpu:5")});

  ASSERT_NE(find_job(import.snapshot, "7"), nullptr);
  EXPECT_EQ(find_job(import.snapshot, "7")->allocation.entries.at(1).gpus, Indices({0, 1, 2}));
  EXPECT_EQ(find_job(import.snapshot, "8")->allocation.entries.at(0).gpus, Indices({3, 4, 5, 6, 7}));
}

TEST(SlurmRunning, CoresAndMemoryOfARunningJobComeBackWithIt) {
  const std::string nodes = nodes22({node22("n1").with("alloc_cpus", "14").with("alloc_memory", "500")});

  const io::SlurmImport import = imported(jobs22({running22(7, "n1", kHalf)}) + nodes);

  const Job* job = find_job(import.snapshot, "7");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->constraints.cpu_milli_per_gpu, 1'000);
  EXPECT_EQ(job->constraints.memory_bytes_per_gpu, 100 * kMiB);
  EXPECT_EQ(import.snapshot.nodes[0].cpu_milli, 54'000);         // 10 cores are others'
  EXPECT_EQ(import.snapshot.nodes[0].memory_bytes, 900 * kMiB);  // 100 MiB too
}

TEST(SlurmRunning, SuspendedAndCompletingJobsAreLeftOutAndKeepTheirGpus) {
  const io::SlurmImport import =
      of_jobs({running22(7, "n1", kHalf).text("job_state", "SUSPENDED"), running22(8, "n2", kHalf).text("job_state", "COMPLETING")});

  EXPECT_TRUE(import.snapshot.jobs.empty());
  EXPECT_EQ(import.snapshot.nodes.at(0).gpu_list.at(3).state, GpuState::kReleasing);
  EXPECT_EQ(import.snapshot.nodes[0].gpu_list[3].free_at_us, kNever);
  EXPECT_EQ(import.snapshot.nodes[0].gpu_list[4].state, GpuState::kOk);
  EXPECT_EQ(import.snapshot.nodes.at(1).gpu_list.at(3).state, GpuState::kReleasing);
  EXPECT_EQ(import.snapshot.nodes[1].gpu_list[3].free_at_us, import.snapshot.now_us);
  EXPECT_TRUE(noted(import, "1 job left out: SUSPENDED; it keeps what it holds (first: 7)"));
  EXPECT_TRUE(noted(import, "1 job left out: completing; its GPUs are about to be free (first: 8)"));
}

TEST(SlurmRunning, AJobThatWasSuspendedRanBeforeAndSince) {
  const io::SlurmImport import =
      of_jobs({running22(7, "n1", kHalf).with("suspend_time", "1500").with("pre_sus_time", "100"), job22(8).with("submit_time", "1600")});

  EXPECT_EQ(find_job(import.snapshot, "7")->progress.run_us, 200 * kSecond);
}

TEST(SlurmRunning, OneWhoseGpusAnotherHoldsIsLeftOut) {
  const io::SlurmImport import = of_jobs({running22(7, "n1", kHalf), running22(8, "n1", {"gpu:h100:2(IDX:3-4)"})});

  EXPECT_EQ(import.snapshot.jobs.size(), 1u);
  EXPECT_TRUE(noted(import, "1 job left out: it runs on GPUs that another running job holds (first: 8)"));
  EXPECT_EQ(import.snapshot.nodes.at(0).gpu_list.at(4).free_at_us, 4'600 * kSecond);  // its own end
}

TEST(SlurmRunning, OneOnUnknownNodesOrOnSeveralTypesIsLeftOut) {
  const std::string nodes = nodes22({node22("n1"), node22("n2").text("gres", "gpu:a100:8")});
  const std::vector<std::string> two{"gpu:h100:4(IDX:0-3)", "gpu:a100:4(IDX:0-3)"};

  const io::SlurmImport import =
      imported(jobs22({running22(7, "n9", kHalf), running22(9, "n[1,9]", two), running22(8, "n[1-2]", two)}) + nodes);

  EXPECT_TRUE(import.snapshot.jobs.empty());
  EXPECT_TRUE(noted(import, "1 job left out: where it runs is not among the nodes with GPUs (first: 7)"));
  EXPECT_TRUE(noted(import, "1 job left out: it runs on several types of GPUs (first: 8)"));
  EXPECT_TRUE(noted(import, "1 job left out: some of its GPUs are not among those of the nodes (first: 9)"));
}

TEST(SlurmRunning, OneWhoseRecordCannotBeTrueIsLeftOut) {
  const std::string nodes = nodes22({node22("n1"), node22("n2").text("gres", "gpu:h100:4,gpu:a100:2"), node22("n3")});

  const io::SlurmImport import =
      imported(jobs22({running22(1, "n1,n1", {"gpu:h100:2(IDX:0-1)", "gpu:h100:2(IDX:1-2)"}), running22(2, "n1", {"gpu:h100:1(IDX:8)"}),
                       running22(3, "n1", {"gpu:h100:2(IDX:7,70)"}), running22(4, "n2", {"gpu:a100:1(IDX:5)"}),
                       running22(5, "n1", {"gpu:h100:3(IDX:6)"}), running22(6, "n3", {"gpu:h100:1(IDX:6)"}).with("start_time", "0"),
                       running22(7, "n3", {"gpu:h100:1(IDX:7)"}).text("tres_alloc_str", "mem=65536T")}) +
               nodes);

  EXPECT_TRUE(import.snapshot.jobs.empty());
  EXPECT_TRUE(noted(import, "1 job left out: it holds a GPU twice (first: 1)"));
  EXPECT_TRUE(noted(import, "2 jobs left out: it runs on GPU indices that its node does not have (first: 2)"));
  EXPECT_TRUE(noted(import, "1 job left out: it runs on GPUs of a type that is not used on its node (first: 4)"));
  EXPECT_TRUE(noted(import, "1 job left out: it holds another count of GPUs than indices (first: 5)"));
  EXPECT_TRUE(noted(import, "1 job left out: it runs and has no start_time (first: 6)"));
  EXPECT_TRUE(noted(import, "1 job left out: it holds more cores or memory than can be counted (first: 7)"));
}

TEST(SlurmRunning, ComponentsOnOneNodeWithoutIndicesGetDifferentGpus) {
  const SlurmRow first = running22(12, "n1", {"gpu:h100:3"}).with("het_job_id", "12");
  const SlurmRow second = running22(13, "n1", {"gpu:h100:2"}).with("het_job_id", "12").with("het_job_offset", "1");

  const io::SlurmImport import = of_jobs({first, second});

  ASSERT_EQ(import.snapshot.jobs.size(), 1u);
  EXPECT_EQ(import.snapshot.jobs[0].allocation.entries.at(0).gpus, Indices({0, 1, 2}));
  EXPECT_EQ(import.snapshot.jobs[0].allocation.entries.at(1).gpus, Indices({3, 4}));
}

TEST(SlurmRunning, RequeueSaysWhetherAJobMayBePreempted) {
  const io::SlurmImport import =
      of_jobs({running22(7, "n1", kHalf).with("requeue", "false").with("restart_cnt", "2"), running22(8, "n2", kHalf)});

  EXPECT_FALSE(find_job(import.snapshot, "7")->preemption.preemptible);
  EXPECT_EQ(find_job(import.snapshot, "7")->progress.restarts, 2);
  EXPECT_TRUE(find_job(import.snapshot, "8")->preemption.preemptible);
}

TEST(SlurmRunning, LaterVersionsAreReadTheSame) {
  const SlurmRow row = running22(7, "n1", kHalf)
                           .with("job_state", R"(["RUNNING","CONFIGURING"])")
                           .with("priority", wrapped(4'294'901'755))
                           .with("submit_time", wrapped(1000))
                           .with("eligible_time", wrapped(1000))
                           .with("start_time", wrapped(1000))
                           .with("time_limit", wrapped(60))
                           .with("node_count", wrapped(1))
                           .with("array_task_id", kUnset)
                           .with("array_job_id", wrapped(0))
                           .with("shared", R"(["none"])");

  const io::SlurmImport import = imported(document("jobs", {row}, meta_of("v0.0.42")) + nodes22({node22("n1")}));

  const Job* job = find_job(import.snapshot, "7");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->state, JobState::kRunning);
  EXPECT_EQ(job->time_limit_us, 3'600 * kSecond);
  EXPECT_EQ(job->allocation.entries.at(0).gpus, Indices({0, 1, 2, 3}));
}

TEST(SlurmRunning, AHeterogeneousJobIsOneJobWithAGroupForEachComponent) {
  const SlurmRow first = running22(12, "n1", {"gpu:h100:8(IDX:0-7)"}).with("het_job_id", "12").with("het_job_offset", "0");
  const SlurmRow second = running22(13, "n2", {"gpu:h100:2(IDX:6-7)"}).with("het_job_id", "12").with("het_job_offset", "1");

  const io::SlurmImport import = of_jobs({second, first});

  ASSERT_EQ(import.snapshot.jobs.size(), 1u);
  const Job& job = import.snapshot.jobs[0];
  EXPECT_EQ(job.id, "12");
  EXPECT_EQ(job.shapes.at(0).groups.size(), 2u);
  EXPECT_EQ(job.allocation.entries.at(0).group, "component0");
  EXPECT_EQ(job.allocation.entries.at(1).group, "component1");
  EXPECT_EQ(job.allocation.entries[1].gpus, Indices({6, 7}));
}

}  // namespace berth::test::slurm_running_test
