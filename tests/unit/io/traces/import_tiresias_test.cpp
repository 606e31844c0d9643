#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_tiresias_test {
namespace {

using test::TempFile;

const std::string kTiresias = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
const std::string kSpec = "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n";

Trace tiresias(const std::string& rows) {
  const TempFile file(kTiresias + rows);
  return import_trace("tiresias", {file.path()});
}

std::string problem(const std::string& content) {
  const TempFile file(content);
  return test::problem_of([&] { import_trace("tiresias", {file.path()}); });
}

}  // namespace

TEST(ImportTiresias, TimesAreSecondsAndRowsAreSorted) {
  const Trace trace = tiresias("7,8,100,50,vgg16,3600,10\n2,1,0,9,resnet50,60.5,0\n");

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "2");
  EXPECT_EQ(trace.jobs[0].run_us, 60'500'000);
  EXPECT_EQ(trace.jobs[1].submit_us, 100 * kSecond);
  EXPECT_EQ(trace.jobs[1].run_us, 3600 * kSecond);
  EXPECT_EQ(trace.jobs[1].gpus, 8);
  EXPECT_EQ(trace.jobs[1].model, "vgg16");
  EXPECT_TRUE(trace.origin_iso.empty());
}

TEST(ImportTiresias, RowsWithoutGpusOrRunTimeAreCounted) {
  const Trace trace = tiresias("1,0,0,1,m,5,0\n2,1,0,1,m,0,0\n3,1,0,1,m,-5,0\n4,1,0,1,m,5,0\n");

  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.dropped, (DropCounts{{"gpus <= 0", 1}, {"run time <= 0", 2}}));
}

TEST(ImportTiresias, TheClusterFileGivesSwitchesOfNodes) {
  const TempFile jobs(kTiresias + "1,1,0,1,m,5,0\n"), spec(kSpec + "2,3,4,128,256");

  const Snapshot cluster = *import_files("tiresias", {spec.path(), jobs.path()}).cluster;

  ASSERT_EQ(cluster.nodes.size(), 6u);
  EXPECT_EQ(cluster.nodes[3].domain[0], "switch1");
  EXPECT_EQ(cluster.nodes[3].gpus, 4);
  EXPECT_EQ(cluster.nodes[3].cpu_milli, 128'000);
  EXPECT_EQ(cluster.nodes[3].memory_bytes, kUnlimited);  // its unit is not stated
  EXPECT_EQ(cluster.domains.size(), 2u);
  EXPECT_NO_THROW(check_snapshot(cluster));
}

TEST(ImportTiresias, ABadClusterFileNamesItsPlace) {
  const TempFile jobs(kTiresias + "1,1,0,1,m,5,0\n");
  const auto with = [&](const std::string& rows) {
    const TempFile spec(kSpec + rows);
    return test::problem_of([&] { import_files("tiresias", {jobs.path(), spec.path()}); });
  };

  EXPECT_NE(with("").find("no row that describes the cluster"), std::string::npos);
  EXPECT_NE(with("1,1,4,1,1\n1,1,4,1,1\n").find(":3: a second row"), std::string::npos);
  EXPECT_NE(with("1,1,65,1,1\n").find("column 'num_gpu_p_node' (3)"), std::string::npos);
  EXPECT_NE(with("4000000,2,1,1,1\n").find("column 'num_node_p_switch' (2)"), std::string::npos);
}

TEST(ImportTiresias, TracesOfItsDescendantsAreNotTakenForIt) {
  EXPECT_NE(problem("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time\n").find("milliseconds"),
            std::string::npos);
  EXPECT_NE(problem("job_id,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list\n").find("format chronus"),
            std::string::npos);
  EXPECT_NE(problem("job_id,submit_time,real_iteration,model_name,ddl,num_gpu,duration\n").find("ElasticFlow"), std::string::npos);
}

TEST(ImportTiresias, BadInputNamesItsPlace) {
  const std::string row = "1,1,0,1,m,5,0\n";
  EXPECT_NE(problem("job_id,num_gpu\n").find("no column 'submit_time'"), std::string::npos) << problem("job_id,num_gpu\n");
  EXPECT_NE(problem("").find("empty"), std::string::npos);
  EXPECT_NE(problem(kTiresias + row + "1,1,0,1,m,5,0\n").find(":3: job id '1' occurs twice"), std::string::npos);
  EXPECT_NE(problem(kTiresias + row + "2,1,0\n").find(":3: "), std::string::npos);  // cut off
  for (const char* bad : {"x,1,nan,1,m,5,0\n", "x,1,-1,1,m,5,0\n", "x,1,0,1,m,inf,0\n", "x,1,0,1,m,1e99,0\n", "x,1.5,0,1,m,5,0\n",
                          "x,99999999999999999999,0,1,m,5,0\n", ",1,0,1,m,5,0\n", "x,1,0,1,m,999999999999,0\n"}) {
    EXPECT_NE(problem(kTiresias + bad).find(":2: "), std::string::npos) << bad << problem(kTiresias + bad);
  }
}

TEST(ImportTiresias, TwoFilesOfJobsOrNoneAreRefused) {
  const TempFile jobs(kTiresias), spec(kSpec + "1,1,4,1,1\n");

  EXPECT_THROW(import_files("tiresias", {jobs.path(), jobs.path()}), InvalidArgument);
  EXPECT_THROW(import_files("tiresias", {spec.path()}), InvalidArgument);
  EXPECT_THROW(import_files("tiresias", {spec.path(), jobs.path(), spec.path()}), InvalidArgument);
}

}  // namespace berth::io::import_tiresias_test
