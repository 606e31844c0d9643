#include <fstream>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::when_test {
namespace {

struct WhenRefusal {
  const char* arguments;
  const char* problem;
};

/// One node of 8 GPUs; `r` runs for an hour of its three, w0 and w1 wait, `large` can never start.
std::string cluster_file(const Folder& folder) {
  const std::string path = folder / "cluster.json";
  std::ofstream(path) << R"({"schema": "berth.snapshot.v1", "now_s": 90000, "gpu_types": [{"id": "H"}],
    "nodes": [{"id": "n0", "gpu_type": "H", "gpus": 8}],
    "jobs": [
      {"id": "r", "submit_s": 86400, "gpus": 8, "state": "running", "time_limit_s": 10800, "progress": {"run_s": 3600},
       "allocation": {"shape": "8", "entries": [{"node": "n0", "gpus": [0, 1, 2, 3, 4, 5, 6, 7]}]}},
      {"id": "w0", "user": "ann", "submit_s": 89000, "gpus": 8, "time_limit_s": 7200},
      {"id": "w1", "user": "ann", "submit_s": 89001, "gpus": 4, "time_limit_s": 3600},
      {"id": "large", "submit_s": 89002, "gpus": 80}]})";
  return path;
}

/// 30 jobs of two hours.
std::string history_file(const Folder& folder, int jobs = 30) {
  const std::string path = folder / "past.json";
  std::ofstream out(path);
  out << R"({"schema": "berth.trace.v1", "name": "past", "jobs": [)";
  for (int i = 0; i < jobs; ++i)
    out << (i > 0 ? ",\n" : "") << R"({"id": "p)" << 10 + i << R"(", "submit_s": )" << 100 * i
        << R"(, "run_s": 7200, "gpus": 8, "user": "ann"})";
  out << "]}";
  return path;
}

}  // namespace

TEST(CliWhen, WithoutAHistoryThereIsThePoint) {
  const Folder folder;
  const Answer answer = berth("when --policy fifo --snapshot " + quoted(cluster_file(folder)));
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, R"(3 waiting jobs, under fifo; times from now

JOB  QUEUE  GPUS  POSITION  AHEAD       START BY LIMITS  END BY LIMITS
w0   -      8     1         0 (0 GPUs)  2h               4h
w1   -      4     2         1 (8 GPUs)  4h               5h

job large never starts: needs 80 GPUs; the cluster has 8
start by limits: jobs end at their limits, and each one that waits has a reservation (conservative)
no futures: only starts by limits
note: there is no history to draw run times from, so there is only the start by limits
)");
}

TEST(CliWhen, WithAHistoryThereAreIntervals) {
  const Folder folder;
  const std::string command = "when --policy fifo@discipline=easy --snapshot " + quoted(cluster_file(folder)) + " --history " +
                              quoted(history_file(folder)) + " --futures 40";
  const Answer answer = berth(command);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, R"(3 waiting jobs, under fifo@discipline=easy; times from now

JOB  QUEUE  GPUS  POSITION  AHEAD       START BY LIMITS  START  START 90 %  END 90 %
w0   -      8     1         0 (0 GPUs)  2h               1h     1h .. 1h    3h .. 3h
w1   -      4     2         1 (8 GPUs)  4h               3h     3h .. 3h    4h .. 4h

job large never starts: needs 80 GPUs; the cluster has 8
start by limits: jobs end at their limits, and each one that waits has a reservation (conservative)
40 futures by counts of GPUs, seed 0; run times of 30 past jobs, arrivals of 0 submissions
standard error of a median start: 0 s for half of the jobs, 0 s at most
)");
  EXPECT_EQ(berth(command + " --threads 1").out, answer.out);
  EXPECT_EQ(berth(command + " --threads 3").out, answer.out);
  const Answer json = berth(command + " --json");
  EXPECT_EQ(schema_fault(json.out, content_of(BERTH_SOURCE_DIR "/data/schemas/berth.when.v1.json")), "") << json.out;
  const Answer point = berth("when --policy fifo --json --snapshot " + quoted(cluster_file(folder)));
  EXPECT_EQ(schema_fault(point.out, content_of(BERTH_SOURCE_DIR "/data/schemas/berth.when.v1.json")), "") << point.out;
}

TEST(CliWhen, OneJob) {
  const Folder folder;
  const std::string on = " --policy fifo --snapshot " + quoted(cluster_file(folder));
  const Answer one = berth("when w1" + on);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "\nw1 ")) << one.out;
  EXPECT_FALSE(contains(one.out, "\nw0 ")) << one.out;
  const Answer rejected = berth("when large" + on);
  EXPECT_EQ(rejected.code, 1);
  EXPECT_TRUE(contains(rejected.out, "large never starts: needs 80 GPUs; the cluster has 8\n")) << rejected.out;
}

TEST(CliWhen, ExplainShowsTheSameForOneJob) {
  const Folder folder;
  const std::string on = " --snapshot " + quoted(cluster_file(folder));
  const std::string plan = folder / "plan.json";
  ASSERT_EQ(berth("plan --policy fifo --out " + quoted(plan) + on).code, 0);
  const std::string command = "explain --plan " + quoted(plan) + on + " --history " + quoted(history_file(folder));
  const Answer answer = berth(command + " --job w1 --when --futures 30");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, R"(
job w1: position 2; ahead there: 1 job, 8 GPUs
)")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "  starts by limits: in 4 h, ends in 5 h\n")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "  starts: in 3 h (median), 90 %: in 3 h to in 3 h\n")) << answer.out;
  EXPECT_TRUE(contains(berth(command + " --job large --when").out, "job large: never starts: ")) << answer.out;
  EXPECT_FALSE(contains(berth(command + " --job r --when").out, "position"));
  EXPECT_EQ(berth(command + " --job w1").code, 2);  // --history needs --when
}

