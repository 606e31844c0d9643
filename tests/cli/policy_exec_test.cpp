// External policies: the examples work as documented, and programs that misbehave end only their own run.
#include <sys/types.h>

#include <chrono>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/cli/command.hpp"

namespace berth::test::policy_exec_test {
namespace {

// Sixty jobs of 1 to 16 GPUs that arrive about as fast as 32 GPUs can serve them; some arrive together, some need the
// same time.
std::string busy_trace() {
  std::string jobs;
  for (int i = 0, at = 0; i < 60; ++i, at += i * 7 % 5 * 9) {
    jobs += std::string(i == 0 ? "" : ",\n") + R"({"id": "j )" + std::to_string(i) + R"(", "submit_s": )" + std::to_string(at) +
            R"(, "run_s": )" + std::to_string(10 + i * 37 % 11 * 20) + R"(.5, "gpus": )" + std::to_string(1 << i * 3 % 5) + "}";
  }
  return R"({"schema": "berth.trace.v1", "name": "busy", "jobs": [)" + jobs + "]}";
}

// The rows of one policy, without its name, the nodes and the reason.
std::multiset<std::string> rows_of(const std::string& csv, const std::string& policy) {
  std::multiset<std::string> rows;
  std::istringstream in(csv);
  for (std::string line; std::getline(in, line);) {
    const std::size_t nodes = line.rfind(',', line.rfind(',') - 1);
    if (line.rfind(policy + ",", 0) == 0) rows.insert(line.substr(policy.size(), nodes - policy.size()));
  }
  return rows;
}

std::string example(const std::string& name) { return "awk -f " BERTH_SOURCE_DIR "/examples/policy-exec/" + name; }

// Answers every question with the same lines.
std::string says(const std::string& lines) { return R"(exec awk '$1 == "decide" { print ")" + lines + R"(\ndone"; fflush() }')"; }

const char* const kThree = R"({"schema": "berth.trace.v1", "name": "three", "jobs": [
  {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 6},
  {"id": "b", "submit_s": 1, "run_s": 20, "gpus": 8},
  {"id": "c", "submit_s": 2, "run_s": 5, "gpus": 2}]})";

/// Runs fifo and a script over three jobs on 2 nodes of 4 GPUs.
class ExecRun {
 public:
  explicit ExecRun(const std::string& script, const std::string& more = "", const std::string& trace = kThree) {
    folder_.write("trace.json", trace);
    folder_.write("policy.sh", script);
    answer = berth("simulate --cluster 2x4 --json --trace '" + (folder_ / "trace.json") + "' --policy fifo --policy-exec 'mine=exec sh " +
                   (folder_ / "policy.sh") + "' --jobs-out '" + (folder_ / "jobs.csv") + "' " + more);
    rows = content_of(folder_ / "jobs.csv");
  }
  std::string file(const std::string& name) const { return content_of(folder_ / name); }

  Answer answer;
  std::string rows;

 private:
  Folder folder_;
};

void expect_failure(const std::string& script, const std::string& what, const std::string& more = "", const std::string& trace = kThree) {
  SCOPED_TRACE(script);
  const ExecRun run(script, more, trace);
  EXPECT_EQ(run.answer.code, 2);
  EXPECT_TRUE(contains(run.answer.err, "berth: policy 'mine' at ")) << run.answer.err;
  EXPECT_TRUE(contains(run.answer.err, what)) << run.answer.err;
  EXPECT_TRUE(contains(run.answer.out, R"({"policy":"fifo")")) << run.answer.out;
  EXPECT_FALSE(contains(run.answer.out, "mine")) << run.answer.out;
  EXPECT_FALSE(contains(run.rows, "mine")) << run.rows;
}

}  // namespace

TEST(CliPolicyExec, TheExampleOfShortestRemainingTimeIsSrtf) {
  const Folder folder;
  folder.write("trace.json", busy_trace());
  for (const std::string overheads : {"none", "default"}) {
    const Answer answer = berth("simulate --cluster 4x8 --overheads " + overheads + " --trace '" + (folder / "trace.json") +
                                "' --policy srtf --policy-exec 'x=" + example("srtf.awk") + "' --jobs-out '" + (folder / "jobs.csv") + "'");

    ASSERT_EQ(answer.code, 0) << answer.err;
    const std::string csv = content_of(folder / "jobs.csv");
    EXPECT_EQ(rows_of(csv, "srtf").size(), 60u);
    EXPECT_EQ(rows_of(csv, "x"), rows_of(csv, "srtf"));
  }
}

