#include "tests/cli/command.hpp"

namespace berth::test::slurm_test {
namespace {

// Fields that a job does not have.
const std::string kNone =
    R"("account":"","array_job_id":0,"array_task_id":null,"array_max_tasks":0,"array_task_string":"","contiguous":false,
"cpus_per_tres":"","deadline":0,"dependency":"","end_time":0,"excluded_nodes":"","features":"","gres_detail":[],"het_job_id":0,"het_job_offset":0,
"last_sched_evaluation":0,"licenses":"","max_nodes":0,"pre_sus_time":0,"prefer":"","requeue":true,"required_nodes":"","restart_cnt":0,"resv_name":"",
"shared":null,"suspend_time":0,"tasks":1,"tres_alloc_str":"","tres_per_socket":"","user_name":"ann")";

// One job that waits for 4 GPUs, one that is held.
const std::string kJobs =
    R"({"meta":{"plugin":{"type":"openapi/v0.0.38"}},"errors":[],"jobs":[
{)" +
    kNone +
    R"(,"job_id":3,"job_state":"PENDING","state_reason":"Resources","partition":"main","priority":10,"submit_time":1000,"eligible_time":1000,
"start_time":0,"time_limit":60,"node_count":1,"nodes":"","tres_per_job":"","tres_per_node":"gres:gpu:4","tres_per_task":"","tres_req_str":"cpu=1,node=1"},
{)" +
    kNone +
    R"(,"job_id":4,"job_state":"PENDING","state_reason":"JobHeldUser","partition":"main","priority":0,"submit_time":1000,"eligible_time":0,
"start_time":0,"time_limit":60,"node_count":1,"nodes":"","tres_per_job":"","tres_per_node":"gres:gpu:4","tres_per_task":"","tres_req_str":"cpu=1,node=1"}]}
)";
const std::string kNodes = R"({"meta":{"plugin":{"type":"openapi/v0.0.38"}},"errors":[],"nodes":[
{"name":"n1","state":"idle","state_flags":[],"partitions":["main"],"gres":"gpu:h100:8","gres_used":"gpu:h100:0","cpus":64,
"real_memory":1000,"alloc_cpus":0,"alloc_memory":0,"active_features":"","features":"","gres_drained":"N/A","last_busy":0,"slurmd_start_time":0,
"reason_changed_at":0}]}
)";
const std::string kTopology = "SwitchName=leaf Nodes=n1\n";

}  // namespace

TEST(CliSlurm, WhatItsCommandsPrintIsPlannedAsItIsPiped) {
  const Folder folder;
  const std::string all = folder.write("all", kJobs + kNodes + kTopology);

  const Answer plan = berth("plan --slurm - --policy priority <" + quoted(all));

  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(contains(plan.out, "1 start")) << plan.out;
  EXPECT_TRUE(contains(plan.out, "n1[0-3]")) << plan.out;
  EXPECT_EQ(plan.err, "berth: note: 1 job left out: held (JobHeldUser) (first: 4)\n");
}

TEST(CliSlurm, GpusThatOthersHoldAreInTheHeader) {
  const Folder folder;
  std::string nodes = kNodes;
  nodes.replace(nodes.find("gpu:h100:0"), 10, "gpu:h100:3");

  const Answer plan = berth("plan --policy fifo --slurm " + quoted(folder.write("all", kJobs + nodes)));

  EXPECT_TRUE(contains(plan.out, "; 4 of 8 GPUs in use by these jobs, 3 held by others\n")) << plan.out;
}

TEST(CliSlurm, FilesAndStandardInputGoTogether) {
  const Folder folder;
  const std::string nodes = folder.write("nodes.json", kNodes), jobs = folder.write("jobs.json", kJobs);

  const Answer held = berth("plan --slurm - --slurm " + quoted(nodes) + " --held --policy priority <" + quoted(jobs));
  const Answer twice = berth("plan --slurm - --slurm - --policy priority <" + quoted(jobs));

  EXPECT_TRUE(contains(held.out, "2 start")) << held.out << held.err;
  EXPECT_EQ(held.err, "");
  EXPECT_EQ(twice.code, 2);
  EXPECT_TRUE(contains(twice.err, "standard input can be read once")) << twice.err;
}

TEST(CliSlurm, AJobThatWasLeftOutIsExplained) {
  const Folder folder;
  const std::string all = folder.write("all", kJobs + kNodes), files = " --slurm " + quoted(all) + " --plan " + quoted(folder / "p.json");
  ASSERT_EQ(berth("plan --slurm " + quoted(all) + " --policy fifo --out " + quoted(folder / "p.json")).code, 0);

  const Answer told = berth("explain --job 4" + files);
  const Answer unknown = berth("explain --job 44" + files);

  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out, "job 4: left out of the plan: held (JobHeldUser)\n");
  EXPECT_EQ(unknown.code, 2);
}

