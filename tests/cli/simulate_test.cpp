#include <sstream>

#include "tests/cli/command.hpp"

namespace berth::test::simulate_test {
namespace {

// b needs both nodes, and c would fit next to a.
const char* const kTrace = R"({"schema": "berth.trace.v1", "name": "three", "jobs": [
  {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 6},
  {"id": "b", "submit_s": 1, "run_s": 20, "gpus": 8},
  {"id": "c", "submit_s": 2, "run_s": 5, "gpus": 2}]})";

/// What a simulation of these jobs writes on a terminal, which script(1) makes.
std::string shown_on_terminal(const Folder& folder, const std::string& options) {
  folder.write("trace.json", kTrace);
  folder.write("run.sh", "exec '" BERTH_COMMAND "' simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' " + options);
  const std::string line = "script -qec \"sh '" + (folder / "run.sh") + "'\" /dev/null >'" + (folder / "out") + "' </dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
  return content_of(folder / "out");
}

}  // namespace

TEST(CliSimulate, OneLineForEachPolicy) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo fifo@discipline=greedy";

  const Answer text = berth(given);
  const Answer json = berth(given + " --json --jobs-out '" + (folder / "jobs.csv") + "'");

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "three: 3 jobs on 8 GPUs")) << text.out;
  EXPECT_TRUE(contains(text.out, "fifo@discipline=greedy")) << text.out;
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_TRUE(contains(json.out,
                       R"({"policy":"fifo","trace":"three","seed":0,"jobs":3,"completed":3,"rejected":0,"unfinished":0,"mean_jct_s":24,)"))
      << json.out;
  EXPECT_TRUE(contains(json.out, "\n{\"policy\":\"fifo@discipline=greedy\"")) << json.out;
  const std::string rows = content_of(folder / "jobs.csv");
  EXPECT_TRUE(contains(rows, "fifo,b,completed,1,10,30,29,9,20,0,160,1,0,0,n0 n1,\n")) << rows;
  EXPECT_TRUE(contains(rows, "fifo@discipline=greedy,c,completed,2,2,7,5,0,5,0,10,1,0,0,n1,\n")) << rows;
}

TEST(CliSimulate, ATraceWithoutANameNeedsNone) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "jobs": [{"id": "a", "submit_s": 0, "run_s": 5, "gpus": 1}]})");
  const Answer answer = berth("simulate --cluster 1x8 --trace '" + (folder / "trace.json") + "' --policy fifo");
  EXPECT_EQ(answer.out.find("1 job on 8 GPUs; times in seconds\n"), 0U) << answer.out << answer.err;
}

TEST(CliSimulate, WritesWhatHeldOverTime) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const Answer answer =
      berth("simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo las@thresholds_gpu_s=20,50" +
            " --series-every 10s --series-out '" + (folder / "series.csv") + "' --jobs-out '" + (folder / "jobs.csv") + "'");

  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string series = content_of(folder / "series.csv");
  EXPECT_EQ(series.find("policy,from_s,until_s,gpus_allocated,gpus_free,running,waiting,gpus_waited,gpus_fragmented\n"
                        "fifo,0,10,6,2,1,1.7,8.8,1.333332\n"),
            0U)
      << series;
  EXPECT_TRUE(contains(series, "\n\"las@thresholds_gpu_s=20,50\",0,10,")) << series;
  EXPECT_TRUE(contains(content_of(folder / "jobs.csv"), "\n\"las@thresholds_gpu_s=20,50\",c,completed,"));
}

TEST(CliSimulate, ReportsGroupsSeparately) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo srtf --by ";

  EXPECT_TRUE(contains(berth(given + "size").out, "POLICY  GPUS  DONE")) << "a second table";
  EXPECT_TRUE(contains(berth(given + "vc").out, "srtf    (none)  3"));
  EXPECT_TRUE(contains(berth(given + "queue").out, "POLICY  QUEUE  "));
  EXPECT_TRUE(contains(berth(given + "size --json").out, R"("by":"size","groups":[{"name":"2-4","jobs":1,)"));
}

