#include <fmt/format.h>

#include <csignal>
#include <string>

#include "host/results/database.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::capacity_test {
namespace {

const char* const kCapacityTrace = R"({"schema": "berth.trace.v1", "name": "six", "jobs": [
  {"id": "a", "submit_s": 0, "run_s": 1000, "gpus": 4},
  {"id": "b", "submit_s": 0, "run_s": 1000, "gpus": 4},
  {"id": "c", "submit_s": 10, "run_s": 1000, "gpus": 4},
  {"id": "d", "submit_s": 20, "run_s": 1000, "gpus": 4},
  {"id": "e", "submit_s": 30, "run_s": 1000, "gpus": 8},
  {"id": "f", "submit_s": 40, "run_s": 1000, "gpus": 1}]})";

struct Study {
  Study() { folder.write("t.json", kCapacityTrace); }
  Answer run(const std::string& options) const { return berth("capacity --trace '" + (folder / "t.json") + "' --policy fifo " + options); }
  std::string at(const std::string& name) const { return folder / name; }

  Folder folder;
};

const char* const kDrawn =
    "capacity --workload helios --jobs 1500 --load-gpus 64 --policy srtf --target 'p90_wait<10m' --target 'p99_jct<30d' --node 8xH100 "
    "--node 8xA100 --price H100=2 --price A100=1.5 --seeds 3 ";

std::string problem_of(const std::string& options) {
  const Answer answer = berth("capacity " + options);
  EXPECT_EQ(answer.code, 2) << options << answer.out;
  EXPECT_EQ(answer.out, "") << options;
  return answer.err;
}

}  // namespace

// Six jobs of 25 GPUs in all: with 7 nodes of 4 none waits.
TEST(CliCapacity, TargetsThatMoreNodesDoNotReachAreRefused) {
  const std::string command = "capacity --node 8 --workload philly --jobs 50 --load-gpus 64 --policy fifo --target ";
  struct Refused {
    const char* target;
    const char* problem;
  };
  for (const Refused& one : {
           Refused{"'gpu_utilisation>60%'", "more nodes do not raise gpu_utilisation"},
           {"'p90_wait>1h'", "more nodes do not raise p90_queue"},
           {"'rejected>=1'", "more nodes do not raise rejected"},
           {"'goodput>50%'", "more nodes do not raise goodput"},
           {"'goodput>150%'", "goodput is a part, and at most 1 or 100%"},
           {"'gpu_utilisation<60'", "gpu_utilisation is a part, and at most 1 or 100%"},
           {"'p90_wait<1h' --warm-up 10000d", "no job is left that counts"},
       }) {
    const Answer answer = berth(command + one.target);
    EXPECT_EQ(answer.code, 2) << one.target << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.target << "\n" << answer.err;
  }
  EXPECT_EQ(berth(command + "'gpu_utilisation<60%'").code, 0);
}

TEST(CliCapacity, FindsTheSmallestClusterAndShowsTheCurve) {
  const Study study;
  const Answer none = study.run("--node 4 --target 'max_wait<=0s' --json");
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_TRUE(contains(none.out, "\"cluster\":\"7x4\"")) << none.out;
  const Answer some = study.run("--node 4 --target 'max_wait<1001s' --price 2 --power 500:100 --power-price 0.2");
  EXPECT_TRUE(contains(some.out, "4x4 (16 GPUs) is enough for max_wait<1001s; 33.")) << some.out;
  EXPECT_TRUE(contains(some.out, "3x4 is not enough: max_queue 1960 s.")) << some.out;
  EXPECT_TRUE(contains(some.out, "CLUSTER  GPUS  ENOUGH  MAX QUEUE S  GPUS USED  COST/HOUR  COST/MONTH  KW")) << some.out;
  EXPECT_EQ(some.err, "");
}

