// Questions to an external policy, and the effect of its answers. tests/cli/policy_exec_test.cpp tests the programs
// themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "host/io/traces/importers.hpp"
#include "host/sim/exec/exec_answer.hpp"
#include "host/sim/exec/exec_question.hpp"
#include "host/sim/exec/exec_text.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::exec_policy_test {
namespace {

/// Decides by answers of the test, and records the questions.
class Scripted {
 public:
  explicit Scripted(std::function<std::string(TimeUs now_s)> answer) : answer_(std::move(answer)) {}

  void decide(const ClusterState& state, Plan& plan, std::vector<Rejected>& away) {
    const std::string& text = question_.write(state, list_.begin(state.impl(), core::Packing::kTopology));
    asked += text.substr(0, text.size() - question_.padding());
    EXPECT_EQ(text.find_first_not_of("#\n", text.size() - question_.padding()), std::string::npos);
    ExecAnswer answer = parse_exec_answer(lines_for(state), state, question_);
    const std::vector<std::string>& violations = list_.plan(state.impl(), answer.run, Request{}, plan);
    EXPECT_TRUE(violations.empty()) << violations.front();
    plan.order_until_us = answer.wake_us;
    away = std::move(answer.away);
  }

  std::string asked;
  TimeUs last_wake = 1'000'000;  // seconds; later `wake` lines are omitted

 private:
  // Without lines about jobs that left, so that tests need not state when they end.
  std::string lines_for(const ClusterState& state) const {
    std::istringstream all(answer_(state.now() / kSecond));
    std::string kept;
    for (std::string line, word, id; std::getline(all, line);) {
      std::istringstream(line) >> word >> id;
      if ((word == "wake" && state.now() < last_wake * kSecond) || state.find_job(word_text(id)) >= 0) kept += line + '\n';
    }
    return kept;
  }

  std::function<std::string(TimeUs)> answer_;
  ExecQuestion question_;
  core::RunList list_;
};

// "id start-end" in seconds, with the number of moves and preemptions.
std::string run(const Trace& trace, const Snapshot& cluster, Scripted& policy, SimulationSettings settings = {}) {
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>& away) { policy.decide(state, plan, away); };
  std::string rows;
  simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    rows += trace.jobs[static_cast<std::size_t>(one.job)].id;
    if (one.end == JobOutcome::End::kCompleted) rows += fmt::format(" {}-{}", one.start_us / kSecond, one.end_us / kSecond);
    if (one.end == JobOutcome::End::kRejected) rows += " rejected: " + one.reason;
    if (one.end == JobOutcome::End::kUnfinished) rows += " unfinished";
    if (one.moves > 0) rows += fmt::format(" moved {}", one.moves);
    if (one.preemptions > 0) rows += fmt::format(" preempted {}", one.preemptions);
    rows += "; ";
  });
  return rows;
}

}  // namespace

TEST(ExecText, AnyTextIsOneWord) {
  const auto word = [](const std::string& text) {
    std::string line;
    append_word(line, text);
    return line;
  };
  EXPECT_EQ(word("a b,c%\n"), "a%20b%2Cc%25%0A");
  EXPECT_EQ(word("rack1/n:7"), "rack1/n:7");
  EXPECT_EQ(word(""), "-");
  EXPECT_EQ(word("-"), "%2D");
  for (const std::string text : {"a b,c%\n", "-", "%41", "%", "%4", "50% of \x7f"}) EXPECT_EQ(word_text(word(text)), text);
  EXPECT_EQ(word_text("%4x%"), "%4x%") << "stands for itself";
  EXPECT_EQ(word_text("%2c"), ",");
}

