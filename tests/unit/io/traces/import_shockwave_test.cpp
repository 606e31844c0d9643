#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_shockwave_test {
namespace {

using test::TempFile;

const char* const kSteps = R"j({"v100": {"('LM (batch size 10)', 1)": {"null": 10}}})j";

std::string twelve(const std::string& mode, const std::string& duration, const std::string& arrival) {
  return "LM (batch size 10)\tpython3 main.py\tfolder\t--steps\t1\t500\t1\t" + mode + "\t1\t-1.000000\t" + duration + "\t" + arrival + "\n";
}

Trace shockwave(const std::string& rows) {
  const TempFile file(rows, ".trace"), throughputs(kSteps, ".json");
  return import_trace("shockwave", {file.path(), throughputs.path()});
}

std::string problem(const std::string& rows, const std::string& format = "shockwave") {
  const TempFile file(rows, ".trace"), throughputs(kSteps, ".json");
  return test::problem_of([&] { import_trace(format, {file.path(), throughputs.path()}); });
}

}  // namespace

TEST(ImportShockwave, TheModeStandsBeforeTheWeightAndTheDurationBeforeTheArrival) {
  const Trace trace = shockwave(twelve("gns", "50", "3") + twelve("static", "49", "4"));

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].run_us, 50 * kSecond);  // 500 steps at 10 a second
  EXPECT_EQ(trace.jobs[0].submit_us, 3 * kSecond);
  EXPECT_EQ(trace.jobs[0].x, (Extensions{{"x_mode", "\"gns\""}}));
  EXPECT_EQ(trace.name, "shockwave");
}

TEST(ImportShockwave, RowsThatStateAnotherDurationAreCountedAndTheThroughputCounts) {
  const Trace trace = shockwave(twelve("accordion", "60", "0") + twelve("static", "51", "0"));

  EXPECT_EQ(trace.jobs[0].run_us, 50 * kSecond);
  EXPECT_NE(trace.notes.back().find("1 row with another duration than total_steps / throughput"), std::string::npos);
}

