#include <gtest/gtest.h>

#include <string>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_helios_test {
namespace {

using test::TempFile;

const std::string kSample = "job_id,arrival_s,service_sec,gpu_count\r\n";
const std::string kOfficial = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";
const std::string kQuota = "date,vcA,vcB,total\n2020-06-01,16,8,24\n2020-06-02,8,8,16\n2020-06-04,0,24,24\n";

Imported import(const std::string& text, const std::string& at = "") {
  const TempFile jobs(text), quota(kQuota);
  return import_files("helios-venus", {quota.path(), jobs.path()}, {at});
}

std::int64_t dropped(const Trace& trace, const std::string& cause) {
  for (const auto& [name, rows] : trace.dropped) {
    if (name == cause) return rows;
  }
  return 0;
}

}  // namespace

TEST(ImportHelios, SampleCountsFromItsPublishedStartAndMarksClampedRows) {
  const Trace trace =
      import(kSample + "12#1,60.0,172800.0,16\r\n11#0,0.0,172799.0,1\r\n13#2,60.5,0.0,2\r\n14#3,61.0,5.0,0\r\n15#4,62.0,5.0,-3\r\n").trace;

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.origin_iso, "2020-03-18T04:01:39");
  EXPECT_EQ(trace.jobs[0].id, "11#0");
  EXPECT_FALSE(trace.jobs[0].clamped);
  EXPECT_EQ(trace.jobs[1].submit_us, 60 * kSecond);
  EXPECT_EQ(trace.jobs[1].gpus, 16);
  EXPECT_TRUE(trace.jobs[1].clamped);
  EXPECT_EQ(dropped(trace, "run time <= 0"), 1);
  EXPECT_EQ(dropped(trace, "gpus <= 0"), 2);
}