TEST(CliCapacity, WarnsOfABacklogThatGrows) {
  const Study study;
  // 25 GPUs for 1,000 s each are submitted within 40 s.
  EXPECT_TRUE(
      contains(study.run("--node 4 --target 'max_wait<1001s'").out,
               "  Jobs ask for 625 GPUs on average, so that its backlog grows as long as they come: add a target such as p99_wait"));
  EXPECT_TRUE(contains(study.run("--node 4 --target 'max_wait<1001s' --json").out,
                       R"("demand":{"mean_gpus":625,"peak_gpus":25,"largest_job_gpus":8})"));
}

TEST(CliCapacity, ARejectedJobIsNotServed) {
  const Study study;
  // Without the job of 8 GPUs one node of 4 is enough for such a wait.
  const Answer answer = study.run("--node 4 --target 'max_wait<1d'");
  EXPECT_TRUE(contains(answer.out, "2x4 (8 GPUs) is enough for max_wait<1d.\n")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "1x4 is not enough: rejected 1.")) << answer.out;
  const Answer allowed = study.run("--node 4 --target 'max_wait<1d' --target 'rejected<=1'");
  EXPECT_TRUE(contains(allowed.out, "1x4 (4 GPUs) is enough for max_wait<1d and rejected<=1.\n")) << allowed.out;
}

TEST(CliCapacity, NodesThatAreThereCount) {
  const Study study;
  const Answer answer = study.run("--node 4xB --fixed 5x4xA --target 'max_wait<=0s' --json");
  EXPECT_TRUE(contains(answer.out, "\"best\":\"5x4xA+2x4xB\"")) << answer.out << answer.err;
  const Answer enough = study.run("--node 4xA --fixed 7x4xA --target 'max_wait<=0s'");
  EXPECT_TRUE(contains(enough.out, "7x4xA (28 GPUs) is enough for max_wait<=0s.\n")) << enough.out;
}

// Jobs that name a type need some nodes of it.
TEST(CliCapacity, MixesAreFoundWhereNoKindAloneIsEnough) {
  const Study study;
  study.folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "types", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 1000, "gpus": 4, "gpu_type": "A"}, {"id": "b", "submit_s": 0, "run_s": 1000, "gpus": 4, "gpu_type": "B"},
    {"id": "c", "submit_s": 0, "run_s": 1000, "gpus": 4, "gpu_type": "A"}, {"id": "d", "submit_s": 10, "run_s": 1000, "gpus": 4}]})");
  const std::string options = "--node 4xA --node 4xB --target 'max_wait<=0s' --price A=1 --price B=2";
  const Answer mixed = study.run(options);
  EXPECT_EQ(mixed.code, 0);
  EXPECT_TRUE(contains(mixed.out, "The cheapest that was tried: 3x4xA+1x4xB (16 GPUs); 20.00 an hour, 14600 a month.\n")) << mixed.out;
  EXPECT_TRUE(contains(mixed.out,
                       "16x4xA is not enough for max_wait<=0s: rejected 1.\n  Its size is not why jobs are rejected: "
                       "'berth simulate --cluster 16x4xA' says why.\n"))
      << mixed.out;
  const Answer alone = study.run(options + " --alone");
  EXPECT_EQ(alone.code, 1);
  EXPECT_FALSE(contains(alone.out, "4xA+"));
}

TEST(CliCapacity, SaysWhatTheBestReachedWhereNoSizeIsEnough) {
  const Study study;
  const Answer answer = study.run("--node 4 --to 3 --target 'max_wait<1m'");
  EXPECT_EQ(answer.code, 1);
  EXPECT_TRUE(contains(answer.out, "3x4 is not enough for max_wait<1m: max_queue 1960 s.\n")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "The best max_queue that was reached is 1960 s, with 3x4.\n  More nodes may be enough: raise --to.\n"))
      << answer.out;
  const Answer job = study.run("--node 4 --to 1 --target 'max_wait<1d'");
  EXPECT_EQ(job.code, 1);
  EXPECT_TRUE(
      contains(job.out, "The largest job asks for 8 GPUs, and this cluster has 4: raise --to, or allow it by --target 'rejected<=N'."))
      << job.out;
  const Answer json = study.run("--node 4 --to 3 --target 'max_wait<1m' --json");
  EXPECT_EQ(json.code, 1);
  EXPECT_TRUE(contains(json.out, R"("answers":[{"kind":"4","others":[0],"monotone":true}])")) << json.out;
}

