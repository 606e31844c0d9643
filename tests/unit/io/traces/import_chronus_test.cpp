#include <gtest/gtest.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"
#include "tests/support/pipe_file.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_chronus_test {
namespace {

using test::TempFile;

const std::string kChronus =
    "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,best_effort,job_type\n";
const std::string kSpeeds = R"({"alexnet": {"4": {"1": 1.0, "4": 0.325340860506144, "2": 0.3972922047776267}, "2": {"1": 1.0}}})";

Trace chronus(const std::string& rows) {
  const TempFile file(kChronus + rows);
  return import_trace("chronus", {file.path()});
}

std::string problem(const std::string& content) {
  const TempFile file(content);
  return test::problem_of([&] { import_trace("chronus", {file.path()}); });
}

std::string speeds_problem(const std::string& json) {
  const TempFile jobs(kChronus), speeds(json, ".json");
  return test::problem_of([&] { import_files("chronus", {jobs.path(), speeds.path()}); });
}

struct Kinds {
  std::int64_t jobs = 0, hard = 0, soft = 0, best = 0;
  bool operator==(const Kinds&) const = default;
};
Kinds kinds(const Trace& trace) {
  Kinds sum;
  for (const TraceJob& job : trace.jobs) {
    ++sum.jobs;
    ++(job.deadline_us == kNever ? sum.best : job.deadline_hard ? sum.hard : sum.soft);
  }
  return sum;
}

}  // namespace

TEST(ImportChronus, FilesMayBePipesAndBlanksMayPrecedeTheJson) {
  const test::PipeFile jobs(kChronus + "0,vc_a,4,100,9,alexnet,50,1,147.5,10,0,strict\n"), speeds("\n " + kSpeeds);

  const Trace trace = import_trace("chronus", {speeds.path(), jobs.path()});

  EXPECT_EQ(trace.profiles.size(), 1u);
  EXPECT_EQ(trace.jobs.size(), 1u);
}

TEST(ImportChronus, DeadlinesCountFromSubmission) {
  const Trace trace = chronus("0,vc_a,1,100,9,vgg16,50,1,147.5,10,0,strict\n");

  const TraceJob& job = trace.jobs.at(0);
  EXPECT_EQ(job.user, "vc_a");
  EXPECT_EQ(job.virtual_cluster, "vc_a");
  EXPECT_EQ(job.submit_us, 100 * kSecond);
  EXPECT_EQ(job.run_us, 50 * kSecond);
  EXPECT_EQ(job.deadline_us, 247'500'000);
  EXPECT_TRUE(job.deadline_hard);
  EXPECT_EQ(job.deadline_value, 10);
  EXPECT_TRUE(job.profile.empty());
}

TEST(ImportChronus, ASoftDeadlineKeepsAllItsSteps) {
  const Trace trace = chronus("0,u,1,100,9,m,50,1,60-90.5-200,10-8-5,0,soft\n");

  const TraceJob& job = trace.jobs.at(0);
  EXPECT_EQ(job.deadline_us, 160 * kSecond);
  EXPECT_FALSE(job.deadline_hard);
  EXPECT_EQ(job.deadline_value, 10);
  EXPECT_EQ(job.deadline_later, (std::vector<DeadlineStep>{{190'500'000, 8}, {300 * kSecond, 5}}));
  EXPECT_EQ(parse_trace(to_json(trace)), trace);
}

TEST(ImportChronus, BestEffortHasNoDeadlineWhateverItsListsHold) {
  const Trace trace = chronus("0,u,1,14341,9,m,50,1,14341,10,1,best\n");

  EXPECT_EQ(trace.jobs.at(0).deadline_us, kNever);
  EXPECT_EQ(trace.jobs.at(0).deadline_value, 0);
}

TEST(ImportChronus, RowsAreNotSortedAndThoseWithoutGpusAreCounted) {
  const Trace trace = chronus("0,u,1,50,9,m,5,1,60,10,0,strict\n1,u,0,7,9,m,5,1,60,10,0,strict\n2,u,2,7,9,m,5,1,60,10,0,strict\n");

  EXPECT_EQ(trace.jobs.at(0).id, "2");
  EXPECT_EQ(trace.dropped, (DropCounts{{"gpus <= 0", 1}}));
}

