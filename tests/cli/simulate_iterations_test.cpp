#include "tests/cli/command.hpp"

namespace berth::test::simulate_iterations_test {
namespace {

// 10 and 4 iterations of a second; over two nodes a second more for the gradients.
const char* const kStages = R"({"schema": "berth.trace.v1", "name": "stages", "profiles": {
  "p": {"kind": "table", "unit": "steps", "points": [{"gpus": 1, "rate": 1}], "stage_s": [0.25, 0.75], "gradient_bytes": 1000000}},
  "jobs": [{"id": "a", "submit_s": 0, "run_s": 10, "gpus": 1, "profile": "p", "work": 10},
           {"id": "b", "submit_s": 0, "run_s": 4, "gpus": 1, "profile": "p", "work": 4}]})";

struct StagedRun {
  StagedRun(const std::string& cluster, const std::string& more) {
    folder.write("trace.json", kStages);
    answer = berth("simulate --cluster " + cluster + " --trace '" + (folder / "trace.json") + "' --jobs-out '" + (folder / "jobs.csv") +
                   "' " + more);
    if (answer.code == 0) rows = content_of(folder / "jobs.csv");
  }
  Folder folder;
  Answer answer;
  std::string rows;
};

}  // namespace

TEST(CliSimulateIterations, JobsShareAGpuInTimeSlices) {
  const StagedRun run("1x1", "--fidelity iteration --gpu-jobs 2 --policy ada-srsf ada-srsf@gpu_order=fifo fifo --json");

  ASSERT_EQ(run.answer.code, 2) << "fifo gives GPUs away whole";
  const StagedRun two("1x1", "--fidelity iteration --gpu-jobs 2 --policy ada-srsf ada-srsf@gpu_order=fifo --json");
  ASSERT_EQ(two.answer.code, 0) << two.answer.err;
  EXPECT_TRUE(contains(two.rows, "ada-srsf,b,completed,0,0,4,4,0,4,")) << two.rows;
  EXPECT_TRUE(contains(two.rows, "ada-srsf,a,completed,0,0,14,14,")) << two.rows;
  // A quarter of a second each, then three quarters: b ends after its eighth time slice.
  EXPECT_TRUE(contains(two.rows, "ada-srsf@gpu_order=fifo,b,completed,0,0,8,8,")) << two.rows;
  EXPECT_TRUE(contains(two.answer.out, R"("idle":0)")) << two.answer.out;
}

TEST(CliSimulateIterations, TheExampleOfContentionIsReplayed) {
  const Folder folder;
  const std::string jobs = folder / "jobs.json";
  ASSERT_EQ(std::system(("awk -v seed=1 -f " BERTH_SOURCE_DIR "/examples/contention/jobs.awk >'" + jobs + "'").c_str()), 0);
  const Answer answer =
      berth("simulate --cluster 16x4 --trace '" + jobs + "' --fidelity iteration --gpu-jobs 4 --policy ada-srsf@admission=one --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, R"("jobs":160,"completed":160,)")) << answer.out;
}

TEST(CliSimulateIterations, AdaSrsfIsNotAskedToKeepQuotas) {
  const Folder folder;
  const std::string cluster = folder.write("c.json", R"({"schema":"berth.cluster.v1","gpu_types":[{"id":"g"}],
      "nodes":[{"id":"n","gpu_type":"g","gpus":8}],"queues":[{"id":"q","quotas":[{"gpu_type":"*","limit":4}]}]})");
  const auto simulated = [&](const std::string& queue) {
    const std::string trace = folder.write("t.json", R"({"schema":"berth.trace.v1","jobs":[{"id":"a","submit_s":0,"run_s":10,"gpus":3)" +
                                                         queue + R"(},{"id":"b","submit_s":0,"run_s":10,"gpus":3)" + queue + "}]}");
    return berth("simulate --cluster '" + cluster + "' --trace '" + trace + "' --fidelity iteration --policy ada-srsf");
  };
  const Answer refused = simulated(R"(,"queue":"q")");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "knows no quotas")) << refused.err;
  EXPECT_EQ(simulated("").code, 0);
}

TEST(CliSimulateIterations, WhatCannotBeIsSaidBeforeAnythingRuns) {
  const auto refused = [](const std::string& more, const std::string& why) {
    const StagedRun run("1x1", more);
    EXPECT_EQ(run.answer.code, 2) << more;
    EXPECT_TRUE(contains(run.answer.err, why)) << run.answer.err;
    EXPECT_TRUE(run.answer.out.empty()) << run.answer.out;
  };
  refused("--policy ada-srsf", "it needs --fidelity iteration");
  refused("--policy ada-srsf --fidelity iteration --estimates none", "it needs --estimates oracle");
  refused("--policy ada-srsf@admission=three --fidelity iteration", "expected adadual, one, two or any");
  refused("--policy ada-srsf@kappa=9999999999 --fidelity iteration", "expected a whole number");
  refused("--policy fifo --gpu-jobs 2", "--gpu-jobs: it is for --fidelity iteration");
  refused("--policy fifo --network a=0", "--network: it is for --fidelity iteration");
  refused("--policy fifo --fidelity iteration --network b=0", "a byte takes a time above 0");
  refused("--policy fifo --fidelity iteration --network b=-1", "expected a number of at most 10^6");
  refused("--policy fifo --fidelity iteration --network b=1000001", "expected a number of at most 10^6");
  refused("--policy fifo --fidelity iteration --network c=1", "unknown 'c'");
  refused("--policy fifo --fidelity iteration --gpu-jobs 0", "--gpu-jobs");
  refused("--policy fifo --fidelity iteration --gpu-jobs 2", "--gpu-jobs");
  refused("--policy-exec true --fidelity iteration --gpu-jobs 2", "--gpu-jobs");
  refused("--policy fifo --fidelity step", "--fidelity");
}

}  // namespace berth::test::simulate_iterations_test