TEST(CliSimulate, ReportsWhatQueuesOfTheClusterGot) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 7200, "gpus": 4, "queue": "A"}, {"id": "b", "submit_s": 0, "run_s": 3600, "gpus": 4, "queue": "B"}]})");
  folder.write("cluster.json", R"({"schema": "berth.cluster.v1", "gpu_types": [{"id": "g"}],
    "nodes": [{"id": "n0", "gpu_type": "g", "gpus": 4}],
    "queues": [{"id": "A"}, {"id": "B", "quotas": [{"gpu_type": "*", "guarantee": 4}]}]})");
  folder.write("events.json", R"({"schema": "berth.events.v1", "events": [
    {"at_s": 1800, "event": "quota", "queue": {"id": "B", "quotas": [{"gpu_type": "*", "limit": 3}]}}]})");
  const std::string given =
      "simulate --cluster '" + (folder / "cluster.json") + "' --trace '" + (folder / "trace.json") + "' --policy fifo";

  // b is entitled, so it is first, and a waits for an hour.
  const Answer json = berth(given + " --by queue --json");
  EXPECT_TRUE(contains(json.out, R"("queues":[{"name":"A","gpu_s":28800,"guaranteed_gpu_s":0,)")) << json.out;
  EXPECT_TRUE(contains(json.out, R"({"name":"B","gpu_s":14400,"guaranteed_gpu_s":14400,)")) << json.out;
  EXPECT_TRUE(contains(berth(given + " --by queue").out, "fifo    B      4.0  4.0       "));
  EXPECT_FALSE(contains(berth(given + " --by size --json").out, R"("queues")"));

  // From 1,800 s on b runs beyond the limit, without a guarantee.
  const Answer changed = berth(given + " --by queue --json --events '" + (folder / "events.json") + "'");
  EXPECT_TRUE(contains(changed.out, R"({"name":"B","gpu_s":14400,"guaranteed_gpu_s":7200,)")) << changed.out;
  const Answer wrong =
      berth("simulate --cluster 1x4 --trace '" + (folder / "trace.json") + "' --policy fifo --events '" + (folder / "events.json") + "'");
  EXPECT_NE(wrong.code, 0);
  EXPECT_TRUE(contains(wrong.err, "/events/0/queue/id: the cluster has no queue 'B'")) << wrong.err;
}

// a has 8 of 10 GPUs, and c has no size. On 5 GPUs a has 4 and b 1: a job of a waits for the other one.
TEST(CliSimulate, MakesVirtualClustersQueues) {
  const Folder folder;
  folder.write("jobs.csv",
               "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:00:00,60,3,180,a\n2017-10-09 07:00:01,60,2,120,a\n"
               "2017-10-09 07:00:02,60,1,60,b\n2017-10-09 07:00:03,30,1,30,c\n");
  folder.write("machines.csv", "machineId, number of GPUs, single GPU mem\nm0,8, 24GB\nm1,2, 24GB\n");
  folder.write("vcs.csv", "vc,node num\na,1\nb,1\n");
  const std::string given = "simulate --cluster 1x5 --trace '" + (folder / "jobs.csv") + "' '" + (folder / "machines.csv") + "' '" +
                            (folder / "vcs.csv") +
                            "' --trace-format philly --policy fifo@discipline=greedy --json --by queue --virtual-clusters ";

  const Answer limits = berth(given + "limits");
  EXPECT_TRUE(contains(limits.err, "virtual clusters share the 5 GPUs of the cluster in proportion")) << limits.err;
  EXPECT_TRUE(contains(limits.err, "1 virtual cluster of unknown size: without guarantee and limit")) << limits.err;
  EXPECT_TRUE(contains(limits.out, R"("queues":[{"name":"a","gpu_s":300,)")) << limits.out;
  EXPECT_TRUE(contains(limits.out, R"({"name":"a","jobs":2,"completed":2,"rejected":0,"mean_jct_s":89.5,)")) << limits.out;
  // With guarantees alone the second job starts at once, and is displaced by b a second later, until a's first job ends.
  const Answer guarantees = berth(given + "guarantees");
  EXPECT_TRUE(contains(guarantees.out, R"("displaced":1,"displaced_for":0)")) << guarantees.out;
  EXPECT_TRUE(contains(berth(given + "nodes").out, R"("groups":[{"name":"","jobs":4,)"));
  EXPECT_TRUE(contains(berth("simulate --cluster 1x8 --workload philly --jobs 3 --policy fifo --virtual-clusters limits").err,
                       "--virtual-clusters: it is for jobs of --trace that are read at once"));
}