TEST(CliPolicyExec, TheExampleThatNamesGpusIsFifo) {
  const Folder folder;
  folder.write("trace.json", busy_trace());

  const Answer answer =
      berth("simulate --cluster 4x8 --placement count --trace '" + (folder / "trace.json") +
            "' --policy fifo --policy-exec 'x=" + example("first_free.awk") + "' --jobs-out '" + (folder / "jobs.csv") + "'");

  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string csv = content_of(folder / "jobs.csv");
  EXPECT_EQ(rows_of(csv, "fifo").size(), 60u);
  EXPECT_EQ(rows_of(csv, "x"), rows_of(csv, "fifo"));
}

// Jobs on this many nodes have lines longer than a block that awk reads.
TEST(CliPolicyExec, LongLinesReachAProgramThatReadsInBlocks) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "name": "wide", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 1500},
    {"id": "b", "submit_s": 1, "run_s": 5, "gpus": 1000},
    {"id": "c", "submit_s": 2, "run_s": 1, "gpus": 900}]})");

  const Answer answer = berth("simulate --cluster 1600x1 --trace '" + (folder / "trace.json") +
                              "' --policy-exec 'x=" + example("first_free.awk") + "' --jobs-out -");

  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "x,c,completed,2,15,16,")) << answer.out;
}

