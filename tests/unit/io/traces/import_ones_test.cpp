#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_ones_test {
namespace {

using test::TempFile;

const std::string kTrace = "time,model,task,epoch_size,patience,batch_size,lr,max_lr,target_acc,num_gpus\n";
const std::string kHistory = "id,epoch,epoch_size,num_samples,total_workload,batch_size,lr,initial_loss,loss,acc,throughput\n";
const std::string kProfile = "id,completion_time,execution_time,waiting_time\n";

Trace import_rows(const std::vector<std::string>& contents) {
  std::vector<std::unique_ptr<TempFile>> files;
  std::vector<std::string> paths;
  for (const std::string& content : contents) paths.push_back(files.emplace_back(std::make_unique<TempFile>(content))->path());
  return import_trace("ones", paths);
}

std::string problem(const std::vector<std::string>& contents) {
  return test::problem_of([&] { import_rows(contents); });
}

}  // namespace

TEST(ImportOnes, AJobHasTheWorkAndTheRatesOfTheHistoryJobsThatAreTrainedAlike) {
  // Two of the jobs have batch 64 and learning rate 0.002 on one GPU; one of these ran on 2 and 4 GPUs. The third has another rate.
  const Trace trace = import_rows({kTrace + "7,net,data,1000,5,64,2e-3,0.008,0.9,4\n3,net,data,1000,5,64,2.00e-03,0.008,0.9,4\n",
                                   kHistory + "0,1,1000,1000,6000,128,0.004,2,1,0.5,400\n0,2,1000,2000,6000,256,0.008,2,1,0.5,800\n"
                                              "1,1,1000,1000,9000,256,0.008,2,1,0.5,700\n1,2,1000,2000,9000,256,0.008,2,1,0.5,0\n"
                                              "2,1,1000,1000,50000,256,0.009,2,1,0.5,10\n"});

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "1");  // by submission; ids are rows
  EXPECT_EQ(trace.jobs[1].id, "0");
  const TraceJob& job = trace.jobs[0];
  EXPECT_EQ(job.submit_us, 3 * kSecond);
  EXPECT_EQ(job.model, "net data");
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.work, 7'500'000'000);  // mean of 6,000 and 9,000 samples
  EXPECT_EQ(job.epochs_micro, 7'500'000);
  EXPECT_EQ(job.dataset_size, 1'000);
  EXPECT_EQ(job.run_us, 10 * kSecond);  // at the mean of 800 and 700; a throughput of 0 was not measured
  EXPECT_TRUE(job.elastic);
  ASSERT_EQ(trace.profiles.size(), 1u);
  EXPECT_EQ(job.profile, trace.profiles[0].first);
  EXPECT_EQ(trace.profiles[0].second.unit, "samples");
  EXPECT_EQ(trace.profiles[0].second.points, (std::vector<RatePoint>{{"", 2, 0, "", 400'000'000}, {"", 4, 0, "", 750'000'000}}));
  EXPECT_EQ(parse_trace(to_json(trace)), trace);
}