// An epoch of LM is 5,968 steps of batch 10: from epoch 11 on the batch is 20, from 21 on 40.
TEST(ImportShockwave, ADynamicJobHasAPhaseForEachBatch) {
  const std::string rates = R"j({"v100": {"('LM (batch size 10)', 1)": {"null": 10}, "('LM (batch size 20)', 1)": {"null": 8},
                                          "('LM (batch size 40)', 1)": {"null": 5}}})j";
  const std::string row = "LM (batch size 10)\tc\tf\t-s\t1\t131296\t1\tgns\t1\t-1\t13129.6\t0\n";
  const TempFile file(row, ".trace"), throughputs(rates, ".json");

  const Trace trace = import_trace("shockwave", {file.path(), throughputs.path()});

  const std::string twice = "LM (batch size 20), in steps of batch size 10", four_times = "LM (batch size 40), in steps of batch size 10";
  const TraceJob& job = trace.jobs.at(0);
  EXPECT_EQ(job.work, 131'296'000'000);
  EXPECT_EQ(job.epochs_micro, 22'000'000);
  EXPECT_EQ(job.dataset_size, 59'675);
  EXPECT_EQ(job.phases, (std::vector<TracePhase>{{65'648'000'000, twice, 0}, {125'328'000'000, four_times, 0}}));
  EXPECT_EQ(job.run_us, (65'648'00 / 10 + 59'680'00 / 16 + 5'968'00 / 20) * (kSecond / 100));
  ASSERT_NE(find_profile(trace, twice), nullptr);
  EXPECT_EQ(find_profile(trace, twice)->points.at(0).rate, 16'000'000);
  EXPECT_EQ(find_profile(trace, twice)->model, "LM (batch size 20)");
  EXPECT_EQ(find_profile(trace, four_times)->points.at(0).rate, 20'000'000);
  EXPECT_NE(trace.notes.back().find("1 of 1 such jobs do"), std::string::npos) << trace.notes.back();
  EXPECT_EQ(parse_trace(to_json(trace)), trace);
}

TEST(ImportShockwave, ABatchWithoutAThroughputIsAnErrorAndOneThatDoesNotRunIsCounted) {
  const std::string row = "LM (batch size 40)\tc\tf\t-s\t1\t40000\t1\taccordion\t1\t-1\t1\t0\n";
  const TempFile file(row, ".trace"), one(R"j({"v100": {"('LM (batch size 40)', 1)": {"null": 10}}})j", ".json"),
      none(R"j({"v100": {"('LM (batch size 40)', 1)": {"null": 10}, "('LM (batch size 80)', 1)": {"null": 0}}})j", ".json");

  EXPECT_NE(test::problem_of([&] {
              import_trace("shockwave", {file.path(), one.path()});
            }).find("no throughput of ('LM (batch size 80)', 1)"),
            std::string::npos);
  EXPECT_EQ(import_trace("shockwave", {file.path(), none.path()}).dropped, (DropCounts{{"not runnable on V100 (throughput 0)", 1}}));
}

TEST(ImportShockwave, GavelsFilesAreNotTakenForItNorTheOtherWayRound) {
  EXPECT_NE(problem("m\tc\tf\t-s\t1\t5\t1\t1\t-1\t0\n").find("10 columns: this is a workload of Gavel"), std::string::npos);
  EXPECT_NE(problem(twelve("gns", "50", "3"), "gavel").find("format shockwave"), std::string::npos);
}

TEST(ImportShockwave, BadRowsNameTheirPlace) {
  EXPECT_NE(problem(twelve("fast", "50", "3")).find(":1: column 'mode' (8)"), std::string::npos) << problem(twelve("fast", "50", "3"));
  EXPECT_NE(problem(twelve("gns", "nan", "3")).find("column 'duration' (11)"), std::string::npos);
  EXPECT_NE(problem(twelve("gns", "5", "-3")).find("column 'arrival_time' (12)"), std::string::npos);
  EXPECT_NE(problem("m\tc\n").find("2 tab-separated columns, where a workload of Shockwave has 12"), std::string::npos);
}

TEST(ImportShockwave, TheRealWorkloadsHaveTheirCounts) {
  const std::string small = test::trace_file("shockwave/120_0.2_5_100_40_25.trace"),
                    large = test::trace_file("shockwave/460_0.2_5_100_10_1.trace"),
                    throughputs = test::trace_file("shockwave/tacc_throughputs.json.gz");
  if (small.empty() || large.empty() || throughputs.empty()) GTEST_SKIP() << "shockwave/ is not here";
  const auto run_s = [](const Trace& trace) {
    return std::accumulate(trace.jobs.begin(), trace.jobs.end(), TimeUs{0},
                           [](TimeUs sum, const TraceJob& job) { return sum + job.run_us; }) /
           kSecond;
  };
  const auto changing = [](const Trace& trace) {
    return std::count_if(trace.jobs.begin(), trace.jobs.end(), [](const TraceJob& job) { return !job.phases.empty(); });
  };

  const Trace one = import_trace("shockwave", {small, throughputs}), two = import_trace("shockwave", {throughputs, large});

  EXPECT_EQ(one.jobs.size(), 120u);
  EXPECT_EQ(run_s(one), 470'193);
  EXPECT_EQ(changing(one), 67);
  EXPECT_EQ(changing(two), 247);
  EXPECT_EQ(one.jobs.back().submit_us, 5'011 * kSecond);
  EXPECT_EQ(one.notes.back().find("another duration"), std::string::npos);
  EXPECT_EQ(two.jobs.size(), 460u);
  EXPECT_EQ(run_s(two), 2'439'908);
  EXPECT_NE(two.notes.back().find("460 rows with another duration"), std::string::npos);  // from another throughput file
  EXPECT_EQ(parse_trace(to_json(two)), two);
}

}  // namespace berth::io::import_shockwave_test