TEST(CliPolicyExec, StandsAloneAndHasItsCommandForAName) {
  const Folder folder;
  folder.write("trace.json", kThree);
  const std::string given = "simulate --cluster 2x4 --trace '" + (folder / "trace.json") + "' ";

  const Answer alone = berth(given + "--policy-exec '" + example("srtf.awk") + "' --json");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(contains(alone.out, R"({"policy":"awk -f )")) << alone.out;
  EXPECT_TRUE(contains(alone.out, R"("completed":3,)")) << alone.out;

  EXPECT_TRUE(contains(berth(given).err, "--policy or --policy-exec is required"));
  EXPECT_TRUE(contains(berth(given + "--policy-exec true --param packing=count").err, "there is no --policy to take it"));
  EXPECT_TRUE(contains(berth(given + "--policy-exec true --policy-timeout 0s").err, "an answer takes a time above 0"));
  EXPECT_TRUE(contains(berth(given + "--policy-exec true --policy-timeout soon").err, "soon"));
}

// a is preempted as soon as it is not named, b is rejected, and the policy is asked again at 100 s.
TEST(CliPolicyExec, PreemptsWakesAndRejects) {
  const ExecRun run(R"(exec awk '
    $1 == "now" { now = $2; n = 0 }
    $1 == "job" { here[n++] = $2 }
    $1 == "decide" {
      for (j = 0; j < n; j++) {
        if (here[j] == "a" && (now < 2 || now >= 100)) print "run a"
        if (here[j] == "b" && now >= 2) print "reject b it is too large"
        if (here[j] == "c") print "run c"
      }
      if (now < 100) print "wake 100"
      print "done"; fflush()
    }')");

  ASSERT_EQ(run.answer.code, 0) << run.answer.err;
  EXPECT_TRUE(contains(run.rows, "mine,a,completed,0,0,108,108,98,10,0,60,2,1,0,n0 n1,\n")) << run.rows;
  EXPECT_TRUE(contains(run.rows, "mine,b,rejected,1,,2,,,0,0,0,0,0,0,,it is too large\n")) << run.rows;
  EXPECT_TRUE(contains(run.rows, "mine,c,completed,2,2,7,")) << run.rows;
}

TEST(CliPolicyExec, AnswersThatAreWrongAreRefusedByTheirLine) {
  const auto line = [](int n, const std::string& text) { return "line " + std::to_string(n) + " of its answer, '" + text + "': "; };
  expect_failure(says("hello"), line(1, "hello") + "is none of: run, reject, wake, done");
  expect_failure(says(""), line(1, "") + "is none of");
  expect_failure(says("run"), line(1, "run") + "names no job");
  expect_failure(says("run a\\nrun z"), line(2, "run z") + "there is no job 'z' now");
  expect_failure(says("run c"), "policy 'mine' at 0 s: " + line(1, "run c") + "there is no job 'c' now");
  expect_failure(says("run a\\nrun a"), line(2, "run a") + "job 'a' was named before");
  expect_failure(says("reject a\\nrun a"), line(2, "run a") + "job 'a' was named before");
  expect_failure(says("run a 9"), line(1, "run a 9") + "job 'a' cannot have 9 GPUs (it may have 6 gpu)");
  expect_failure(says("run a 0"), "'0' is no number of GPUs");
  expect_failure(says("run a many"), "'many' is no number of GPUs");
  expect_failure(says("run a 6 n0"), "'n0' is no NODE:GPU,GPU");
  expect_failure(says("run a n9:0,1"), "there is no node 'n9'");
  expect_failure(says("run a n0:0,4"), "node 'n0' has no GPU '4'");
  expect_failure(says("run a n0:0,,1"), "node 'n0' has no GPU ''");
  expect_failure(says("run a n0:0,1"), "job 'a' cannot have 2 GPUs of type gpu (it may have 6 gpu)");
  expect_failure(says("run a 6 n0:0,1"), "asks for 6 GPUs and names 2");
  expect_failure(says("run a n0:0,1,2,3 n1:0,0"), "GPU 0 of node 'n1' is taken: it was named before");
  expect_failure(says("wake soon"), "'soon' is no instant in seconds");
  expect_failure(says("wake 0"), "it is 0 s already");
  expect_failure(says("wake 5 6"), "has more than an instant");
}

// The engine rejects jobs that can never run.
TEST(CliPolicyExec, OnlyJobsOfTheQuestionMayBeNamed) {
  expect_failure(says("run d"), "line 1 of its answer, 'run d': there is no job 'd' now", "",
                 R"({"schema": "berth.trace.v1", "name": "wide", "jobs": [{"id": "d", "submit_s": 0, "run_s": 10, "gpus": 99}]})");
}

// At 2 s: a runs on GPUs that c requests.
TEST(CliPolicyExec, GpusOfJobsNamedBeforeAreTaken) {
  const std::string head = R"(exec awk '$1 == "now" { c = 0 } $2 == "c" { c = 1 } $1 == "decide" { )",
                    tail = R"(; print "done"; fflush() }')";
  expect_failure(head + R"(print "run a n0:0,1,2,3 n1:0,1"; if (c) print "run c n1:1,2")" + tail,
                 "policy 'mine' at 2 s: line 2 of its answer, 'run c n1:1,2': GPU 1 of node 'n1' is taken: it was named before");
  expect_failure(
      head + R"(print "run a"; if (c) print "run c n0:1,2")" + tail,
      "policy 'mine' at 2 s: line 2 of its answer, 'run c n0:1,2': GPU 1 of node 'n0' is taken: job 'a', named before, runs there");
}

// A closed node exists, but no job may start there.
TEST(CliPolicyExec, PlansAreValidated) {
  const Folder folder;
  folder.write("cluster.json", R"({"schema": "berth.cluster.v1", "gpu_types": [{"id": "g"}],
    "nodes": [{"id": "n0", "gpu_type": "g", "gpus": 8}, {"id": "n1", "gpu_type": "g", "gpus": 8, "state": "drain"}]})");
  folder.write("trace.json", kThree);
  folder.write("policy.sh", says("run a n1:0,1,2,3,4,5"));

  const Answer answer = berth("simulate --cluster '" + (folder / "cluster.json") + "' --trace '" + (folder / "trace.json") +
                              "' --policy-exec 'mine=sh " + (folder / "policy.sh") + "'");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "policy 'mine' at 0 s: its answer is not valid:\n  job a: ")) << answer.err;
  EXPECT_EQ(answer.out, "");
}