TEST(ImportOnes, AnIdThatComesAgainIsAnotherJob) {
  // By its epoch, which begins again; and by the size of its epochs.
  const Trace trace = import_rows({kTrace + "0,net,data,1000,5,64,0.002,,0.9,1\n1,net,data,500,5,64,0.002,,0.9,1\n",
                                   kHistory + "0,1,1000,1000,2000,64,0.002,2,1,0.5,100\n0,2,1000,2000,2000,64,0.002,2,1,0.5,100\n"
                                              "0,1,1000,1000,6000,64,0.002,2,1,0.5,100\n0,2,500,6000,90000,64,0.002,2,1,0.5,100\n"});

  EXPECT_EQ(trace.jobs.at(0).work, 4'000'000'000);
  EXPECT_EQ(trace.jobs.at(1).work, 90'000'000'000);
}

TEST(ImportOnes, BeyondTheLargestLearningRateABatchDoesNotTellTheGpus) {
  const std::string history = kHistory + "0,1,1000,1000,2000,256,0.008,2,1,0.5,100\n";

  EXPECT_EQ(import_rows({kTrace + "0,n,d,1000,5,64,0.002,0.008,0.9,4\n", history}).jobs.size(), 1u);
  EXPECT_EQ(import_rows({kTrace + "0,n,d,1000,5,64,0.002,0.004,0.9,4\n", history}).dropped,
            (DropCounts{{"nothing like it in the history", 1}}));
  EXPECT_EQ(import_rows({kTrace + "0,n,d,1000,5,64,0.002,,0.9,4\n", history}).jobs.size(), 1u);  // there is no largest one
}

TEST(ImportOnes, JobsThatCannotBeTimedAreCountedByCause) {
  const Trace trace = import_rows({kTrace + "0,n,d,1000,5,64,0.002,0.008,0.9,4\n1,n,d,1000,5,64,0.002,0.008,0.9,2\n"
                                            "2,n,d,2000,5,64,0.002,0.008,0.9,4\n3,n,d,1000,5,64,0.002,0.008,0.9,0\n",
                                   kHistory + "0,1,1000,1000,2000,256,0.008,2,1,0.5,100\n"});

  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_FALSE(trace.jobs[0].elastic);  // one count was measured
  EXPECT_EQ(trace.dropped, (DropCounts{{"gpus <= 0", 1}, {"not on its GPUs in the history", 1}, {"nothing like it in the history", 1}}));
}

TEST(ImportOnes, AProfileStatesRunTimes) {
  const std::string rows = kTrace + "0,n,d,1000,5,64,0.002,0.008,0.9,4\n5,n,d,1000,5,64,0.002,0.008,0.9,4\n9,n,d,1,5,1,1,1,1,1\n";
  const Trace trace = import_rows({rows, kProfile + "1,90,70.5,19.5\n0,50,50,0\n"});

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].run_us, 50 * kSecond);
  EXPECT_EQ(trace.jobs[1].run_us, 70'500'000);
  EXPECT_EQ(trace.jobs[1].work, 0);
  EXPECT_EQ(trace.jobs[1].epochs_micro, 0);
  EXPECT_EQ(trace.dropped, (DropCounts{{"not in the profile", 1}}));

  // With the history the jobs report epochs, too. The times stay those of the profile, so that no work is stated.
  const Trace both = import_rows({kProfile + "0,50,50,0\n1,90,70.5,19.5\n", kHistory + "0,1,1000,1000,2500,256,0.008,2,1,0.5,100\n", rows});
  EXPECT_EQ(both.jobs.at(0).epochs_micro, 2'500'000);
  EXPECT_EQ(both.jobs.at(0).dataset_size, 1'000);
  EXPECT_EQ(both.jobs.at(0).run_us, 50 * kSecond);
  EXPECT_EQ(both.jobs.at(0).work, 0);
  EXPECT_TRUE(both.profiles.empty());
}

TEST(ImportOnes, BadInputNamesItsPlace) {
  const std::string one = kTrace + "0,n,d,1000,5,64,0.002,0.008,0.9,4\n", history = kHistory + "0,1,1000,1000,2000,256,0.008,2,1,0.5,100\n";
  EXPECT_THROW(import_rows({one}), InvalidArgument);
  EXPECT_THROW(import_rows({history}), InvalidArgument);
  EXPECT_THROW(import_rows({one, one, history}), InvalidArgument);
  EXPECT_THROW(import_rows({one, history, history}), InvalidArgument);
  EXPECT_THROW(import_rows({one, kProfile, kProfile}), InvalidArgument);
  EXPECT_NE(problem({one, kProfile + "1,5,5,0\n"}).find("it is of another trace"), std::string::npos);
  EXPECT_NE(problem({one, kProfile + "0,5,5,0\n0,5,5,0\n"}).find(":3: column 'id' (1)"), std::string::npos);
  EXPECT_NE(problem({one, kProfile + "0,5,-5,0\n"}).find(":2: column 'execution_time' (3)"), std::string::npos);
  for (const char* bad : {"-1,n,d,1000,5,64,0.002,0.008,0.9,4\n", "0,n,d,0,5,64,0.002,0.008,0.9,4\n", "0,n,d,1000,5,0,0.002,0.008,0.9,4\n",
                          "0,n,d,1000,5,64,x,0.008,0.9,4\n", "0,n,d,1000,5,64,0.002,-1,0.9,4\n", "0,n,d,1000,5,64,0.002,0.008,0.9,1.5\n"}) {
    EXPECT_NE(problem({kTrace + bad, history}).find(":2: column "), std::string::npos) << bad;
  }
  for (const char* bad : {"0,1,0,1000,2000,256,0.008,2,1,0.5,100\n", "0,1,1000,1000,0,256,0.008,2,1,0.5,100\n",
                          "0,1,1000,1000,2000,0,0.008,2,1,0.5,100\n", "0,1,1000,1000,2000,256,0.008,2,1,0.5,fast\n"}) {
    EXPECT_NE(problem({one, kHistory + bad}).find(":2: column "), std::string::npos) << bad;
  }
}

TEST(ImportOnes, TheRealTraceIsKnownToItsHistory) {
  const std::string jobs = test::trace_file("ones/trace_1.csv"), history = test::trace_file("ones/job_history.csv");
  if (jobs.empty() || history.empty()) GTEST_SKIP() << "ones/ is not here";

  const Trace trace = import_trace("ones", {jobs, history});

  EXPECT_EQ(trace.jobs.size(), 400u);
  EXPECT_TRUE(trace.dropped.empty());
  EXPECT_EQ(trace.jobs[49].submit_us, 1'568 * kSecond);
}

}  // namespace berth::io::import_ones_test