TEST(CliCapacity, ThreadsKillsAndStoresGiveTheSameAnswer) {
  const Folder folder;
  const std::string whole = berth(std::string(kDrawn) + "--json --threads 1").out;
  ASSERT_TRUE(contains(whole, "\"best\":")) << whole;
  EXPECT_EQ(berth(std::string(kDrawn) + "--json --threads 3").out, whole);
  const std::string store = " --out '" + (folder / "c.sqlite") + "'";
  for (const char* const wait : {"0.05", "0.1", "0.2", "0.3"}) {
    const Answer killed = berth(std::string(kDrawn) + store + " --threads 1 & sleep " + wait + "; kill -KILL $! 2>&1; wait $!");
  }
  EXPECT_EQ(berth(std::string(kDrawn) + "--json" + store).out, whole);
  const Answer again = berth(std::string(kDrawn) + store);
  const std::int64_t runs = results::Database(folder / "c.sqlite").number("SELECT count(*) FROM runs");
  EXPECT_TRUE(contains(again.out, fmt::format("{} runs in {}, {} of them from before", runs, folder / "c.sqlite", runs))) << again.out;
}

TEST(CliCapacity, RunsAreThoseOfSweepsAndReportsShowThem) {
  const Study study;
  ASSERT_EQ(study.run("--node 4 --target 'max_wait<=0s' --out '" + study.at("c.sqlite") + "'").code, 0);
  study.folder.write("s.toml", "trace = \"t.json\"\npolicy = \"fifo\"\ncluster = [\"6x4\", \"7x4\", \"8x4\"]\n");
  const Answer sweep = berth("sweep '" + study.at("s.toml") + "' --out '" + study.at("c.sqlite") + "'");
  EXPECT_TRUE(contains(sweep.out, "3 runs in " + study.at("c.sqlite") + ", 3 of them from before")) << sweep.out << sweep.err;
  const Answer curve = berth("report '" + study.at("c.sqlite") + "' --format csv --part capacity");
  EXPECT_TRUE(contains(curve.out, "fifo,24,")) << curve.out << curve.err;
  EXPECT_TRUE(contains(curve.out, "fifo,28,")) << curve.out;
  EXPECT_TRUE(contains(berth("report '" + study.at("c.sqlite") + "' --format svg --part capacity --metric p99_wait").out, "<svg"));
}

TEST(CliCapacity, ReportsHaveACurveForEachKindOfNode) {
  const Study study;
  ASSERT_EQ(study.run("--node 4xA --node 8xB --target 'max_wait<=0s' --out '" + study.at("c.sqlite") + "'").code, 0);
  const Answer curve = berth("report '" + study.at("c.sqlite") + "' --format csv --part capacity");
  EXPECT_TRUE(contains(curve.out, "\"fifo, node_kinds 4xA\",28,")) << curve.out << curve.err;
  EXPECT_TRUE(contains(curve.out, "\"fifo, node_kinds 8xB\",32,")) << curve.out;
  const Answer drawn = berth("report '" + study.at("c.sqlite") + "' --format svg --part capacity --metric p99_wait");
  EXPECT_TRUE(contains(drawn.out, "fifo, node_kinds 8xB")) << drawn.out;
}

TEST(CliCapacity, ConfidenceAsksForAPartOfTheSeeds) {
  const std::string base =
      "capacity --workload helios --jobs 800 --load-gpus 64 --policy fifo --target 'p90_wait<10m' --target 'rejected<=50' --node 8 --seeds "
      "8 --json ";
  const std::string all = berth(base + "--confidence 100%").out, few = berth(base + "--confidence 10%").out;
  EXPECT_TRUE(contains(all, "\"confidence\":1,")) << all;
  const auto nodes = [](const std::string& json) {
    const std::size_t at = json.find("\"best\":\"");
    return at == std::string::npos ? -1 : std::stoi(json.substr(at + 8));
  };
  EXPECT_GT(nodes(all), nodes(few)) << all << few;
}