TEST(CliPolicyExec, ProgramsThatMisbehaveEndTheirRun) {
  const std::string wait_for_decide = "while read line; do [ \"$line\" = decide ] && break; done; ";
  expect_failure("sleep 60", "the program has not answered within 0.2 s", "--policy-timeout 200ms");
  expect_failure("exit 3", "the program ended with exit code 3 instead of an answer");
  expect_failure(wait_for_decide + "kill -9 $$", "the program was ended by signal 9 instead of an answer");
  expect_failure("exec >&-; sleep 60", "the program has closed its standard output");
  expect_failure("yes done", "the program says 'done' ");
  expect_failure(wait_for_decide + "printf 'run a\\ndone\\nmore\\n'; sleep 60", "the program says 'more' after 'done'");
  expect_failure(wait_for_decide + "yes | tr -d '\\n'", "the program answers with more than 64 MiB", "--policy-timeout 60s");
  expect_failure("no-such-program-of-any-kind", "the program ended with exit code 127");
}

// It requests a wake a minute later, each time. That ends without any job left, or with none running and none to
// arrive.
TEST(CliPolicyExec, WakesDoNotKeepAnEmptyClusterRunning) {
  for (const std::string run : {"run", "#"}) {
    const ExecRun all(R"(exec awk '$1 == "now" { now = $2; n = 0 } $1 == "job" { id[n++] = $2 } $1 == "decide" {
      for (i = 0; i < n; i++) if (now < 40 && ")" +
                      run + R"(" == "run") print "run", id[i]
      print "wake", now + 60; print "done"; fflush() }')");
    EXPECT_EQ(all.answer.code, 0) << all.answer.err;
    EXPECT_EQ(contains(all.rows, "mine,a,unfinished"), run == "#") << all.rows;
  }
}

// A question larger than any pipe buffer.
TEST(CliPolicyExec, AProgramThatDoesNotReadIsNotWaitedForForEver) {
  std::string jobs;
  for (int i = 0; i < 4'000; ++i) {
    jobs += std::string(i == 0 ? "" : ",\n") + R"({"id": "j)" + std::to_string(10'000 + i) + R"(", "submit_s": 0, "run_s": 1, "gpus": 1})";
  }
  const std::string trace = R"({"schema": "berth.trace.v1", "name": "many", "jobs": [)" + jobs + "]}";

  expect_failure("sleep 60", "the program has not read the question within 0.2 s", "--policy-timeout 200ms", trace);
  expect_failure("exec <&-; sleep 60", "the program has closed its standard input", "", trace);
  expect_failure("yes 'run j10000'", "before it is asked", "", trace);
  expect_failure("sleep 0.2; echo done; sleep 60", "the program says 'done' before it is asked", "", trace);
}

TEST(CliPolicyExec, TheEndIsPartOfTheRun) {
  const std::string good = R"(awk '$1 == "job" { print "run", $2 } $1 == "decide" { print "done"; fflush() } )";
  expect_failure("exec " + good + "END { exit 4 }'", "policy 'mine' at its end: the program ended with exit code 4");
  expect_failure("exec " + good + "END { print \"bye\" }'", "policy 'mine' at its end: the program says 'bye' before it is asked");
  expect_failure(good + "'; sleep 60", "policy 'mine' at its end: the program does not end within 2 s", "--policy-timeout 2s");
}

// Processes that a program leaves in its process group end with it.
TEST(CliPolicyExec, NothingIsLeftRunning) {
  const Folder folder;
  const std::string pid = folder / "pid";
  for (const char* const then : {"", "sleep 60"}) {
    const ExecRun run("sleep 300 >/dev/null 2>&1 & echo $! >'" + pid +
                          R"('; awk '$1 == "job" { print "run", $2 } $1 == "decide" { print "done"; fflush() }'; )" + then,
                      "--policy-timeout 2s");
    EXPECT_EQ(run.answer.code, *then == '\0' ? 0 : 2) << run.answer.err;
    const auto left = static_cast<pid_t>(std::stol(content_of(pid)));
    // It is killed by now, but may take a moment to end, or stay a zombie where no process reaps orphans.
    const auto stat = [&] { return content_of("/proc/" + std::to_string(left) + "/stat"); };
    const auto is_there = [](const std::string& now) { return !now.empty() && !contains(now, ") Z "); };
    for (int look = 0; look < 1'000 && is_there(stat()); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(is_there(stat())) << stat();
  }
}

}  // namespace berth::test::policy_exec_test
