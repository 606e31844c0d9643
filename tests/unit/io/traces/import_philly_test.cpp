#include <gtest/gtest.h>

#include <string>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_philly_test {
namespace {

using test::TempFile;

const std::string kCsv = "timestamp,duration,num_gpus,gpu_time,cluster\n";
const std::string kMachines = "machineId, number of GPUs, single GPU mem\nm1,2, 12GB\nm2,8, 24GB\nm10,8, 24GB\nm3,2, 12GB\n";

Trace import(const std::string& text, const std::string& tail = ".csv") {
  const TempFile file(text, tail);
  return import_trace("philly", {file.path()});
}

bool notes_contain(const Trace& trace, const std::string& text) {
  for (const std::string& note : trace.notes) {
    if (note.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST(ImportPhilly, UnsortedRowsAreSortedAndCountedFromTheFirst) {
  const Trace trace = import(kCsv +
                             "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
                             "2017-10-09 06:13:03,0.5,4,2.0,6214e9\n\n");

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.origin_iso, "2017-10-09T06:13:03");
  EXPECT_EQ(trace.jobs[0].id, "6214e9-20171009T061303-4g-1");
  EXPECT_EQ(trace.jobs[0].submit_us, 0);
  EXPECT_EQ(trace.jobs[0].run_us, 500'000);
  EXPECT_EQ(trace.jobs[0].gpus, 4);
  EXPECT_EQ(trace.jobs[0].virtual_cluster, "6214e9");
  EXPECT_EQ(trace.jobs[1].submit_us, 2'932 * kSecond);
}

TEST(ImportPhilly, EqualRowsStayApartWhateverTheirOrder) {
  const std::string a = "2017-10-09 07:00:00,66.0,1,66.0,v\n", b = "2017-10-09 07:00:00,7.0,1,7.0,v\n",
                    c = "2017-10-09 07:00:00,7.0,2,14.0,v\n";

  const Trace one = import(kCsv + a + a + b + c), other = import(kCsv + c + b + a + a);

  ASSERT_EQ(one.jobs.size(), 4u);
  EXPECT_EQ(one.jobs, other.jobs);
}

TEST(ImportPhilly, IdsDoNotRevealWhichOfEqualJobsIsLonger) {
  int longer_first = 0;
  for (int i = 1; i <= 40; ++i) {
    const std::string row = "2017-10-09 07:00:00,";
    const Trace trace = import(kCsv + row + std::to_string(i) + ",1," + std::to_string(i) + ",v\n" + row + std::to_string(i + 9) + ",1," +
                               std::to_string(i + 9) + ",v\n");
    longer_first += trace.jobs[0].run_us > trace.jobs[1].run_us ? 1 : 0;
  }

  EXPECT_GT(longer_first, 8);
  EXPECT_LT(longer_first, 32);
}

TEST(ImportPhilly, TheHourThatOccursTwiceIsNoted) {
  const Trace trace = import(kCsv +
                             "2017-11-05 00:59:59,1.0,1,1.0,v\n2017-11-05 01:00:00,1.0,1,1.0,v\n"
                             "2017-11-05 01:59:59,1.0,1,1.0,v\n2017-11-05 02:00:00,1.0,1,1.0,v\n");

  EXPECT_TRUE(notes_contain(trace, "2 jobs were submitted"));
  EXPECT_EQ(trace.jobs.back().submit_us, 3'601 * kSecond);  // an even wall clock is assumed
}

TEST(ImportPhilly, GpuTimeGuardsTheUnits) {
  EXPECT_THROW(import(kCsv + "2017-10-09 07:01:55,66.0,2,66.0,v\n"), InputError);
  EXPECT_THROW(import(kCsv + "2017-10-09 07:01:55,1e3,1,1e3,v\n"), InputError);
  EXPECT_THROW(import(kCsv + "2017-10-09 07:01:55,None,1,1,v\n"), InputError);
  EXPECT_THROW(import(kCsv + "10/09/2017 07:01,1,1,1,v\n"), InputError);
}

TEST(ImportPhilly, OfficialLogFollowsTheAttemptsRule) {
  const std::string gpus = R"("detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]})";
  const auto attempt = [&](const std::string& from, const std::string& to) {
    return R"({"start_time": )" + from + R"(, "end_time": )" + to + ", " + gpus;
  };
  const std::string one = R"("2017-10-07 01:00:00")", two = R"("2017-10-07 01:00:30")", three = R"("2017-10-07 02:00:00")",
                    four = R"("2017-10-07 02:00:05")";
  const auto job = [](const std::string& id, const std::string& status, const std::string& attempts, const std::string& submitted) {
    return R"({"status": ")" + status + R"(", "vc": "ee9e8c", "jobid": ")" + id + R"(", "user": "u1", "attempts": [)" + attempts +
           R"(], "submitted_time": )" + submitted + "}";
  };
  const std::string submitted = R"("2017-10-07 00:59:00")";

  const Trace trace = import("[" + job("a", "Pass", attempt(one, two) + "," + attempt(three, four), submitted) + "," +               //
                                 job("b", "Killed", attempt(one, "null"), submitted) + "," +                                         //
                                 job("c", "Failed", "", submitted) + "," +                                                           //
                                 job("d", "Failed", R"({"start_time": null, "end_time": "None", "detail": []})", submitted) + "," +  //
                                 job("e", "Pass", attempt(one, two), R"("None")") + "," +                                            //
                                 job("f", "Killed", attempt(one, one), submitted) + "]",
                             ".json");

  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, "a");
  EXPECT_EQ(trace.jobs[0].run_us, 35 * kSecond);
  EXPECT_EQ(trace.jobs[0].gpus, 3);
  EXPECT_EQ(trace.jobs[0].status, "completed");
  EXPECT_EQ(trace.jobs[0].user, "u1");
  EXPECT_EQ(trace.dropped, (DropCounts{{"no attempt", 1},
                                       {"no attempt with start, end and GPUs", 1},
                                       {"no submission time", 1},
                                       {"run time <= 0", 1},
                                       {"still running", 1}}));
  EXPECT_TRUE(notes_contain(trace, "sum over the attempts"));
}

TEST(ImportPhilly, OfficialLogIsRefusedWithItsPlace) {
  try {
    import("[{\"jobid\": \"a\",\n \"submitted_time\": \"2017-10-07\", \"attempts\": []}]", ".json");
    FAIL() << "a date without time was read";
  } catch (const InputError& e) {
    EXPECT_EQ(e.line(), 2);
    EXPECT_EQ(e.pointer(), "/0/submitted_time");
  }
  EXPECT_THROW(import("[{\"jobid\": \"a\", \"status\": \"Done\"}]", ".json"), InputError);
  EXPECT_THROW(import("[{\"status\": \"Pass\", \"attempts\": []}]", ".json"), InputError);
  EXPECT_THROW(import("[{\"jobid\": \"a\"}", ".json"), InputError);
}

TEST(ImportPhilly, MachinesBecomeTypesBySizeOfMemory) {
  const TempFile jobs(kCsv + "2017-10-09 07:01:55,66.0,1,66.0,a\n"), machines(kMachines), vcs("vc,node num\na,2\nb,1\n");

  const Imported plain = import_files("philly", {jobs.path(), machines.path()});
  const Imported dealt = import_files("philly", {vcs.path(), jobs.path(), machines.path()});

  ASSERT_EQ(plain.cluster->nodes.size(), 4u);
  ASSERT_EQ(plain.cluster->gpu_types.size(), 2u);
  EXPECT_EQ(plain.cluster->gpu_types[0].id, "12GB");
  EXPECT_EQ(plain.cluster->gpu_types[1].memory_bytes, std::int64_t{24} << 30);
  EXPECT_EQ(plain.cluster->nodes[1].gpus, 8);
  EXPECT_TRUE(plain.cluster->nodes[1].virtual_clusters.empty());
  // Order of the fractions: a at 1/4 and 3/4, b at 1/2, the rest at 1/2; machines m2, m10 (8 GPUs), m1, m3.
  EXPECT_EQ(dealt.cluster->nodes[1].virtual_clusters, std::vector<std::string>{"a"});
  EXPECT_EQ(dealt.cluster->nodes[2].virtual_clusters, std::vector<std::string>{"b"});
  EXPECT_TRUE(dealt.cluster->nodes[0].virtual_clusters.empty());
  EXPECT_EQ(dealt.cluster->nodes[3].virtual_clusters, std::vector<std::string>{"a"});
}

TEST(ImportPhilly, MachinesAreDealtFromTheMiddleOfEachShare) {
  const TempFile jobs(kCsv + "2017-10-09 07:01:55,66.0,1,66.0,a\n"), machines(kMachines), vcs("vc,node num\na,3\nb,1\n");

  const Snapshot cluster = *import_files("philly", {vcs.path(), jobs.path(), machines.path()}).cluster;

  // Order of the fractions: a at 1/6, 3/6, 5/6, b at 1/2; machines m2, m10, m1, m3.
  ASSERT_EQ(cluster.nodes.size(), 4u);
  EXPECT_EQ(cluster.nodes[1].virtual_clusters, std::vector<std::string>{"a"});
  EXPECT_EQ(cluster.nodes[2].virtual_clusters, std::vector<std::string>{"a"});
  EXPECT_EQ(cluster.nodes[0].virtual_clusters, std::vector<std::string>{"b"});
  EXPECT_EQ(cluster.nodes[3].virtual_clusters, std::vector<std::string>{"a"});
}

TEST(ImportPhilly, ClusterFilesAreChecked) {
  const TempFile jobs(kCsv + "2017-10-09 07:01:55,66.0,1,66.0,a\n"), machines(kMachines), many("vc,node num\na,5\n"),
      twice("vc,node num\na,1\na,1\n"), memory("machineId, number of GPUs, single GPU mem\nm1,2,12\n"),
      same("machineId, number of GPUs, single GPU mem\nm1,2,12GB\nm1,2,12GB\n"),
      huge("machineId, number of GPUs, single GPU mem\nm1,65,12GB\n");

  EXPECT_THROW(import_files("philly", {jobs.path(), many.path()}), InvalidArgument);
  EXPECT_THROW(import_files("philly", {jobs.path(), machines.path(), many.path()}), InvalidArgument);
  EXPECT_THROW(import_files("philly", {jobs.path(), machines.path(), twice.path()}), InputError);
  EXPECT_THROW(import_files("philly", {jobs.path(), memory.path()}), InputError);
  EXPECT_THROW(import_files("philly", {jobs.path(), same.path()}), InputError);
  EXPECT_THROW(import_files("philly", {jobs.path(), huge.path()}), InputError);
}

TEST(ImportPhilly, AJobOfTheLogIsRefusedWithItsPlace) {
  const std::string job = R"({"jobid":"a","submitted_time":"2017-10-09 07:00:00","attempts":[{"start_time":"2017-10-09 07:00:00",
"end_time":"2017-10-09 08:00:00","detail":[{"gpus":["gpu0"]}]}]})";
  const TempFile file("[" + job + ",\n" + job + "]", ".json");

  EXPECT_EQ(test::problem_of([&] { import_trace("philly", {file.path()}); }), file.path() + ":3: /1: job id 'a' occurs twice");
}

TEST(ImportPhilly, AFileWithoutJobsIsReportedAsSuch) {
  EXPECT_TRUE(notes_contain(import("[]", ".json"), "there is no job in it"));
  EXPECT_TRUE(notes_contain(import(kCsv), "there is no job in it"));
  EXPECT_FALSE(notes_contain(import(kCsv + "2017-10-09 07:01:55,66.0,-1,-66.0,11cb48\n"), "there is no job in it")) << "one is left out";
}

}  // namespace berth::io::import_philly_test