TEST(ImportHelios, OfficialDropsCpuJobsAndUnfinishedOnesByCause) {
  const Trace trace = import(kOfficial +
                             "1,u1,vcA,8,32,1,COMPLETED,2020-06-01 10:00:05,2020-06-01 10:00:10,2020-06-01 11:00:10,3600,5\n"
                             "2,u2,vcB,0,4,1,COMPLETED,2020-06-01 09:00:00,2020-06-01 09:00:10,2020-06-01 09:00:20,10,10\n"
                             "3,u1,vcA,1,4,1,CANCELLED by 77,2020-06-01 10:00:00,2020-06-01 10:00:10,2020-06-01 10:00:20,99,10\n"
                             "4,u1,vcA,1,4,1,RUNNING,2020-06-01 10:00:00,2020-06-01 10:00:10,None,,\n"
                             "5,u1,vcA,1,4,1,FAILED,2020-06-01 10:00:00,2020-06-01 10:00:10,2020-06-01 10:00:10,0,10\n"
                             "6,u1,vcA,1,4,1,CANCELLED,2020-06-01 10:00:00,,,,\n"
                             "7,u1,vcA,2,4,1,NODE_FAIL,2020-06-01 10:00:07,2020-06-01 10:00:08,2020-06-01 10:00:09,1,1\n")
                          .trace;

  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.origin_iso, "2020-06-01T10:00:00");  // the CPU job an hour before does not count
  EXPECT_EQ(trace.jobs[0].id, "3");
  EXPECT_EQ(trace.jobs[0].status, "cancelled");
  EXPECT_EQ(trace.jobs[0].run_us, 10 * kSecond);  // end - start, not the 99 of the column
  EXPECT_EQ(trace.jobs[1].submit_us, 5 * kSecond);
  EXPECT_EQ(trace.jobs[1].run_us, 3'600 * kSecond);
  EXPECT_EQ(trace.jobs[1].user, "u1");
  EXPECT_EQ(trace.jobs[1].virtual_cluster, "vcA");
  EXPECT_EQ(trace.jobs[1].cpu_milli, 32'000);
  EXPECT_EQ(trace.jobs[2].status, "node_fail");
  EXPECT_EQ(dropped(trace, "CPU job (gpu_num 0)"), 1);
  EXPECT_EQ(dropped(trace, "state RUNNING"), 1);
  EXPECT_EQ(dropped(trace, "run time <= 0"), 1);
  EXPECT_EQ(dropped(trace, "no start or end time"), 1);
}

TEST(ImportHelios, BadValuesAreRefused) {
  EXPECT_THROW(import(kSample + "1#0,-1,5,1\n"), InputError);
  EXPECT_THROW(import(kSample + "1#0,0,nan,1\n"), InputError);
  EXPECT_THROW(import(kSample + "1#0,0,5,1.5\n"), InputError);
  EXPECT_THROW(import(kSample + "1#0,0,5,9223372036854775808\n"), InputError);
  EXPECT_THROW(import(kSample + ",0,5,1\n"), InputError);
  EXPECT_THROW(import(kSample + "1#0,0,5,1\n1#0,1,5,1\n"), InputError);
  EXPECT_THROW(import(kSample + "ali-x-worker#0,0,5,1\n"), InputError);
  EXPECT_THROW(import(kOfficial + "1,u,v,1,1,1,DONE,2020-06-01 10:00:00,2020-06-01 10:00:00,2020-06-01 10:00:01,1,0\n"), InputError);
  EXPECT_THROW(import(kOfficial + "1,u,v,1,1,1,FAILED,2020-06-31 10:00:00,2020-06-01 10:00:00,2020-06-01 10:00:01,1,0\n"), InputError);
  EXPECT_THROW(import(kSample + "1\x07#0,0,5,1\n"), InputError);
  EXPECT_THROW(import(kSample + std::string(2'000, 'x') + ",0,5,1\n"), InputError);
  EXPECT_THROW(import(kOfficial + "1,u,v,1,1,1,FAILED,0000-01-01 00:00:00,0000-01-01 00:00:00,9999-01-01 00:00:00,1,0\n"), InputError);
  EXPECT_THROW(import("job_id,arrival_s,service_sec\n"), InputError);
}

TEST(ImportHelios, QuotasOfTheDayBecomeNodesOfEightGpus) {
  const std::string jobs = kOfficial + "1,u1,vcA,8,32,1,COMPLETED,2020-06-01 10:00:05,2020-06-01 10:00:10,2020-06-01 11:00:10,3600,5\n";

  const Snapshot first = *import(jobs).cluster;
  const Snapshot third = *import(jobs, "2020-06-03 10:00:00").cluster;     // not in the file: the day before
  const Snapshot before = *import(kSample + "1#0,0,5,1\n", "+0").cluster;  // 2020-03-18: before all

  ASSERT_EQ(first.nodes.size(), 3u);
  EXPECT_EQ(first.nodes[0].id, "vcA-000");
  EXPECT_EQ(first.nodes[0].gpus, 8);
  EXPECT_EQ(first.nodes[0].virtual_clusters, std::vector<std::string>{"vcA"});
  EXPECT_EQ(third.nodes.size(), 2u);
  EXPECT_EQ(before.nodes.size(), 3u);
  EXPECT_TRUE(before.nodes[0].virtual_clusters.empty());  // the sample names no virtual clusters
}

TEST(ImportHelios, QuotaFilesAreChecked) {
  const TempFile jobs(kSample + "1#0,0,5,1\n");
  for (const char* bad :
       {"date,vcA,total\n2020-06-01,8,16\n", "date,vcA,total\n2020-06-01,4,4\n", "date,vcA,total\n2020-6-1,8,8\n", "date,vcA,total\n"}) {
    const TempFile quota(bad);

    EXPECT_THROW(import_files("helios-venus", {jobs.path(), quota.path()}), InputError) << bad;
  }
}

TEST(ImportHelios, ExactlyOneFileOfJobs) {
  const TempFile jobs(kSample + "1#0,0,5,1\n"), quota(kQuota);

  EXPECT_THROW(import_files("helios-venus", {}), InvalidArgument);
  EXPECT_THROW(import_files("helios-venus", {quota.path()}), InvalidArgument);
  EXPECT_THROW(import_files("helios-venus", {jobs.path(), jobs.path()}), InvalidArgument);
  EXPECT_THROW(import_files("helios", {jobs.path()}), InvalidArgument);
}

}  // namespace berth::io::import_helios_test