// The second call adds to the file of the first.
TEST(CliSimulate, KeepsResults) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo srtf --out ";
  const std::string file = quoted(folder / "results.sqlite");

  for (int turn = 0; turn < 2; ++turn) {
    const Answer answer = berth(given + file);
    EXPECT_EQ(answer.code, 0) << answer.err;
  }

  EXPECT_EQ(content_of(folder / "results.sqlite").find("SQLite format 3"), 0U);
  EXPECT_TRUE(contains(berth(given + quoted(folder / "trace.json")).err, "--out would replace"));
  folder.write("other", "not a database, but long enough to have a header of a hundred bytes, which is what SQLite looks at first of all");
  const Answer refused = berth(given + quoted(folder / "other"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "other: is no SQLite file")) << refused.err;
  EXPECT_EQ(refused.out, "") << "said before anything is simulated";
  EXPECT_EQ(berth(given + quoted(folder / "no/such/folder")).code, 2);
}

TEST(CliSimulate, AnswersNoWhereAllAreRejected) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --policy fifo --trace '" + (folder / "trace.json") + "' --cluster ";

  EXPECT_EQ(berth(given + "1x1").code, 1);
  EXPECT_EQ(berth(given + "1x2").code, 0) << "c fits";
}

TEST(CliSimulate, WhatChangesCostAndWhatFailsComeFromFiles) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  folder.write("o.json", R"({"schema": "berth.overheads.v1", "default": {"start_s": 1, "costs": {"restart_s": 4}}})");
  folder.write("e.json", R"({"schema": "berth.events.v1", "events": [{"at_s": 3, "event": "fail", "node": "n1", "until_s": 50},
                             {"at_s": 100, "event": "kill", "job": "b"}]})");
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo --jobs-out '" +
                            (folder / "jobs.csv") + "' --overheads '" + (folder / "o.json") + "' --events '";

  const Answer good = berth(given + (folder / "e.json") + "'");

  ASSERT_EQ(good.code, 0) << good.err;
  const std::string rows = content_of(folder / "jobs.csv");
  // a has lost all work until 3 s, and needs both nodes again; b waits for it.
  EXPECT_TRUE(contains(rows, "fifo,a,completed,0,0,64,")) << rows;
  EXPECT_TRUE(contains(rows, "fifo,b,completed,1,64,85,")) << rows;
  folder.write("e.json", R"({"schema": "berth.events.v1", "events": [{"at_s": 3, "event": "fail", "node": "nowhere"}]})");
  const Answer bad = berth(given + (folder / "e.json") + "'");
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "the event at 3 s: no node 'nowhere' in the cluster")) << bad.err;
}

