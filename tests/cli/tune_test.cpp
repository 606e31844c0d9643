#include <fmt/format.h>

#include <string>

#include "host/results/database.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::tune_test {
namespace {

/// A trace of 12.5 days: short jobs come behind long ones, so that thresholds matter.
std::string busy_trace(int jobs_a_day) {
  std::string text = R"({"schema": "berth.trace.v1", "name": "busy", "jobs": [)";
  int n = 0;
  for (int day = 0; day < 13; ++day) {
    for (int j = 0; j < jobs_a_day; ++j, ++n) {
      const bool is_long = j % 5 == 0;
      text += fmt::format("{}\n{{\"id\": \"j{:05}\", \"submit_s\": {}, \"run_s\": {}, \"gpus\": {}}}", n == 0 ? "" : ",", n,
                          day * 86400 + j * (43200 / jobs_a_day), is_long ? 9000 + 37 * (n % 11) : 60 + 17 * (n % 13), 1 + n % 3);
    }
  }
  return text + "]}";
}

struct Tuning {
  explicit Tuning(int jobs_a_day = 60) { folder.write("t.json", busy_trace(jobs_a_day)); }
  Answer run(const std::string& options) const {
    const std::string window = contains(options, "--window") ? "" : "--window 4d ";
    return berth("tune --trace '" + (folder / "t.json") + "' --cluster 1x4 --validate 2 " + window + options);
  }
  std::string at(const std::string& name) const { return folder / name; }

  Folder folder;
};

std::string problem_of(const Tuning& tuning, const std::string& options) {
  const Answer answer = tuning.run(options);
  EXPECT_EQ(answer.code, 2) << options << answer.out;
  EXPECT_EQ(answer.out, "") << options;
  return answer.err;
}

}  // namespace

TEST(CliTune, FindsBetterParametersAndJudgesThemOnLaterDays) {
  const Tuning tuning;
  // The default is the first come, first served; others are far better here.
  const Answer answer = tuning.run("--policy fifo --space discipline=strict,greedy,easy");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "Tuned fifo for mean_jct on days 0.5 to 4.5 of the trace")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "The best there: --policy fifo@discipline=")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "all later")) << answer.out;
}

TEST(CliTune, FindsTimersByDemandByReplays) {
  const Tuning tuning;
  const std::string options = "--policy dally --overheads default --timers-by-demand --budget 150 ";
  const Answer answer = tuning.run(options);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "Tuned dally for mean_jct")) << answer.out;
  const std::string json = tuning.run(options + "--json --threads 3").out;
  EXPECT_TRUE(contains(json, "\"policy\":\"dally\"")) << json;
  EXPECT_EQ(tuning.run(options + "--json --threads 1").out, json);
  EXPECT_EQ(tuning.run(options + "--json --backend reference").out, json);
  const Answer makespan = tuning.run(options + "--metric makespan");
  ASSERT_EQ(makespan.code, 0) << makespan.err;
  EXPECT_TRUE(contains(makespan.out, "Tuned dally for makespan")) << makespan.out;
  EXPECT_TRUE(contains(makespan.out, "DEFAULT MAKESPAN S")) << makespan.out;
}

TEST(CliTune, RefusesTimersThatReplaysDoNotKnow) {
  const Tuning tuning;
  const std::string timers = "--timers-by-demand ";
  EXPECT_TRUE(contains(problem_of(tuning, timers + "--policy las"), "not of 'las'"));
  EXPECT_TRUE(contains(problem_of(tuning, timers + "--policy dally --space lease_s=60..600"), "--timers-by-demand tunes timers alone"));
  EXPECT_TRUE(contains(problem_of(tuning, timers + "--policy dally@discipline=easy"), "replays do not know discipline=easy"));
  for (const char* const option : {"--estimates none", "--round 60s", "--failures node=10h", "--seeds 2", "--elastic"}) {
    EXPECT_TRUE(contains(problem_of(tuning, timers + "--policy dally " + option), "--timers-by-demand: replays do not know --")) << option;
  }
  EXPECT_TRUE(contains(problem_of(tuning, timers + "--policy dally@lease_s=20 --overheads default"), "no job would make progress"));
}

TEST(CliTune, ThreadsKillsAndStoresGiveTheSameAnswer) {
  const Tuning tuning;
  const std::string options = "--policy las --budget 40 --json ";
  const std::string whole = tuning.run(options + "--threads 1").out;
  ASSERT_TRUE(contains(whole, "\"schema\":\"berth.tune.v1\"")) << whole;
  EXPECT_EQ(tuning.run(options + "--threads 3").out, whole);
  const std::string store = "--out '" + tuning.at("s.sqlite") + "' ";
  for (const char* const wait : {"0.03", "0.06", "0.1", "0.2"})
    (void)tuning.run(options + store + "--threads 1 & sleep " + wait + "; kill -KILL $! 2>&1; wait $!");
  EXPECT_EQ(tuning.run(options + store).out, whole);
  const std::int64_t runs = results::Database(tuning.at("s.sqlite")).number("SELECT count(*) FROM runs");
  EXPECT_LE(runs, 40) << "the budget";
  const Answer again = tuning.run("--policy las --budget 40 " + store);
  EXPECT_TRUE(contains(again.out, fmt::format("{} runs in {}, {} of them from before", runs, tuning.at("s.sqlite"), runs))) << again.out;
  EXPECT_NE(tuning.run(options + "--seed 1").out, whole);
}

