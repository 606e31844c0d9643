#include <gtest/gtest.h>

#include <numeric>

#include "berth/error.hpp"
#include "host/io/traces/gavel.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"
#include "tests/support/pipe_file.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_gavel_test {
namespace {

using test::TempFile;

// Model A runs on all types and on 1 and 2 GPUs. B does not run on a V100, nor together with A on one; K80s were not
// measured spread over nodes.
const char* const kThroughputs = R"j({
"k80": {"('A (batch size 8)', 1)": {"null": 1.5}, "('A (batch size 8)', 2)": {"null": 0.0}, "('B', 1)": {"null": 3}},
"p100": {"('A (batch size 8)', 1)": {"null": 2}, "('A (batch size 8)', 2)": {"null": 3.5}},
"v100": {"('A (batch size 8)', 1)": {"null": 4.0000009, "('A (batch size 8)', 1)": [3, 3], "('B', 1)": [0.0, 0.0], "('C', 1)": [4.1, 2]},
         "('A (batch size 8)', 2)": {"null": 8, "('A (batch size 8)', 2)": [1, 1]},
         "('B', 1)": {"null": 0.0}, "('C', 1)": {"null": 1}},
"v100_unconsolidated": {"('A (batch size 8)', 1)": {"null": 3.9}, "('A (batch size 8)', 2)": {"null": 5e0}}
})j";

std::string ten(const std::string& model, const std::string& steps, const std::string& gpus, const std::string& slo = "-1.000000",
                const std::string& arrival = "0", const std::string& weight = "1") {
  return model + "\tpython3 main.py -b 8\tfolder\t--steps\t1\t" + steps + "\t" + gpus + "\t" + weight + "\t" + slo + "\t" + arrival + "\n";
}

Trace gavel(const std::string& rows) {
  const TempFile file(rows, ".trace"), throughputs(kThroughputs, ".json");
  return import_trace("gavel", {file.path(), throughputs.path()});
}

std::string problem(const std::string& rows, const std::string& json = kThroughputs, const std::string& format = "gavel") {
  const TempFile file(rows, ".trace"), throughputs(json, ".json");
  return test::problem_of([&] { import_trace(format, {throughputs.path(), file.path()}); });
}

TimeUs run_sum_s(const Trace& trace) {
  return std::accumulate(trace.jobs.begin(), trace.jobs.end(), TimeUs{0},
                         [](TimeUs sum, const TraceJob& job) { return sum + job.run_us; }) /
         kSecond;
}

const std::string kA = "A (batch size 8)";

}  // namespace

TEST(ImportGavel, FilesMayBePipesAndBlanksMayPrecedeTheJson) {
  const test::PipeFile rows(ten(kA, "400", "2")), throughputs(std::string(" \n\t") + kThroughputs);

  const Trace trace = import_trace("gavel", {rows.path(), throughputs.path()});

  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].run_us, 50 * kSecond);
}

TEST(ImportGavel, RunTimeIsStepsByTheThroughputOfAsManyV100s) {
  const Trace trace = gavel(ten(kA, "400", "2", "-1.000000", "7.25", "2.5") + ten(kA, "100", "1"));

  ASSERT_EQ(trace.jobs.size(), 2u);
  const TraceJob& second = trace.jobs[1];
  EXPECT_EQ(second.id, "0");  // the number of its row
  EXPECT_EQ(second.run_us, 50 * kSecond);
  EXPECT_EQ(second.submit_us, 7'250'000);
  EXPECT_EQ(second.work, 400'000'000);
  EXPECT_EQ(second.weight_ppm, 2'500'000);
  EXPECT_EQ(second.model, kA);
  EXPECT_EQ(second.batch, 0);  // from the name, and for what it does not state
  EXPECT_EQ(second.deadline_us, kNever);
  EXPECT_EQ(trace.jobs[0].run_us, 25 * kSecond);  // 4.0000009 steps a second are taken as 4
}

TEST(ImportGavel, AProfileHasAPointForEachTypeAndCountOnWhichTheModelRuns) {
  const Profile profile = gavel(ten(kA, "1", "1")).profiles.at(0).second;

  EXPECT_EQ(profile.unit, "steps");
  EXPECT_EQ(profile.points, (std::vector<RatePoint>{{"V100", 1, 0, "", 4'000'000},
                                                    {"V100", 2, 0, "node", 8'000'000},
                                                    {"V100", 2, 0, "", 5'000'000},
                                                    {"P100", 1, 0, "", 2'000'000},
                                                    {"P100", 2, 0, "", 3'500'000},
                                                    {"K80", 1, 0, "", 1'500'000}}));  // 0 on two: not runnable
}