TEST(CliSimulate, FailureRatesAreMeanTimes) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo --failures ";

  EXPECT_EQ(berth(given + "node=720h gpu=5000h repair=4h crash=200h kill=1000h").code, 0);
  EXPECT_EQ(berth(given + "seren").code, 0);
  EXPECT_TRUE(contains(berth(given + "nodes=1h").err, "unknown rate 'nodes'; known: seren, kalos, and node, gpu, repair, crash, kill"));
  EXPECT_TRUE(contains(berth(given + "node=0s").err, "a mean time is above 0"));
  EXPECT_TRUE(contains(berth(given + "node=1h node=2h").err, "the rate 'node' is stated twice"));
  EXPECT_TRUE(contains(berth(given + "crash=1h seren").err, "the rate 'crash' is stated twice"));
  EXPECT_TRUE(contains(berth(given + "node=soon").err, "'soon' is no duration"));
}

TEST(CliSimulate, DrawnJobsAndStreamedOnesAreNotKept) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string drawn = "simulate --workload helios --jobs 2000 --load 0.9 --cluster 8x8 --policy fifo --placement count";
  const std::string file =
      "simulate --trace '" + (folder / "trace.json") + "' --cluster 2x4 --policy fifo@discipline=greedy --json --by size";

  const Answer text = berth(drawn);
  const Answer streamed = berth(file + " --stream"), whole = berth(file);

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "helios at load 0.9: 2000 jobs on 64 GPUs")) << text.out;
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  const auto until_times = [](const std::string& line) { return line.substr(0, line.find("\"decision_p50_s\"")); };
  EXPECT_EQ(until_times(streamed.out), until_times(whole.out));
  EXPECT_TRUE(contains(berth(drawn + " --jobs-out x.csv").err, "jobs are not kept"));
  EXPECT_TRUE(contains(berth(drawn + " --trace '" + (folder / "trace.json") + "'").err, "either --trace or --workload is required"));
  EXPECT_TRUE(contains(berth("simulate --cluster 1x1 --policy fifo").err, "either --trace or --workload is required"));
  EXPECT_TRUE(contains(berth("simulate --workload pai --jobs 1 --load 0 --cluster 1x1 --policy fifo").err, "expected a decimal above 0"));
  EXPECT_TRUE(contains(berth("simulate --workload helios --cluster 1x1 --policy fifo").err, "--jobs says how many jobs are drawn"));
  EXPECT_TRUE(contains(berth(file + " --stream --trace-format pai").err, "one file of the format 'trace'"));
}

TEST(CliSimulate, TheJobsOfOnesAreFiftyAndSubmittedAsPublished) {
  const std::string drawn = "simulate --workload ones --cluster 16x4 --policy ";
  const Answer rigid = berth(drawn + "fifo --json"), elastic = berth(drawn + "ones --elastic --json");

  EXPECT_TRUE(contains(berth(drawn + "fifo").out, "ones, submitted as published: 50 jobs on 64 GPUs"));
  EXPECT_TRUE(contains(berth(drawn + "fifo --jobs 3 --load 0.5").out, "ones at load 0.5: 3 jobs on 64 GPUs"));
  EXPECT_TRUE(contains(berth(drawn + "fifo --jobs 0").err, "--jobs: expected a whole number from 1 to "));
  EXPECT_TRUE(contains(rigid.out, "\"moves\":0")) << rigid.out << rigid.err;
  ASSERT_EQ(elastic.code, 0) << elastic.err;
  EXPECT_FALSE(contains(elastic.out, "\"moves\":0")) << elastic.out;  // the profiles came along
}