TEST(CliTune, SaysWhichWindowHasNothingToTuneFor) {
  const Tuning tuning;
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --window 5d"),
                       "--window: the trace has 12.5 days, which are less than 3 windows of 5.0 days: "
                       "with --validate 2 a window has at most 4.2 days"));
  tuning.folder.write("t.json",
                      R"({"schema": "berth.trace.v1", "name": "t", "jobs": [{"id": "a", "submit_s": 0, "run_s": 5, "gpus": 1}]})");
  EXPECT_EQ(problem_of(tuning, "--policy las"),
            "berth: --trace: it has 1 job, which no parameters can order: there is nothing to tune for\n");
  tuning.folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": []})");
  EXPECT_EQ(problem_of(tuning, "--policy las"), "berth: --trace: it has no jobs: there is nothing to tune for\n");
  // Days 0 to 4 have jobs, and 4 to 8 none.
  tuning.folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 5, "gpus": 1}, {"id": "b", "submit_s": 5000, "run_s": 5, "gpus": 1},
    {"id": "b2", "submit_s": 6000, "run_s": 5, "gpus": 1},
    {"id": "c", "submit_s": 1036801, "run_s": 5, "gpus": 1}, {"id": "d", "submit_s": 1036802, "run_s": 5, "gpus": 1}]})");
  EXPECT_EQ(problem_of(tuning, "--policy las"),
            "berth: --window: a later one, days 4.0 to 8.0 of the trace, has no jobs: choose another length, or other files\n");
  tuning.folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 5, "gpus": 1}, {"id": "b", "submit_s": 5000, "run_s": 5, "gpus": 1},
    {"id": "b2", "submit_s": 6000, "run_s": 5, "gpus": 1},
    {"id": "c", "submit_s": 500000, "run_s": 5, "gpus": 1}, {"id": "d", "submit_s": 1036802, "run_s": 5, "gpus": 1}]})");
  EXPECT_EQ(problem_of(tuning, "--policy las"),
            "berth: --window: a later one, days 4.0 to 8.0 of the trace, has 1 job: choose another length, or other files\n");
}

TEST(CliTune, SaysWhichOptionIsWrong) {
  const Tuning tuning;
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --space promote_nob=1,2"), "did you mean 'promote_knob'?"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy lass"), "did you mean 'las'?"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy fifo"),
                       "--space is required: policy 'fifo' has no parameters that are tuned by default; it has: "));
  EXPECT_TRUE(
      contains(problem_of(tuning, "--policy las --param promote_knob=2 --space promote_knob=1,2"), "'promote_knob' is set by --policy"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las@promote_knob=2 --space promote_knob=1,2"), "'promote_knob' is set by --policy"));
  EXPECT_TRUE(
      contains(problem_of(tuning, "--policy las --space promote_knob=1,2 --space promote_knob=3,4"), "'promote_knob' is given twice"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --metric goodput"), "--metric: 'goodput' is not of days of jobs"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --backend cpu"), "--backend: only replays of timers are made by a backend"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --metric mean_jtc"), "did you mean 'mean_jct'?"));
  EXPECT_TRUE(
      contains(problem_of(tuning, "--policy las --budget many"), "--budget: 'many': expected a number of runs, such as 100, or a time"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --budget 7"), "--budget: 7 runs are too few"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --budget 1"), "--budget: 1 run is too few"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --metric p95_wait"), "did you mean 'p90_queue'?"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --window 3h"), "--window: '3h': a window has a day at least"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --window all"), "--window: 'all' is no duration"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --space promote_knob=off"), "--space: it has no values besides the default's"));
  EXPECT_TRUE(contains(problem_of(tuning, "--policy las --load 0.5"), "--load: it would move the days"));
  EXPECT_EQ(berth("tune --policy las --cluster 2x4").err, "berth: --trace is required: tune looks at windows of it\n");
}

// Slices that are no longer than a restart let no job make progress.
TEST(CliTune, ConfigurationsWithoutProgressAreLostAndNamed) {
  const Tuning tuning(20);
  const Answer answer = tuning.run("--policy gandiva --overheads default --space quantum_s=1,2,60");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "2 configurations lost, such as gandiva@quantum_s=")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "no job would make progress")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "Keep the default: no configuration is better on the days on which it is tuned.\n")) << answer.out;
  const Answer json = tuning.run("--policy gandiva --overheads default --space quantum_s=1,2,60 --json");
  EXPECT_TRUE(contains(json.out, "\"lost_runs\":{\"policy 'gandiva': time slices of")) << json.out;
  EXPECT_TRUE(contains(json.out, "\"keep_default\":true")) << json.out;
}

// Failures every ten seconds of GPU-time undo all work, under every policy.
TEST(CliTune, ADefaultThatDoesNotEndIsSaid) {
  const Tuning tuning(3);
  const Answer endless = tuning.run("--policy las --failures crash=10s");
  EXPECT_EQ(endless.code, 2);
  EXPECT_TRUE(contains(endless.err, "berth: --policy las: ")) << endless.err;
  EXPECT_TRUE(contains(endless.err, "with its default parameters failed: the run was given up after 1")) << endless.err;
  EXPECT_TRUE(contains(endless.err, " decisions, as one that does not end\n")) << endless.err;
  const Answer late = tuning.run("--policy las --failures crash=10s --run-limit 10ms");
  EXPECT_EQ(late.code, 2);
  EXPECT_TRUE(contains(late.err, "the run was given up after 0.01 s\n")) << late.err;
}

TEST(CliTune, AFullDeviceIsReported) {
  const Tuning tuning;
  const Answer full = tuning.run("--policy las --budget 30 >/dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_TRUE(contains(full.err, "cannot write")) << full.err;
}

TEST(CliTune, ATimeIsABudgetToo) {
  const Tuning tuning(20);
  const Answer answer = tuning.run("--policy las --budget 1s --json");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\"configurations\":")) << answer.out;
}

}  // namespace berth::test::tune_test
