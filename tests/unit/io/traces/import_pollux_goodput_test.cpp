// Pollux's workloads with work counted as progress: by the gradient statistics, at the user's batch or at any.
#include <gtest/gtest.h>

#include "host/io/traces/importers.hpp"
#include "host/io/traces/pollux.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problem_of.hpp"

namespace berth::io::import_pollux_goodput_test {
namespace {

const std::string kEpochs = "progress,iteration,metric,grad_sqr,grad_var\n";

/// Steps of 8 and 16 samples. In the first epoch gradients do not vary, so a larger batch gives no more progress. In
/// the second they are only noise, and twice the batch gives twice the progress.
struct TwoEpochs {
  test::Folder folder;
  std::vector<std::string> files{
      folder.write("net/placements.csv",
                   "placement,local_bsz,step_time,sync_time\n"
                   "1,8,0.2,0.02\n1,16,0.3,0.02\n"
                   "2,4,0.125,0.05\n2,8,0.2,0.05\n"),
      folder.write("net/scalability.csv", "num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,4,2,0.3,0.2\n"),
      folder.write("net/validation-8.csv", kEpochs + "10,10,0,1,0\n20,20,0,0,1\n"),
      folder.write("net/validation-16.csv", kEpochs + "10.5,9,0,1,0\n21,15,0,0,1\n"),
      folder.write("w.csv",
                   "name,time,application,num_replicas,batch_size\n"
                   "a,0,net,2,8\nb,0,net,2,16\nc,0,net,1,16\n")};
  Trace trace(const char* format) const { return import_trace(format, files); }
  std::string problem(const std::string& epochs) const {
    return test::problem_of([&] {
      folder.write("net/validation-16.csv", kEpochs + epochs);
      trace("pollux-goodput");
    });
  }
};

}  // namespace

TEST(ImportPolluxGoodput, AtTheUsersBatchAnEpochIsItsProgressOverWhatAStepGetsOn) {
  const Trace trace = TwoEpochs().trace("pollux-progress");

  EXPECT_EQ(trace.name, "pollux-progress");
  ASSERT_EQ(trace.jobs.size(), 3u);
  const TraceJob &small = trace.jobs[0], &large = trace.jobs[1], &alone = trace.jobs[2];
  EXPECT_EQ(small.work, 20'000'000);  // the lowest of any run
  EXPECT_EQ(large.work, 20'000'000);
  EXPECT_EQ(large.profile, "net, batch 16");
  EXPECT_EQ(large.batch, 16);
  EXPECT_EQ(small.run_us, 2'500'000);  // 10 x 0.125 s + 10 x 0.125 s
  EXPECT_EQ(large.run_us, 3'000'000);  // 10 x 0.2 s + 5 x 0.2 s
  // One GPU, and more than the initial batch: two passes of 8, 0.2 + 0.18 s a step, though 16 fit.
  EXPECT_EQ(alone.run_us, 5'700'001);  // a rate is rounded down to a millionth
}

TEST(ImportPolluxGoodput, AtAnyBatchEachEpochTakesTheOneThatGetsItDoneSoonest) {
  const Trace trace = TwoEpochs().trace("pollux-goodput");

  ASSERT_EQ(trace.profiles.size(), 1u);
  EXPECT_EQ(trace.profiles[0].first, "net, goodput");
  // 1 GPU: 10 x 0.2 s, then 5 x 0.38 s. 2 GPUs: 10 x 0.125 s, then 5 x 0.2 s. 4 GPUs: 2 at once on each, 10 x 0.3 s, then
  // 5 x (0.3 + 0.1) s.
  EXPECT_EQ(trace.profiles[0].second.points,
            (std::vector<RatePoint>{{"T4", 1, 0, "", 5'128'205}, {"T4", 2, 0, "node", 8'888'888}, {"T4", 4, 0, "", 4'000'000}}));
  for (const TraceJob& job : trace.jobs) {
    EXPECT_EQ(job.batch, 0);
    EXPECT_TRUE(job.elastic);
    EXPECT_EQ(job.work, 20'000'000);
  }
  EXPECT_EQ(trace.jobs[0].run_us, 2'250'000);
}

TEST(ImportPolluxGoodput, ByEpochARateIsThatOfTheEpoch) {
  const Trace trace = TwoEpochs().trace("pollux-epochs");

  ASSERT_EQ(trace.profiles.size(), 2u);
  EXPECT_EQ(trace.profiles[0].first, "net, goodput of epoch 1");
  EXPECT_EQ(trace.profiles[0].second.points,
            (std::vector<RatePoint>{{"T4", 1, 0, "", 5'000'000}, {"T4", 2, 0, "node", 8'000'000}, {"T4", 4, 0, "", 3'333'333}}));
  EXPECT_EQ(trace.profiles[1].second.points,
            (std::vector<RatePoint>{{"T4", 1, 0, "", 5'263'157}, {"T4", 2, 0, "node", 10'000'000}, {"T4", 4, 0, "", 5'000'000}}));
  for (const TraceJob& job : trace.jobs) {
    EXPECT_EQ(job.profile, "net, goodput of epoch 1");
    EXPECT_EQ(job.phases, (std::vector<TracePhase>{{10'000'000, "net, goodput of epoch 2", 0, 1'000'000}}));
    EXPECT_EQ(job.work, 20'000'000);
    EXPECT_EQ(job.batch, 0);
    EXPECT_TRUE(job.elastic);
  }
  EXPECT_EQ(trace.jobs[0].run_us, 2'250'000);  // 1.25 s + 1 s, as one rate for both
  EXPECT_EQ(trace.jobs[2].run_us, 3'900'001);  // 2 s + 1.9 s
}

// 10 steps of 8 samples an epoch.
TEST(ImportPolluxGoodput, EveryFormatStatesEpochs) {
  for (const char* format : {"pollux", "pollux-progress", "pollux-goodput", "pollux-epochs"}) {
    const TraceJob job = TwoEpochs().trace(format).jobs.at(0);
    EXPECT_EQ(job.epochs_micro, 2'000'000) << format;
    EXPECT_EQ(job.dataset_size, 80) << format;
  }
}

// 1 / (1 + noise scale / batch) in another form: gains computed from square 0.01 and variance 0.5 at an initial batch
// of 128.
TEST(ImportPolluxGoodput, WhatAStepGetsOnIsTheFormulaOfPollux) {
  test::Folder folder;
  const auto gain = [&](const std::string& statistics, std::int32_t batch) {
    CsvReader row(folder.write("v.csv", kEpochs + "1,1,0," + statistics + "\n"));
    return read_pollux_validation(row, "net", batch, 128).epochs.at(0).gain_micro;
  };

  EXPECT_EQ(gain("0.01,0.5", 128), 1'000'000);
  EXPECT_EQ(gain("0.01,0.5", 256), 1'961'538);
  EXPECT_EQ(gain("0.01,0.5", 1024), 7'034'482);
  EXPECT_EQ(gain("0.01,0.5", 8192), 28'631'578);
  EXPECT_EQ(gain("1e-10,5e-9", 8192), 28'631'578);  // only the ratio counts
  EXPECT_EQ(gain("2e15,1e17", 8192), 28'631'578);
  EXPECT_EQ(gain("0,1e-12", 8192), 64'000'000);
  EXPECT_EQ(gain("4e-10,4e17", 2'000'000'000), 15'625'000'000'000);
}

TEST(ImportPolluxGoodput, BadStatisticsNameTheirPlace) {
  const TwoEpochs two;
  for (const char* bad : {"10,9,0,nan,1\n20,15,0,1,1\n", "10,9,0,1,-1\n20,15,0,1,1\n", "10,9,0,0,0\n20,15,0,1,1\n",
                          "10,9,0,1,1e19\n20,15,0,1,1\n", "10,9,0,1,1\n10,15,0,1,1\n", "-1,9,0,1,1\n20,15,0,1,1\n"}) {
    EXPECT_NE(two.problem(bad).find("validation-16.csv:"), std::string::npos) << bad << two.problem(bad);
  }
  EXPECT_NE(two.problem("10,9,0,0,0\n").find("column 'grad_var' (5): expected a gradient"), std::string::npos)
      << two.problem("10,9,0,0,0\n");
  EXPECT_EQ(two.problem("10,9,0,1,1\n20,15,0,1,1\n"), "no error");
}

}  // namespace berth::io::import_pollux_goodput_test