TEST(ImportGavel, NextToAnotherModelARateIsKeptAndAPairOfZerosKeepsNothing) {
  const Profile profile = gavel(ten(kA, "1", "1")).profiles.at(0).second;

  using Kept = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(profile.colocation, (Kept{{kA, 750'000}, {"B", 0}, {"C", 1'000'000}}));  // 1.025 is cut at 1; pairs on two GPUs are left out
}

TEST(ImportGavel, SevenColumnsHaveTheArrivalBeforeTheScale) {
  const Trace trace = gavel(kA + "\tcmd\t--steps\t1\t800\t60.5\t2\n");

  EXPECT_EQ(trace.jobs.at(0).gpus, 2);
  EXPECT_EQ(trace.jobs.at(0).submit_us, 60'500'000);
  EXPECT_EQ(trace.jobs.at(0).run_us, 100 * kSecond);
}

TEST(ImportGavel, AnSloIsSoManyRunTimesBehindSubmission) {
  const Trace trace = gavel(ten(kA, "400", "1", "1.2", "10"));

  EXPECT_EQ(trace.jobs.at(0).deadline_us, 130 * kSecond);
  EXPECT_FALSE(trace.jobs.at(0).deadline_hard);
}

TEST(ImportGavel, WhatDoesNotRunOnAV100IsDroppedAndCounted) {
  const Trace trace = gavel(ten("B", "400", "1") + ten(kA, "0", "1") + ten(kA, "5", "0") + ten(kA, "5", "1"));

  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, "3");
  EXPECT_EQ(trace.dropped, (DropCounts{{"gpus <= 0", 1}, {"not runnable on V100 (throughput 0)", 1}, {"run time <= 0", 1}}));
  EXPECT_EQ(trace.profiles.size(), 1u);
}

TEST(ImportGavel, ASnapshotHasAShapeForEachTypeThatTheModelRunsOn) {
  const Trace trace = gavel(ten(kA, "400", "2") + ten(kA, "400", "1"));

  const Snapshot snapshot = sim::snapshot_at(trace, cluster_from("1x2xK80+1x2xP100+1x2xV100", {}), 0);

  const Job &two = snapshot.jobs.at(0), &one = snapshot.jobs.at(1);
  ASSERT_EQ(two.shapes.size(), 2u);
  EXPECT_EQ(two.shapes[0].id, "2xV100");
  EXPECT_EQ(two.shapes[1].id, "2xP100");
  EXPECT_EQ(one.shapes.size(), 3u);
  EXPECT_EQ(two.profile.colocation.size(), 3u);
  EXPECT_NO_THROW(check_snapshot(snapshot));
}

TEST(ImportGavel, AMissingFileIsNamed) {
  const TempFile rows(ten(kA, "1", "1"), ".trace"), throughputs(kThroughputs, ".json");
  const auto message = [&](const std::vector<std::string>& files) -> std::string {
    try {
      import_files("gavel", files);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };

  EXPECT_NE(message({rows.path()}).find("no file of throughputs"), std::string::npos);
  EXPECT_NE(message({throughputs.path()}).find("no file of jobs"), std::string::npos);
  EXPECT_NE(message({rows.path(), throughputs.path(), rows.path()}).find("a second file of jobs"), std::string::npos);
  EXPECT_NE(message({throughputs.path(), rows.path(), throughputs.path()}).find("a second file of throughputs"), std::string::npos);
}

TEST(ImportGavel, BadRowsNameTheirPlace) {
  const std::string good = ten(kA, "1", "1");
  EXPECT_NE(problem(good + ten("D", "1", "1")).find(":2: "), std::string::npos);
  EXPECT_NE(problem(good + ten("D", "1", "1")).find("no throughput of ('D', 1) on v100"), std::string::npos);
  EXPECT_NE(problem(good + ten(kA, "1", "4")).find("no throughput of"), std::string::npos);
  EXPECT_NE(problem(good + "x\ty\n").find(":2: 2 columns, where the file has 10"), std::string::npos);
  EXPECT_NE(problem("a,b,c\n").find("1 tab-separated columns"), std::string::npos);
  EXPECT_NE(problem("").find("empty"), std::string::npos);
  EXPECT_NE(problem("\n" + good).find("empty line"), std::string::npos);
  EXPECT_NE(problem(good + "\xff\n").find(":2: text that is not UTF-8"), std::string::npos);
  EXPECT_NE(problem(ten(kA, "1", "1", "-1", "-5")).find("column 'arrival_time' (10)"), std::string::npos);
  for (const std::string& bad :
       {ten("", "1", "1"), ten(kA, "nan", "1"), ten(kA, "1.5", "1"), ten(kA, "9999999999999999999", "1"), ten(kA, "1", "x"),
        ten(kA, "1", "1", "-2"), ten(kA, "1", "1", "inf"), ten(kA, "1", "1", "-1", "nan"), ten(kA, "1", "1", "-1", "1e30"),
        ten(kA, "1", "1", "-1", "0", "0"), ten(kA, "1", "1", "-1", "0", "-1"), ten(kA, "999999999999", "1", "9999999999")}) {
    EXPECT_NE(problem(good + bad).find(":2: "), std::string::npos) << bad << problem(good + bad);
  }
  EXPECT_EQ(problem(good + "\n\n"), "no error");
  EXPECT_EQ(problem(good.substr(0, good.size() - 1)), "no error");  // without a last line feed
}

TEST(ImportGavel, BadThroughputsNameTheirPlace) {
  const std::string row = ten(kA, "1", "1");
  EXPECT_NE(problem(row, "{\n\"v100\": {\"('A', 1)\": {\"null\": -1}}}").find(":2: /v100/('A', 1)/null: expected steps per second"),
            std::string::npos)
      << problem(row, "{\n\"v100\": {\"('A', 1)\": {\"null\": -1}}}");
  EXPECT_NE(problem(row, R"j({"k80": {}})j").find("no throughputs of 'v100'"), std::string::npos);
  EXPECT_NE(problem(row, R"j({"v100": {"A": {"null": 1}}})j").find("expected a key"), std::string::npos);
  for (const char* bad :
       {"{", "{} x", R"j({"v100": {"('A', 1)": {}}})j", R"j({"v100": {"('A', 0)": {"null": 1}}})j",
        R"j({"v100": {"('A', 1)": {"null": NaN}}})j", R"j({"v100": {"('A', 1)": {"null": 1e300}}})j",
        R"j({"v100": {"('A', 1)": {"null": 1, "null": 1}}})j", R"j({"v100": {"('A', 1)": {"null": 1, "('A', 1)": [1]}}})j",
        R"j({"v100": {"('A', 1)": {"null": 1}, "('A', 1)": {"null": 1}}})j", R"j({"v100": {}, "V100": {}})j", R"j({"v 100": {}})j",
        R"j({"v100": 1})j", R"j({"v100": {"('A', 1)": {"null": "fast"}}})j"}) {
    EXPECT_NE(problem(row, bad), "no error") << bad;
  }
}

TEST(ImportGavel, ANameThatNoTraceCouldHoldIsRefused) {
  const std::string model(1'100, 'm');

  EXPECT_NE(problem(ten(model, "1", "1"), "{\"v100\": {\"('" + model + "', 1)\": {\"null\": 1}}}").find("longer than 1024"),
            std::string::npos);
  EXPECT_NE(problem(ten("A", "1", "1"), "{\"v100\": {\"('A', 1)\": {\"null\": 1, \"('" + model + "', 1)\": [1, 1]}}}").find("/profiles/A"),
            std::string::npos);
}

TEST(ImportGavel, TheRealWorkloadsHaveTheirCounts) {
  const std::string throughputs = test::trace_file("gavel/physical_cluster_throughputs.json.gz");
  if (throughputs.empty()) GTEST_SKIP() << "gavel/ is not here";
  struct Expected {
    const char* name;
    std::size_t jobs, models;
    TimeUs run_s;
  };
  for (const Expected& one : {Expected{"artifact_evaluation", 15, 12, 15'666}, Expected{"max_min_fairness", 96, 8, 766'451},
                              Expected{"medium_test", 20, 14, 163'278}, Expected{"minimize_makespan", 100, 25, 1'026'445},
                              Expected{"small_test", 20, 13, 1'122}}) {
    const std::string file = test::trace_file(std::string("gavel/physical_") + one.name + ".trace");
    ASSERT_FALSE(file.empty()) << one.name;

    const Trace trace = import_trace("gavel", {file, throughputs});

    EXPECT_EQ(trace.jobs.size(), one.jobs) << one.name;
    EXPECT_EQ(trace.profiles.size(), one.models) << one.name;
    EXPECT_EQ(run_sum_s(trace), one.run_s) << one.name;
    EXPECT_TRUE(trace.dropped.empty()) << one.name;
    EXPECT_EQ(parse_trace(to_json(trace)), trace) << one.name;
  }
}

TEST(ImportGavel, TheRealThroughputsHaveTheirZerosAndGaps) {
  const std::string physical = test::trace_file("gavel/physical_cluster_throughputs.json.gz"),
                    simulation = test::trace_file("gavel/simulation_throughputs.json.gz");
  if (physical.empty() || simulation.empty()) GTEST_SKIP() << "gavel/ is not here";
  const auto counts = [](const GavelThroughputs& read, const char* type) {
    int zero = 0, no_spread = 0;
    for (const auto& [key, rate] : read.alone.at(type)) {
      zero += rate.together == 0 ? 1 : 0;
      no_spread += rate.spread_out == 0 ? 1 : 0;
    }
    return std::make_tuple(read.alone.at(type).size(), zero, no_spread);
  };

  GzipInput a(physical), b(simulation);
  const GavelThroughputs one = read_gavel_throughputs(a), two = read_gavel_throughputs(b);

  EXPECT_EQ(counts(one, "K80"), std::make_tuple(83u, 4, 6));
  EXPECT_EQ(counts(two, "K80"), std::make_tuple(83u, 3, 6));
  EXPECT_EQ(counts(one, "V100"), std::make_tuple(83u, 0, 0));
  EXPECT_EQ(one.alone.size(), 3u);
}

}  // namespace berth::io::import_gavel_test
