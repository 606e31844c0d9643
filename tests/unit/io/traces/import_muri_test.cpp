#include <gtest/gtest.h>

#include <array>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_muri_test {
namespace {

using test::TempFile;

const std::string kMuri =
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,resource_time_1,"
    "resource_time_2,priority\n";

Trace muri(const std::string& rows) {
  const TempFile file(kMuri + rows);
  return import_trace("muri", {file.path()});
}

std::string problem(const std::string& content) {
  const TempFile file(content);
  return test::problem_of([&] { import_trace("muri", {file.path()}); });
}

}  // namespace

TEST(ImportMuri, TimesAreMilliseconds) {
  const Trace trace = muri("4,8,1500,20,vgg16,16,5000,1500,250,82,0.5,66,1\n");

  ASSERT_EQ(trace.jobs.size(), 1u);
  const TraceJob& job = trace.jobs[0];
  EXPECT_EQ(job.submit_us, 1'500'000);
  EXPECT_EQ(job.run_us, 5 * kSecond);
  EXPECT_EQ(job.priority, 1);
  EXPECT_EQ(job.batch, 0);  // of one GPU or of all? not stated
  EXPECT_EQ(job.profile, "vgg16, batch 16, 8 GPUs");
  EXPECT_EQ(job.work, 20'000'000);
  ASSERT_EQ(trace.profiles.size(), 1u);
  const Profile& profile = trace.profiles[0].second;
  EXPECT_EQ(profile.kind, ProfileKind::kTable);
  EXPECT_EQ(profile.unit, "steps");
  EXPECT_EQ(profile.points, (std::vector<RatePoint>{{"", 8, 0, "", 4'000'000}}));  // 250 ms a step
  EXPECT_EQ(profile.stage_us, (std::vector<TimeUs>{82'000, 500, 66'000}));
}

TEST(ImportMuri, ADurationThatIsNotItsIterationsCountsAndTheWorkIsNotStated) {
  const Trace trace = muri("1,1,0,20,m,1,5999,0,250,1,1,1,0\n2,1,0,20,m,1,6000,0,250,1,1,1,0\n3,1,0,20,m,1,4000,0,250,1,1,1,0\n");

  EXPECT_EQ(trace.jobs[0].work, 20'000'000);  // rounded to a second
  EXPECT_EQ(trace.jobs[1].work, 0);
  EXPECT_EQ(trace.jobs[2].work, 0);
  EXPECT_EQ(trace.jobs[1].run_us, 6 * kSecond);
  EXPECT_NE(trace.notes.at(2).find("2 jobs with another duration than iterations x iteration_time"), std::string::npos);
}

TEST(ImportMuri, OneModelMeasuredTwiceHasTwoProfiles) {
  const Trace trace = muri("1,1,0,4,m,1,1000,0,250,1,1,1,0\n2,1,0,5,m,1,1000,0,200,1,1,1,0\n3,1,0,4,m,1,1000,0,250,1,1,1,0\n");

  ASSERT_EQ(trace.profiles.size(), 2u);
  EXPECT_EQ(trace.jobs[0].profile, "m, batch 1, 1 GPU");
  EXPECT_EQ(trace.jobs[1].profile, "m, batch 1, 1 GPU (2)");
  EXPECT_EQ(trace.jobs[2].profile, trace.jobs[0].profile);
  EXPECT_EQ(parse_trace(to_json(trace)), trace);
}

TEST(ImportMuri, AllMayBeSubmittedAtOnceAndDroppedRowsLeaveNoProfile) {
  const Trace trace = muri("b,2,0,4,m,1,1000,77,250,1,1,1,0\na,0,0,4,n,1,1000,0,250,1,1,1,0\nc,1,0,4,o,1,0,0,250,1,1,1,0\n");

  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.dropped, (DropCounts{{"gpus <= 0", 1}, {"run time <= 0", 1}}));
  EXPECT_EQ(trace.profiles.size(), 1u);
}

TEST(ImportMuri, BadInputNamesItsPlace) {
  EXPECT_NE(problem("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n").find("no column 'priority'"),
            std::string::npos);
  EXPECT_NE(problem(kMuri + "1,1,0,4,m,1,1000,0,0,1,1,1,0\n").find(":2: column 'iteration_time' (9)"), std::string::npos);
  for (const char* bad : {"1,1,-1,4,m,1,1000,0,250,1,1,1,0\n", "1,1,0,4,m,1,nan,0,250,1,1,1,0\n", "1,1,0,-4,m,1,1000,0,250,1,1,1,0\n",
                          "1,1,0,4,m,1,1000,0,-250,1,1,1,0\n", "1,1,0,4,m,1,1000,0,250,-1,1,1,0\n", "1,1,0,4,m,1,1000,0,1e30,1,1,1,0\n",
                          "1,1,0,4,m,1,1000,0,250,1,1,1,high\n", "1,1,0,4,m,1,9999999999999999,0,250,1,1,1,0\n", "1,1,0,4,m,1,1000\n"}) {
    EXPECT_NE(problem(kMuri + bad).find(":2: "), std::string::npos) << bad << problem(kMuri + bad);
  }
}

TEST(ImportMuri, TheRealTracesHaveThePublishedCounts) {
  const std::string trace1 = test::trace_file("muri/trace-data/trace1.csv.gz"), trace3 = test::trace_file("muri/trace-data/trace3.csv.gz"),
                    preloaded = test::trace_file("muri/trace-data/trace1_pr.csv.gz"), spec = test::trace_file("muri/n8g8.csv"),
                    testbed = test::trace_file("muri/testbed_cluster_trace.csv");
  if (trace1.empty() || trace3.empty() || preloaded.empty() || spec.empty() || testbed.empty()) GTEST_SKIP() << "muri/ is not here";
  const auto facts = [](const Trace& trace) {
    std::int64_t gpus = 0, run_s = 0, urgent = 0, with_work = 0;
    for (const TraceJob& job : trace.jobs) {
      gpus += job.gpus;
      run_s += job.run_us / kSecond;
      urgent += job.priority;
      with_work += job.work > 0 ? 1 : 0;
    }
    return std::array<std::int64_t, 6>{static_cast<std::int64_t>(trace.jobs.size()),    gpus, run_s, urgent, with_work,
                                       static_cast<std::int64_t>(trace.profiles.size())};
  };

  const Imported one = import_files("muri", {trace1, spec});

  EXPECT_EQ(facts(one.trace), (std::array<std::int64_t, 6>{1'494, 7'398, 374'174'936, 749, 1'494, 44}));
  EXPECT_EQ(facts(import_trace("muri", {trace3})), (std::array<std::int64_t, 6>{992, 9'346, 46'489'935, 488, 992, 42}));
  EXPECT_EQ(import_trace("muri", {preloaded}).jobs.back().submit_us, 0);
  EXPECT_EQ(one.trace.jobs.back().submit_us, 10'817'570 * kSecond);
  EXPECT_EQ(facts(import_trace("muri", {testbed})), (std::array<std::int64_t, 6>{400, 3'766, 22'861'225, 186, 22, 42}));
  ASSERT_EQ(one.cluster->nodes.size(), 8u);
  EXPECT_EQ(one.cluster->nodes[0].gpus, 8);
  EXPECT_EQ(parse_trace(to_json(one.trace)), one.trace);
  EXPECT_NO_THROW(check_snapshot(sim::snapshot_at(one.trace, *one.cluster, 1'000'000 * kSecond)));
}

}  // namespace berth::io::import_muri_test