TEST(CliSlurm, APlanIsExplainedAndValidatedAgainstTheSameOutput) {
  const Folder folder;
  const std::string all = folder.write("all", kJobs + kNodes), files = " --slurm " + quoted(all) + " --plan " + quoted(folder / "p.json");
  ASSERT_EQ(berth("plan --slurm " + quoted(all) + " --policy fifo --out " + quoted(folder / "p.json")).code, 0);

  const Answer valid = berth("validate" + files), told = berth("explain --job 3" + files);

  EXPECT_EQ(valid.code, 0) << valid.err;
  EXPECT_TRUE(contains(valid.out, all + ": valid: 1 node, 8 GPUs, 1 job (0 running, 1 waiting)")) << valid.out;
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(contains(told.out, "  start          1970-01-01T00:16:40Z\n")) << told.out;
}

TEST(CliSlurm, ImportWritesTheSnapshotThatPlanWouldUse) {
  const Folder folder;
  const std::string jobs = folder.write("jobs.json", kJobs), nodes = folder.write("nodes.json", kNodes), s = folder / "s.json";

  const Answer import = berth("import slurm " + quoted(jobs) + " " + quoted(nodes) + " --held --out " + quoted(s));

  EXPECT_EQ(import.code, 0) << import.err;
  EXPECT_EQ(import.out, s + ": berth.snapshot.v1, 1 node, 8 GPUs, 2 jobs (0 running, 2 waiting)\n");
  EXPECT_EQ(berth("plan --no-timing --json --policy fifo --snapshot " + quoted(s)).out,
            berth("plan --no-timing --json --policy fifo --held --slurm " + quoted(jobs) + " --slurm " + quoted(nodes)).out);
}

TEST(CliSlurm, OptionsThatMeanNothingForItAreRefused) {
  const Folder folder;
  const std::string nodes = folder.write("nodes.json", kNodes);
  const auto refused = [](const std::string& arguments, const std::string& why) {
    const Answer answer = berth(arguments);
    EXPECT_EQ(answer.code, 2) << arguments;
    EXPECT_TRUE(contains(answer.err, why)) << answer.err;
  };
  refused("import slurm " + quoted(nodes) + " --at +5 --out -", "--at and --cluster are for traces");
  refused("import slurm " + quoted(nodes) + " --cluster 2x8 --out -", "--at and --cluster are for traces");
  refused("import slurm " + quoted(nodes) + " --out " + quoted(nodes), "would replace");
  refused("import pai " + quoted(nodes) + " --held --out -", "--held is for the format slurm");
  refused("plan --policy fifo --held --snapshot " + quoted(nodes), "--held needs --slurm");
  refused("plan --policy fifo --snapshot " + quoted(nodes) + " --slurm " + quoted(nodes), "--snapshot and --slurm are alternatives");
  refused("plan --policy fifo --slurm " + quoted(folder / "none"), "cannot read");
  refused("validate --slurm " + quoted(folder.write("cut", kNodes.substr(0, 90))), "cut:2: /nodes");
}

TEST(CliSlurm, ASecondFileBehindTheOptionIsRefusedWithTheRightForm) {
  const Folder folder;
  const std::string jobs = folder.write("jobs.json", kJobs), nodes = folder.write("nodes.json", kNodes);

  const Answer two = berth("plan --policy fifo --slurm " + quoted(jobs) + " " + quoted(nodes));

  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(contains(two.err,
                       "unexpected argument '" + nodes + "'; did you mean '--slurm " + nodes + "'? The option is given once for each file"))
      << two.err;
}

TEST(CliSlurm, WhereASnapshotIsExpectedItsOptionIsNamed) {
  const Folder folder;
  const std::string all = quoted(folder.write("all", kJobs + kNodes)), tree = quoted(folder.write("tree", kTopology));
  const std::string hint = "; what Slurm's commands print is read with --slurm";
  const std::string bad = quoted(folder.write("bad", R"({"schema":"berth.snapshot.v1","node":[]})"));

  for (const std::string& command : {"shadow --policy fifo " + all + " " + all, "plan --policy fifo --snapshot " + all,
                                     "validate --snapshot " + all, "shadow --policy fifo " + tree + " " + all}) {
    const Answer answer = berth(command);
    EXPECT_EQ(answer.code, 2) << command;
    EXPECT_TRUE(contains(answer.err, hint)) << answer.err;
  }
  EXPECT_FALSE(contains(berth("validate --snapshot " + bad).err, "--slurm"));
}

}  // namespace berth::test::slurm_test