TEST(CliSimulate, JobsOfLanguageModelsAreTreesOnAGeneratedFabric) {
  const Folder folder;
  const std::string cluster = folder / "cluster.json";
  ASSERT_EQ(berth("generate --nodes 32 --fabric tree --nodes-per-rack 4 --racks-per-pod 2 --oversubscription rack=4,pod=4 --jobs 0"
                  " --queues 0 --outage 0 --out '" +
                  cluster + "'")
                .code,
            0);
  const std::string drawn =
      "simulate --workload llm --jobs 300 --load 1 --cluster '" + cluster + "' --json --policy fifo srsf priority themis ones";
  const auto until_times = [](const std::string& line) { return line.substr(0, line.find("\"decision_p50_s\"")); };

  const Answer once = berth(drawn), again = berth(drawn), other = berth(drawn + " --seed 1"),
               shared = berth(drawn + " --fidelity shared_links"), apart = berth(drawn + " --fidelity tiers");

  ASSERT_EQ(once.code, 0) << once.err;
  std::istringstream lines(once.out);
  int runs = 0;
  for (std::string line; std::getline(lines, line); ++runs) {
    EXPECT_TRUE(contains(line, R"("completed":300,"rejected":0,"unfinished":0)")) << line;
  }
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(until_times(again.out), until_times(once.out));
  EXPECT_NE(until_times(other.out), until_times(once.out));
  ASSERT_EQ(shared.code, 0) << shared.err;
  EXPECT_NE(until_times(shared.out), until_times(once.out));  // uplinks are shared
  ASSERT_EQ(apart.code, 0) << apart.err;
  EXPECT_NE(until_times(apart.out), until_times(once.out));  // a gang sends what it states
  EXPECT_NE(until_times(apart.out), until_times(shared.out));
  EXPECT_TRUE(
      contains(berth("simulate --workload llm --jobs 5 --cluster 4x8 --policy fifo --fidelity iteration").err, "for flat gangs only"));
}

TEST(CliSimulate, ATraceMayStateItsGangsAsTrees) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 4, "groups": [
      {"name": "job", "members": 0}, {"name": "w", "parent": "job", "members": 2, "gpus_per_member": 2, "spread": {"level": "node"}}]},
    {"id": "b", "submit_s": 1, "run_s": 10, "gpus": 4, "groups": [{"name": "g", "gpus_per_member": 4, "require": "rack"}]},
    {"id": "c", "submit_s": 2, "run_s": 10, "gpus": 8, "shapes": [{"gpus": 8}, {"gpus": 4}]}]})");
  const std::string trace = " --trace '" + (folder / "trace.json") + "'", given = "simulate --cluster 3x4 --policy fifo" + trace;

  ASSERT_EQ(berth(given + " --jobs-out '" + (folder / "jobs.csv") + "'").code, 0);
  const std::string rows = content_of(folder / "jobs.csv");
  EXPECT_TRUE(contains(rows, "fifo,a,completed,0,0,10,10,0,10,0,40,1,0,0,n0 n1,\n")) << rows;
  EXPECT_TRUE(contains(rows, "group 'g' names the level 'rack', and the topology 'switch' of the cluster has no such level")) << rows;
  EXPECT_TRUE(contains(rows, "fifo,c,completed,2,2,12,")) << rows;
  EXPECT_TRUE(contains(berth("simulate --cluster 1x4 --policy price --elastic --json" + trace).out,
                       R"("completed":1,"rejected":1,"unfinished":1)"));
  EXPECT_TRUE(contains(berth("import trace" + trace.substr(8) + " --cluster 3x4 --at +1 --out -").err, "flat gangs only"));
}

// a has 24 s left at 40 s; at its first rate it would have 61 at 39 s.
TEST(CliSimulate, RatesMayChangeWhileAJobRuns) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "name": "t", "profiles": {
    "slow": {"kind": "table", "unit": "steps", "points": [{"gpus": 4, "rate": 10}]},
    "fast": {"kind": "table", "unit": "steps", "points": [{"gpus": 4, "rate": 25}]}}, "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 64, "gpus": 4, "profile": "slow", "work": 1000, "phases": [{"from": 400, "profile": "fast"}]},
    {"id": "b", "submit_s": 39, "run_s": 50, "gpus": 4}]})");
  const std::string given = "simulate --cluster 1x4 --trace '" + (folder / "trace.json") + "' --policy srtf --json";

  EXPECT_TRUE(contains(berth(given).out, R"("mean_jct_s":69.5,)")) << berth(given).out;  // 64 and 114 - 39
  EXPECT_TRUE(contains(berth(given + " --estimates reactive").out, R"("mean_jct_s":82,)")) << berth(given + " --estimates reactive").out;
  EXPECT_TRUE(contains(berth(given + " --stream").out, R"("mean_jct_s":69.5,)")) << berth(given + " --stream").err;
}