TEST(ImportChronus, ModelSpeedsAreRelativeToOneNode) {
  const TempFile jobs(kChronus + "0,u,4,0,9,alexnet,100,1,200,10,0,strict\n1,u,8,0,9,alexnet,100,1,200,10,0,strict\n"),
      speeds(kSpeeds, ".json");

  const Trace trace = import_trace("chronus", {speeds.path(), jobs.path()});

  EXPECT_EQ(trace.jobs[0].profile, "alexnet, 4 GPUs");
  EXPECT_EQ(trace.jobs[0].work, trace.jobs[0].run_us);
  EXPECT_TRUE(trace.jobs[1].profile.empty());  // not measured
  ASSERT_EQ(trace.profiles.size(), 1u);
  EXPECT_EQ(trace.profiles[0].second.points, (std::vector<RatePoint>{{"", 4, 0, "node", 1'000'000}, {"", 4, 0, "", 397'292}}));
  EXPECT_EQ(sim::snapshot_at(trace, uniform_cluster(1, 4), 1'000 * kSecond).history.at(0).run_us, 100 * kSecond);
  EXPECT_EQ(sim::snapshot_at(trace, uniform_cluster(2, 2), 1'000 * kSecond).history.at(0).run_us,
            251'704'037);  // rounded up, as a job ends
}

TEST(ImportChronus, BadInputNamesItsPlace) {
  EXPECT_NE(problem("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n").find("no column 'user'"), std::string::npos);
  const auto last_columns = [](const std::string& columns) { return problem(kChronus + "0,u,1,100,9,m,50,1," + columns + "\n"); };
  EXPECT_NE(last_columns("60-90,10,0,soft").find(":2: column 'expect_value_list' (10): expected 2 values"), std::string::npos);
  EXPECT_NE(last_columns("60,10-8,0,soft").find(": expected 1 value, one for each expected time"), std::string::npos);
  EXPECT_NE(last_columns("90-60,10-8,0,soft").find("ascending"), std::string::npos);
  EXPECT_NE(last_columns("60-60,10-8,0,soft").find("ascending"), std::string::npos);
  EXPECT_NE(last_columns("60,10,1,strict").find("'best_effort'"), std::string::npos);
  EXPECT_NE(last_columns("60,10,0,best").find("'best_effort'"), std::string::npos);
  EXPECT_NE(last_columns("60,10,0,hard").find("strict, soft or best"), std::string::npos);
  for (const char* bad : {",10,0,strict", "nan,10,0,strict", "-60,10,0,strict", "60,x,0,strict", "60,-1,0,strict", "60,,0,strict",
                          "288230376151,10,0,strict", "60,99999999999,0,strict", "60,10"}) {
    EXPECT_NE(last_columns(bad).find(":2: "), std::string::npos) << bad << last_columns(bad);
  }
}

TEST(ImportChronus, BadModelSpeedsNameTheirPlace) {
  EXPECT_NE(speeds_problem("{\n\"a\": {\"2\": {\"1\": 0}}}").find(":2: /a/2/1: expected a speed above 0"), std::string::npos)
      << speeds_problem("{\n\"a\": {\"2\": {\"1\": 0}}}");
  for (const char* bad : {"{", "{}", R"({"a": {"2": {"2": 1.0}}})", R"({"a": {"2": {"1": 1.0, "3": 1.0}}})", R"({"a": {"0": {"1": 1.0}}})",
                          R"({"a": {"2": {"1": -1.0}}})", R"({"a": {"2": {"1": "x"}}})", R"({"a": {"2": {"1": 1, "1": 1}}})",
                          R"({"a": {"2": {"1": 1}, "2": {"1": 1}}})", R"({"a": 1})"}) {
    EXPECT_NE(speeds_problem(bad), "no error") << bad;
  }
  const TempFile jobs(kChronus), speeds(kSpeeds, ".json");
  EXPECT_THROW(import_files("chronus", {jobs.path(), speeds.path(), speeds.path()}), InvalidArgument);
  EXPECT_THROW(import_files("chronus", {speeds.path()}), InvalidArgument);
}

TEST(ImportChronus, TheRealWorkloadsHaveThePublishedCounts) {
  const std::string mix1 = test::trace_file("chronus/trace_job_Philly_MIX1.csv.gz"),
                    mix2 = test::trace_file("chronus/trace_job_Philly_MIX2.csv.gz"),
                    slo = test::trace_file("chronus/trace_job_Philly_SLO.csv.gz"), speeds = test::trace_file("chronus/model_info.json");
  if (mix1.empty() || mix2.empty() || slo.empty() || speeds.empty()) GTEST_SKIP() << "chronus/ is not here";

  const Trace one = import_trace("chronus", {mix1}), two = import_trace("chronus", {mix2, speeds}),
              all_hard = import_trace("chronus", {slo});

  EXPECT_EQ(kinds(one), (Kinds{30'756, 21'600, 0, 9'156}));
  EXPECT_EQ(one.dropped, (DropCounts{{"gpus <= 0", 184}}));
  EXPECT_EQ(kinds(two), (Kinds{30'746, 9'211, 18'410, 3'125}));
  EXPECT_EQ(two.dropped, (DropCounts{{"gpus <= 0", 194}}));
  EXPECT_EQ(kinds(all_hard), (Kinds{30'735, 30'735, 0, 0}));
  EXPECT_EQ(all_hard.jobs.back().submit_us, 20'151 * kSecond);
  EXPECT_EQ(std::count_if(two.jobs.begin(), two.jobs.end(), [](const TraceJob& job) { return !job.profile.empty(); }), 2'384);
  EXPECT_EQ(two.profiles.size(), 15u);  // five models on 2, 4 and 8 GPUs
  EXPECT_EQ(parse_trace(to_json(two)), two);
}

}  // namespace berth::io::import_chronus_test