TEST(CliCapacity, SaysWhichOptionIsWrong) {
  const Study study;
  const std::string trace = "--trace '" + study.at("t.json") + "' --policy fifo ";
  const std::string good = trace + "--node 4 --target 'wait<1h' ";
  EXPECT_EQ(problem_of(trace + "--node 4"), "berth: --target is required, such as --target 'p90_wait<1h'\n");
  EXPECT_EQ(problem_of(trace + "--target 'wait<1h'"), "berth: --node is required: a kind of node that can be bought, such as 8xH100\n");
  EXPECT_EQ(problem_of(trace + "--node 4 --target 'p90_jtc<1h'"), "berth: --target: unknown metric 'p90_jtc'; did you mean 'p90_jct'?\n");
  EXPECT_EQ(problem_of(good + "--node 4"), "berth: --node: '4' is given twice\n");
  EXPECT_EQ(problem_of(good + "--node 4xA"), "berth: --node: some nodes name the type of their GPUs and some do not; give all a type\n");
  EXPECT_EQ(problem_of(good + "--from 5 --to 3"), "berth: --from: 5 nodes are more than the 3 at most (--to, or 4000000 in all)\n");
  EXPECT_EQ(problem_of(good + "--from 0"), "berth: --from: a cluster has 1 node at least, or nodes that are --fixed\n");
  EXPECT_EQ(problem_of(good + "--confidence 0%"), "berth: --confidence: '0%': expected a part of the seeds, such as 90%\n");
  EXPECT_EQ(problem_of(good + "--load 0.5"),
            "berth: --load-gpus: the load refers to a number of GPUs, which must not grow with the cluster: give it\n");
  EXPECT_EQ(problem_of(good + "--resample soon"),
            "berth: 'soon' is no duration: expected a number and a unit, such as 100ms, 1.5s or 2m\n");
  EXPECT_EQ(problem_of(good + "--resample 7d"),
            "berth: --resample: the trace is no longer than a block, so that there is nothing to draw\n");
  EXPECT_EQ(problem_of(good + "--out x.gz"), "berth: --out: results are a database, which cannot be packed; leave out '.gz'\n");
  EXPECT_EQ(problem_of(good + "--out '" + study.at("t.json") + "'"),
            "berth: --out would replace '" + study.at("t.json") + "', which --trace reads\n");
  EXPECT_TRUE(contains(problem_of(good + "--param depth=3"), "policy 'fifo' has no parameter 'depth'"));
  EXPECT_EQ(problem_of("--workload helios --jobs 10 --policy fifo --node 4 --target 'wait<1h'"),
            "berth: --load-gpus: the load refers to a number of GPUs, which must not grow with the cluster: give it\n");
  EXPECT_TRUE(contains(problem_of("--workload llm --jobs 10 --load-gpus 64 --policy fifo --node 4 --target 'wait<1h'"),
                       "differ from size to size"));
  EXPECT_EQ(problem_of("--policy fifo --node 4 --target 'wait<1h'"), "berth: either trace or workload is required\n");
}

TEST(CliCapacity, AFullDeviceAndATraceWithoutJobsAreReported) {
  const Study study;
  const Answer full = study.run("--node 4 --target 'wait<1h' >/dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_TRUE(contains(full.err, "cannot write")) << full.err;
  study.folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "none", "jobs": []})");
  const Answer none = study.run("--node 4 --target 'wait<1h'");
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "berth: --trace: there are no jobs, so that any cluster is enough\n");
}

TEST(CliCapacity, NotesThatSeedsDrawNothing) {
  const Study study;
  const Answer answer = study.run("--node 4 --target 'wait<1h' --seeds 2 --json");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.err, "berth: note: all seeds give the same, as nothing is drawn; --resample 1d draws days of the trace\n");
}

}  // namespace berth::test::capacity_test