TEST(CliSimulate, SaysWhatIsWrong) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --trace '" + (folder / "trace.json") + "' --cluster 2x4 --policy ";

  EXPECT_TRUE(contains(berth(given + "fifa").err, "did you mean 'fifo'?"));
  EXPECT_TRUE(contains(berth(given + "fifo --estimates hearsay").err, "unknown estimates 'hearsay'"));
  EXPECT_TRUE(contains(berth(given + "fifo --progress hearsay").err, "unknown progress 'hearsay'"));
  EXPECT_TRUE(contains(berth(given + "fifo --overheads some").err, "unknown overheads 'some'"));
  EXPECT_TRUE(contains(berth(given + "fifo --round 0s").err, "a round takes a time above 0"));
  EXPECT_TRUE(contains(berth(given + "fifo --series-every 1s").err, "--series-every: there is no series"));
  EXPECT_TRUE(contains(berth(given + "fifo --series-out - --series-every 0s").err, "an interval takes a time above 0"));
  EXPECT_TRUE(contains(berth(given + "fifo --series-out - --series-every 1us").err, "makes more than 1048576 points"));
  EXPECT_TRUE(contains(berth(given + "fifo --out -").err, "--out: results are written into a file of their own"));
  EXPECT_EQ(berth(given + "fifo --by colour").code, 2);
  EXPECT_EQ(berth(given + "fifo --trace-format nonsense").code, 2);
}

// Two rows were no jobs, and two jobs need more than there is.
TEST(CliSimulate, SaysWhatIsDroppedAndRejectedAndWhy) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "name": "t", "dropped": {"gpus <= 0": 2, "no end, ever": 1}, "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 9}, {"id": "b", "submit_s": 1, "run_s": 20, "gpus": 1},
    {"id": "c", "submit_s": 2, "run_s": 20, "gpus": 9}, {"id": "d", "submit_s": 2, "run_s": 20, "gpus": 10}]})");
  const std::string given = "simulate --cluster 2x4 --placement count --trace '" + (folder / "trace.json") + "' --policy fifo ";

  const Answer text = berth(given + "--jobs-out '" + (folder / "jobs.csv") + "'"), json = berth(given + "--json");

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "t: 4 jobs on 8 GPUs; times in seconds\n  dropped 2 rows: gpus <= 0\n  dropped 1 row: no end, ever\n"))
      << text.out;
  EXPECT_TRUE(contains(text.out, "\nfifo rejects 2 jobs: needs 9 GPUs; the cluster has 8\nfifo rejects 1 job: needs 10 GPUs;")) << text.out;
  EXPECT_TRUE(contains(json.out, R"("dropped":{"gpus <= 0":2,"no end, ever":1},)"
                                 R"("rejections":{"needs 10 GPUs; the cluster has 8":1,"needs 9 GPUs; the cluster has 8":2},)"))
      << json.out;
  const std::string rows = content_of(folder / "jobs.csv");
  EXPECT_EQ(rows.find("policy,job,end,submit_s,start_s,end_s,jct_s,wait_s,held_s,overhead_s,gpu_s,starts,preemptions,moves,nodes,reason\n"),
            0U);
  EXPECT_TRUE(contains(rows, "\nfifo,d,rejected,2,,2,,,0,0,0,0,0,0,,needs 10 GPUs; the cluster has 8\n")) << rows;
  EXPECT_TRUE(contains(rows, "\n,,dropped,,,,,,,,,,,,,2 rows: gpus <= 0\n,,dropped,,,,,,,,,,,,,\"1 row: no end, ever\"\n")) << rows;
}