TEST(ExecQuestion, StatesTheClusterOnceAndEveryJobEachTime) {
  Trace trace = trace_of({job("my job", 0, 100, 4, "ann"), job("b", 10, 30, 2)});
  trace.jobs[0].priority = 3;
  trace.jobs[1].deadline_us = 90 * kSecond;
  trace.jobs[1].model = "m,1";
  Snapshot cluster = io::uniform_cluster(2, 2);
  cluster.nodes[1].virtual_clusters = {"x", "y"};
  cluster.nodes[0].available_until_us = 45 * kSecond;
  trace.jobs[0].gpus = trace.jobs[1].gpus = 1;
  Scripted policy([](TimeUs now) {
    return now == 10 ? "run my%20job n1:1\n" : now == 45 ? "" : now == 0 ? "run my%20job\nwake 10\n" : "run b\n";
  });
  SimulationSettings settings;
  settings.estimates = "oracle";
  trace.jobs[0].virtual_cluster = "y";

  run(trace, cluster, policy, settings);

  EXPECT_EQ(policy.asked.substr(0, policy.asked.find("now 45")),
            "berth-policy 1\n"
            "node n0 2 gpu - - n0:0,1\n"
            "node n1 2 gpu - x,y n1:0,1\n"
            "now 0\n"
            "job my%20job waiting 1 0 100 100 0 3 1 - - ann y - 1 gpu 1\n"
            "decide\n"
            "now 10\n"
            "job my%20job running 1 0 90 100 10 3 1 - - ann y - 1 gpu 1 n1:0\n"
            "job b waiting 1 10 30 30 0 0 1 90 soft - - m%2C1 1 gpu 1\n"
            "decide\n"
            "node n0 0 gpu - -\n");
}

TEST(ExecQuestion, NamesJobsThatAreGone) {
  Scripted policy([](TimeUs now) { return now == 0 ? "run a\n" : now == 1 ? "run a\nreject b  it is  late\n" : ""; });

  EXPECT_EQ(run(trace_of({job("a", 0, 5, 1), job("b", 1, 5, 9), job("c", 1, 5, 1), job("d", 1, 1, 99)}), io::uniform_cluster(2, 8), policy),
            "d rejected: needs 99 GPUs; the cluster has 16; b rejected: it is  late; a 0-5; c unfinished; ");
  const std::string last = policy.asked.substr(policy.asked.find("now 5"));
  EXPECT_EQ(last, "now 5\nended a\nended b\njob c waiting 1 1 5 5 0 0 1 - - - - - 1 gpu 1\ndecide\n");
  EXPECT_EQ(policy.asked.find(" d "), std::string::npos) << "who can never run is the engine's";
}

// Until a job ends, no line depends on its end.
TEST(ExecQuestion, NeverRevealsTheTruth) {
  for (const std::string estimates : {"none", "rolling"}) {
    std::string told;
    for (const TimeUs run_us : {std::int64_t{7'654'321}, 500 * kSecond}) {
      Trace trace = trace_of({job("a", 0, 1, 1), job("b", 1, 1, 1), job("c", 2, 1, 2)});
      for (TraceJob& one : trace.jobs) one.run_us = run_us;
      SimulationSettings settings;
      settings.estimates = estimates;
      Scripted policy([](TimeUs) { return "wake 7\nrun b\nrun a\n"; });
      policy.last_wake = 7;
      run(trace, io::uniform_cluster(1, 2), policy, settings);
      const std::string begin = policy.asked.substr(0, policy.asked.find("decide\n", policy.asked.find("now 7\n")));
      EXPECT_NE(begin.find("now 7\njob a running 1 0 - - 7 0 1 "), std::string::npos) << begin;
      EXPECT_TRUE(told.empty() || told == begin) << begin;
      told = begin;
    }
  }
}

// 100 units: 10 s on 1 GPU are 10 of them, 5 s on 4 are 20, and 70 more take 35 s on 2.
TEST(ExecAnswer, GivesElasticJobsTheGpusThatItNames) {
  Trace trace = trace_of({job("a", 0, 100, 1), job("b", 10, 1'000, 1), job("c", 15, 1'000, 1)});
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points = {{"", 1, 0, "", 1'000'000}, {"", 2, 0, "", 2'000'000}, {"", 4, 0, "", 4'000'000}};
  trace.profiles = {{"p", profile}};
  trace.jobs[0].profile = "p";
  trace.jobs[0].work = 100'000'000;
  trace.jobs[0].elastic = true;
  SimulationSettings settings;
  settings.elastic = true;
  Scripted policy([](TimeUs now) {
    return now < 10 ? "run a 1\n" : now < 15 ? "run a 4 n0:0,1 n1:1,0\n" : now < 50 ? "run a 2 n1:0,1\n" : "";
  });

  EXPECT_EQ(run(trace, io::uniform_cluster(2, 2), policy, settings), "a 0-50 moved 2; b unfinished; c unfinished; ");
  EXPECT_NE(policy.asked.find("job a waiting 1 0 100 100 0 0 1 - - - - - 1,2,4 gpu,gpu,gpu 1,2,4\n"), std::string::npos) << policy.asked;
  EXPECT_NE(policy.asked.find("job a running 4 0 17.5 100 30 0 1 - - - - - 1,2,4 gpu,gpu,gpu 1,2,4 n0:0,1 n1:0,1\n"), std::string::npos)
      << policy.asked;
}