TEST(CliWhen, AShortHistorySaysSo) {
  const Folder folder;
  const Answer answer =
      berth("when --policy fifo --snapshot " + quoted(cluster_file(folder)) + " --history " + quoted(history_file(folder, 3)));
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "note: 3 past jobs have ended: at least 20 are needed")) << answer.out;
}

TEST(CliWhen, BadInputIsRefused) {
  const Folder folder;
  const std::string on = " --policy fifo --snapshot " + quoted(cluster_file(folder));
  const WhenRefusal refusals[] = {
      {"when w11", "no job 'w11'; did you mean 'w1'?"},
      {"when r", "job 'r' runs: only waiting jobs have a start to predict"},
      {"when --futures -1", "expected a whole number from 0 to 1000000"},
      {"when --within soon", "'soon' is no duration"},
      {"when --within 0s", "--within: expected a time above 0"},
      {"when --levels 0.9,0.1", "expected LOW,HIGH such as 0.05,0.95"},
      {"when --levels 0.5", "expected LOW,HIGH such as 0.05,0.95"},
      {"when --levels 0,1/0,1", "or four of them"},
      {"when --history no-such-file.json", "no-such-file.json"},
      {"when --cluster 4x8", "--cluster is for --backtest"},
      {"when --from 1h", "--from is for --backtest"},
      {"when --learn 0s", "--learn is for --backtest"},
      {"when --failures gpu=5h", "--failures: 'gpu=5h': expected none, node=TIME or repair=TIME"},
      {"when --failures node=0s", "--failures node=0s: a mean time is above 0"},
      {"when --failures repair=1h", "--failures: repair=TIME needs node=TIME"},
      {"when --backtest", "--backtest: --history names the jobs"},
  };
  for (const WhenRefusal& one : refusals) {
    const Answer answer = berth(one.arguments + on);
    EXPECT_EQ(answer.code, 2) << one.arguments << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.arguments << ": " << answer.err;
  }
  EXPECT_TRUE(contains(berth("when --snapshot " + quoted(cluster_file(folder))).err, "--policy is required"));
  EXPECT_EQ(berth("when" + on + " >/dev/full").code, 2);
}

TEST(CliWhen, NodesFail) {
  const Folder folder;
  const std::string command =
      "when --policy fifo --snapshot " + quoted(cluster_file(folder)) + " --history " + quoted(history_file(folder)) + " --futures 20";
  EXPECT_TRUE(contains(berth(command + " --failures node=10h --failures repair=30m").out,
                       "nodes fail: each once in 10 h (0 past failures), and returns after 30 min\n"));
  EXPECT_EQ(berth(command + " --failures none").out, berth(command).out);
}

TEST(CliWhen, ADoubtfulHistorySaysSo) {
  const Folder folder;
  const std::string on = "when --policy fifo --futures 5 --snapshot " + quoted(cluster_file(folder)) + " --history ";
  const std::string path = folder / "other.json";
  {
    std::ofstream out(path);
    out << R"({"schema": "berth.trace.v1", "name": "other", "jobs": [)";
    for (int i = 0; i < 30; ++i)
      out << (i > 0 ? ",\n" : "") << R"({"id": "p)" << 10 + i << R"(", "submit_s": )" << 80000 + 100 * i
          << R"(, "run_s": 7200, "gpus": 8, "user": "bob"})";
    out << "]}";
  }
  const Answer answer = berth(on + quoted(path));
  EXPECT_TRUE(contains(answer.out, "note: the history covers 2 h 47 min, which comes again and again")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "note: the history has no user and no queue of these jobs: is it of another cluster?")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "note: jobs of the history ask for 21.6 times the 8 GPUs")) << answer.out;
  EXPECT_FALSE(contains(berth(on + quoted(history_file(folder))).out, "note: "));
}

TEST(CliWhen, ABacktestWithoutWaitingJobsSaysNo) {
  const Folder folder;
  const Answer answer = berth("when --backtest --policy fifo --history " + quoted(history_file(folder)) + " --cluster 100x8");
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_TRUE(contains(answer.out, "no job waited")) << answer.out;
}

TEST(CliWhen, ABacktestNamesItsCoverage) {
  const Folder folder;
  const std::string path = folder / "busy.json";
  {
    std::ofstream out(path);
    out << R"({"schema": "berth.trace.v1", "name": "busy", "jobs": [)";
    for (int i = 0; i < 400; ++i)
      out << (i > 0 ? ",\n" : "") << R"({"id": "p)" << 1000 + i << R"(", "submit_s": )" << 900 * i << R"(, "run_s": )"
          << 1800 + 900 * (i % 4) << R"(, "gpus": )" << 1 + i % 3 << "}";
    out << "]}";
  }
  const Answer answer = berth("when --backtest --policy fifo@discipline=easy --history " + quoted(path) +
                              " --cluster 1x6 --from 48h --every 2h --futures 40 --draw-limits 3");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "intervals of 90 %")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "levels learned at the end: --levels ")) << answer.out;
}

}  // namespace berth::test::when_test