TEST(CliSimulate, PlacementIsShortForPacking) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given = "simulate --cluster 2x4 --json --policy fifo --trace '" + (folder / "trace.json") + "' --placement ";
  for (const std::string packing : {"topology", "count", "consolidate", "emptiest"}) {
    const Answer answer = berth(given + packing);
    EXPECT_EQ(answer.code, 0) << packing << answer.err;
    EXPECT_TRUE(contains(answer.out, "\"packing\":\"" + packing + "\"")) << answer.out;
  }
  EXPECT_EQ(berth(given + "tightest").code, 2);
}

TEST(CliSimulate, WhatChangesIsTwoColumns) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const Answer answer = berth("simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --policy fifo");
  EXPECT_TRUE(contains(answer.out, "PREEMPTIONS")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "MIGRATIONS")) << answer.out;
  EXPECT_FALSE(contains(answer.out, "CHANGES")) << answer.out;
}

TEST(CliSimulate, BadParametersOfALaterPolicyAreRefusedBeforeTheFirstRuns) {
  const Folder folder;
  folder.write("trace.json", kTrace);
  const std::string given =
      "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' --out '" + (folder / "r.sqlite") + "' --json --policy fifo ";
  for (const std::string later : {"fifo@discipline=sideways", "las@thresholds_gpu_s=5,x", "price@gap=-1", "ones@population=0"}) {
    const Answer answer = berth(given + later);
    EXPECT_EQ(answer.code, 2) << later;
    EXPECT_EQ(answer.out, "") << later;
    EXPECT_FALSE(std::filesystem::exists(folder / "r.sqlite")) << later;
  }
  for (const std::string wrong : {"fifo@discipline=easy,packing=count", "'fifo@discipline=easy packing=count'", "fifo:discipline=easy"}) {
    const Answer answer = berth(given + wrong);
    EXPECT_EQ(answer.code, 2) << wrong;
    EXPECT_TRUE(contains(answer.err, "separated by '@', as in fifo@discipline=easy@packing=count")) << answer.err;
  }
  const Answer compared = berth("plan --snapshot '" + golden("racks") + "' --compare fifo,srsf@discipline=sideways");
  EXPECT_EQ(compared.code, 2);
  EXPECT_EQ(compared.out, "");
  EXPECT_TRUE(contains(berth("simulate --help").out, "NAME@PARAM=VALUE@PARAM=VALUE"));
}

TEST(CliSimulate, ARunOfNoLengthShowsNoProgress) {
  const Folder folder;
  const std::string shown = shown_on_terminal(folder, "--policy fifo srtf");

  EXPECT_TRUE(contains(shown, "POLICY")) << shown;
  EXPECT_FALSE(contains(shown, "\x1b[")) << shown;
}

// A policy that thinks for longer than progress stays silent. The line is there, and gone where the table begins.
TEST(CliSimulate, TheTableFollowsAProgressLineThatIsCleared) {
  const Folder folder;
  folder.write("slow.awk", R"($1 == "now" { n = 0 }
$1 == "job" { id[n++] = $2 }
$1 == "decide" {
  if (!slept++) system("sleep 1.1")
  for (i = 0; i < n; i++) print "run", id[i]
  print "done"
  fflush()
})");
  const std::string shown = shown_on_terminal(folder, "--policy-exec 'slow=exec awk -f " + (folder / "slow.awk") + "'");

  const std::size_t line = shown.find("\r\x1b[K["), cleared = shown.rfind("\r\x1b[K"), table = shown.find("POLICY");
  ASSERT_NE(line, std::string::npos) << shown;
  ASSERT_NE(table, std::string::npos) << shown;
  EXPECT_TRUE(contains(shown.substr(line, table - line), " % slow")) << shown;
  EXPECT_LT(line, cleared) << shown;
  EXPECT_LT(cleared, table) << shown;
  EXPECT_EQ(shown.substr(cleared, 17), "\r\x1b[Kthree: 3 jobs") << "nothing is left before what follows: " << shown;
}

}  // namespace berth::test::simulate_test
