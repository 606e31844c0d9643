#include <fstream>

#include "tests/cli/command.hpp"

namespace berth::test::explain_queues_test {
namespace {

const std::string kQueues = "explain --queues --snapshot " + quoted(golden("guarantees"));

}  // namespace

// A holds 16 with a guarantee of 8; B waits with 4 and 8, of which 4 are within its guarantee.
TEST(CliExplainQueues, TheTableIsExact) {
  const Answer answer = berth(kQueues);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, R"(2 queues

QUEUE  TYPE  GUARANTEE  ENTITLED  LIMIT  FAIR SHARE  HAS  BORROWS  WAITING  STARVED FOR
A      *     8          8         16     8           16   8        0        -
B      *     8          8         16     8           0    0        12       95 s
)");
}

TEST(CliExplainQueues, APlanIsShownAsItWouldRun) {
  const Folder folder;
  const std::string plan = folder / "plan.json";
  ASSERT_EQ(
      berth("plan --policy fifo --param discipline=greedy --snapshot " + quoted(golden("guarantees")) + " --out " + quoted(plan)).code, 0);
  const Answer answer = berth(kQueues + " --json --plan " + quoted(plan));
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(
      contains(answer.out, R"({"queue":"A","gpu_type":"*","guarantee":8,"limit":16,"entitled":8,"fair_share":8,"has":12,"waiting":4})"))
      << answer.out;
  EXPECT_TRUE(
      contains(answer.out, R"({"queue":"B","gpu_type":"*","guarantee":8,"limit":16,"entitled":8,"fair_share":8,"has":4,"waiting":8})"))
      << answer.out;
}

// b0 waits since 5 s, and the plan takes nothing back for it.
TEST(CliExplainQueues, APlanNamesQueuesThatStarve) {
  const std::string plan = "plan --policy fifo --snapshot " + quoted(golden("guarantees"));
  const Answer limits = berth(plan + " --param quotas=limits");
  EXPECT_TRUE(contains(limits.out, "\n\nqueue B: has 0 of 8 GPUs to which it is entitled, for 1 min 35 s\n")) << limits.out;
  EXPECT_FALSE(contains(berth(plan).out, "entitled, for"));
}

// A queue starves for H, and one below it for A: both are named.
TEST(CliExplainQueues, APlanNamesQueuesThatStarveByType) {
  const Folder folder;
  const std::string snapshot = folder / "types.json";
  std::ofstream(snapshot) << R"({"schema": "berth.snapshot.v1", "now_s": 100, "gpu_types": [{"id": "H"}, {"id": "A"}],
"nodes": [{"id": "h", "gpu_type": "H", "gpus": 2}, {"id": "a", "gpu_type": "A", "gpus": 2}],
"queues": [{"id": "p", "quotas": [{"gpu_type": "H", "guarantee": 2}, {"gpu_type": "A", "guarantee": 2}]},
 {"id": "c", "parent": "p", "quotas": [{"gpu_type": "A", "guarantee": 2}]}],
"jobs": [
 {"id": "h0", "submit_s": 0, "gpus": 2, "types": ["H"], "state": "running", "estimate": {"run_s": 999},
  "allocation": {"shape": "2xH", "entries": [{"node": "h", "gpus": [0, 1]}]}},
 {"id": "a0", "submit_s": 0, "gpus": 2, "types": ["A"], "state": "running", "estimate": {"run_s": 999},
  "allocation": {"shape": "2xA", "entries": [{"node": "a", "gpus": [0, 1]}]}},
 {"id": "ph", "queue": "p", "submit_s": 10, "gpus": 2, "types": ["H"], "estimate": {"run_s": 60}},
 {"id": "ca", "queue": "c", "submit_s": 20, "gpus": 2, "types": ["A"], "estimate": {"run_s": 60}}]})";
  const Answer plan = berth("plan --policy fifo --param quotas=limits --snapshot " + quoted(snapshot));
  EXPECT_TRUE(contains(plan.out, "\nqueue p: has 0 of 2 H GPUs to which it is entitled, for 1 min 30 s\n")) << plan.out << plan.err;
  EXPECT_TRUE(contains(plan.out, "\nqueue c: has 0 of 2 A GPUs to which it is entitled, for 1 min 20 s\n")) << plan.out;
  EXPECT_FALSE(contains(plan.out, "queue p: has 0 of 2 A")) << plan.out;
}

// The column is there where some queue keeps something.
TEST(CliExplainQueues, QueuesSayWhatTheyKeep) {
  const std::string of = "explain --queues --snapshot " + quoted(golden("kueue-lending"));
  EXPECT_TRUE(contains(berth(of).out, R"(
QUEUE    TYPE  GUARANTEE  KEEPS  ENTITLED  LIMIT  FAIR SHARE  HAS  BORROWS  WAITING  STARVED FOR
team-ab  *     21         -      18        -      19          0    0        19       -
team-ab  H     21         -      18        21     18          0    0        19       100 s
)")) << berth(of).out;
  EXPECT_TRUE(contains(berth(of).out, "team-b   H     12         11     8 "));
  EXPECT_TRUE(contains(berth(of + " --json").out, R"({"queue":"team-b","gpu_type":"H","guarantee":12,"keeps":11,"entitled":8,)"));
  EXPECT_FALSE(contains(berth(kQueues + " --json").out, "keeps"));
}

TEST(CliExplainQueues, WhatCannotBeShownIsRefused) {
  EXPECT_NE(berth(kQueues + " --job b0").code, 0);
  EXPECT_NE(berth(kQueues + " --links").code, 0);
  const Answer bare = berth("explain --json --snapshot " + quoted(golden("guarantees")));
  EXPECT_TRUE(contains(bare.err, "--json needs --links or --queues")) << bare.err;
}

}  // namespace berth::test::explain_queues_test