// b names GPUs of a: a is placed again, after it, or stops.
TEST(ExecAnswer, NamedGpusAreSetAsideFirst) {
  const Trace trace = trace_of({job("a", 0, 10, 2), job("b", 1, 20, 2)});
  const auto answer = [](TimeUs now) { return now == 0 ? "run a n0:0,1\n" : now == 1 ? "run b n0:1,0\nrun a\n" : "run b\nrun a 2\n"; };
  Scripted two(answer), one(answer);

  EXPECT_EQ(run(trace, io::uniform_cluster(2, 2), two), "a 0-10 moved 1; b 1-21; ");
  EXPECT_EQ(run(trace, io::uniform_cluster(1, 2), one), "b 1-21; a 0-30 preempted 1; ");
}

TEST(ExecAnswer, JobsLeftOutGiveTheirGpusToNamedJobs) {
  const Trace trace = trace_of({job("a", 0, 10, 2), job("b", 1, 20, 2)});
  Scripted policy([](TimeUs now) { return now < 1 || now > 20 ? "run a\n" : "run b\n"; });

  EXPECT_EQ(run(trace, io::uniform_cluster(1, 2), policy), "b 1-21; a 0-30 preempted 1; ");
}

// Naming the same GPUs in any order is no move, and the order decides which job is displaced.
TEST(ExecAnswer, AJobThatKeepsItsGpusIsNotMoved) {
  const Trace trace = trace_of({job("a", 0, 10, 3), job("b", 1, 20, 3)});
  Scripted keeps([](TimeUs now) { return now == 0 ? "run a n0:0,1 n1:1\n" : now < 10 ? "run b\nrun a n1:1 n0:1,0\n" : "run b\n"; });
  Scripted gives([](TimeUs now) {
    return now == 0 ? "run a n0:0,1 n1:1\n" : "run b\n" + std::string(now == 10 || now > 20 ? "run a\n" : "run a 3\n");
  });

  EXPECT_EQ(run(trace, io::uniform_cluster(2, 2), keeps), "a 0-10; b 10-30; ");
  EXPECT_EQ(run(trace, io::uniform_cluster(2, 2), gives), "b 1-21; a 0-30 preempted 1; ");
}

// Left out, resized or moved: the plan is rejected, which is no internal error.
TEST(RunList, JobsThatMayNotBeDisplacedAreNot) {
  ClusterState state(io::uniform_cluster(2, 2));
  Job job;
  job.id = "a";
  job.shapes.resize(2);
  for (std::int32_t gpus : {1, 2}) {
    Shape& shape = job.shapes[static_cast<std::size_t>(gpus - 1)];
    shape.id = fmt::format("{}", gpus);
    shape.gpus = gpus;
  }
  job.preemption.preemptible = false;
  state.apply(delta::PutJob{job});
  const auto violations = [&](const std::vector<core::RunLine>& lines) {
    core::RunList list;
    Plan plan;
    (void)list.begin(state.impl(), core::Packing::kTopology);
    std::vector<std::string> found = list.plan(state.impl(), lines, Request{}, plan);
    if (found.empty()) commit(state, plan);
    return found;
  };

  EXPECT_EQ(violations({{0, 1, {{0, 1}}}}), std::vector<std::string>{});
  const std::vector<std::string> refused{"job a: is displaced and is not preemptible"};
  EXPECT_EQ(violations({}), refused);
  EXPECT_EQ(violations({{0, 2, {}}}), refused);
  EXPECT_EQ(violations({{0, 1, {{1, 1}}}}), refused);
  EXPECT_EQ(violations({{0, 0, {}}}), std::vector<std::string>{});
}

}  // namespace berth::sim::exec_policy_test
