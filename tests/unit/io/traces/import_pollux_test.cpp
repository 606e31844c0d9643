#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/pollux.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_pollux_test {
namespace {

namespace fs = std::filesystem;

const std::string kWorkload = "name,time,application,num_replicas,batch_size\n";
const std::string kPlacements =
    "placement,local_bsz,step_time,sync_time\n"
    "1,4,0.1,0.02\n1,8,0.2,0.02\n"
    "2,4,0.125,0.05\n2,8,0.25,0.05\n"
    "11,4,0.25,0.1\n"
    "14,4,0.5,0.1\n";
// Two localities for 8 GPUs; columns in another order, as in Sia.
const std::string kScalability = "local_bsz,num_replicas,num_nodes,step_time,sync_time\n4,8,8,2,1\n4,8,2,1,0.5\n";
const std::string kValidation = "progress,iteration,metric,grad_sqr,grad_var\n10.5,100,1,2,3\n21.5,250,1,2,3\n";

struct Measured {
  test::Folder folder;
  std::vector<std::string> files;
  explicit Measured(const std::string& placements = kPlacements, const std::string& scalability = kScalability,
                    const std::string& validation = kValidation, const std::string& application = "net") {
    files = {folder.write(application + "/placements.csv", placements), folder.write(application + "/scalability.csv", scalability),
             folder.write(application + "/validation-16.csv", validation)};
  }
  std::vector<std::string> with(const std::string& rows) {
    std::vector<std::string> all = files;
    all.push_back(folder.write("workload.csv", rows));
    return all;
  }
  std::string problem(const std::string& rows) {
    return test::problem_of([&] { import_trace("pollux", with(rows)); });
  }
};

}  // namespace

TEST(ImportPollux, TheWorkIsTheIterationsUntilTheLastEpochAtItsBatch) {
  Measured measured;

  const Trace trace = import_trace("pollux", measured.with(kWorkload + "net-1,7.5,net,2,16\nnet-0,7,net,1,16\n"));

  ASSERT_EQ(trace.jobs.size(), 2u);
  const TraceJob &one = trace.jobs[0], &two = trace.jobs[1];
  EXPECT_EQ(one.id, "net-0");
  EXPECT_EQ(one.work, 250'000'000);
  EXPECT_EQ(one.epochs_micro, 2'000'000);
  EXPECT_EQ(one.dataset_size, 2'000);  // 125 iterations an epoch
  EXPECT_EQ(one.batch, 16);
  EXPECT_EQ(one.profile, "net, batch 16");
  EXPECT_TRUE(one.elastic);
  // 16 samples on a GPU are two passes of 8: 0.2 s, and 0.18 s without synchronising.
  EXPECT_EQ(one.run_us, 95'000'034);
  EXPECT_EQ(two.run_us, 62'500'000);  // 8 on each of two: 0.25 s a step
  EXPECT_EQ(two.submit_us, 7'500'000);
}

TEST(ImportPollux, AProfileHasThePlacementsThatWereMeasuredMostCompactFirst) {
  Measured measured;

  const Trace trace = import_trace("pollux", measured.with(kWorkload + "a,0,net,2,16\n"));

  // 16 on 2 nodes of one GPU would be 8 a GPU: two passes of the 4 that were measured there. 5 GPUs: 4 a GPU, 8 GPUs: 2, never measured.
  EXPECT_EQ(trace.profiles.at(0).second.points,
            (std::vector<RatePoint>{
                {"T4", 1, 0, "", 2'631'578}, {"T4", 2, 0, "node", 4'000'000}, {"T4", 2, 0, "", 2'500'000}, {"T4", 5, 0, "", 2'000'000}}));
}

TEST(ImportPollux, MoreGpusThanPlacementsHoldComeFromScalabilityOnTheFewestNodes) {
  Measured measured;
  measured.files.push_back(measured.folder.write("net/validation-32.csv", kValidation));

  const Trace trace = import_trace("pollux", measured.with(kWorkload + "a,0,net,8,32\n"));

  EXPECT_EQ(trace.jobs.at(0).run_us, 250 * kSecond);
  EXPECT_EQ(trace.profiles.at(0).second.points.back(), (RatePoint{"T4", 8, 0, "", 1'000'000}));
}

TEST(ImportPollux, BetweenTwoMeasuredBatchesAStepIsLinear) {
  const PolluxSteps steps{{4, {100, 20}}, {8, {200, 60}}};

  EXPECT_EQ(pollux_step_ns(steps, 1, 5, 0), 125);
  EXPECT_EQ(pollux_step_ns(steps, 2, 16, 0), 200);
  EXPECT_EQ(pollux_step_ns(steps, 1, 17, 0), 150 + 2 * (150 - 40));  // three passes of 6
  EXPECT_EQ(pollux_step_ns(steps, 1, 8, 4), 100 + 80);               // a limit below the measured batches
  EXPECT_EQ(pollux_step_ns(steps, 2, 6, 0), std::nullopt);           // 3 on each: never measured
  EXPECT_EQ(pollux_step_ns({}, 1, 8, 0), std::nullopt);
}

TEST(ImportPollux, AStepOfMorePassesThanCanBeCountedIsTheLongest) {
  const PolluxSteps steps{{1, {1'000'000'000'000'000, 0}}};

  EXPECT_EQ(pollux_step_ns(steps, 1, 9'000, 0), 9'000'000'000'000'000'000);
  EXPECT_EQ(pollux_step_ns(steps, 1, INT32_MAX, 0), INT64_MAX);
}

TEST(ImportPollux, ASnapshotOnT4sIsElasticAndElsewhereARunTimeIsLeft) {
  Measured measured;
  const Trace trace = import_trace("pollux", measured.with(kWorkload + "a,0,net,2,16\n"));

  const Job job = sim::snapshot_at(trace, cluster_from("2x4xT4", {}), 0, sim::EstimateSource::kNone, true).jobs.at(0);
  const Job other = sim::snapshot_at(trace, uniform_cluster(2, 4), 0, sim::EstimateSource::kNone, true).jobs.at(0);

  ASSERT_EQ(job.shapes.size(), 3u);
  EXPECT_EQ(job.shapes[0].id, "2xT4");
  EXPECT_EQ(job.shapes[0].local_batch, 8);
  EXPECT_EQ(job.shapes[2].id, "5xT4");
  EXPECT_EQ(other.shapes.size(), 1u);
  EXPECT_EQ(other.profile.kind, ProfileKind::kOpaque);
}

TEST(ImportPollux, WhatIsMissingIsNamed) {
  Measured measured;
  EXPECT_NE(measured.problem(kWorkload + "a,0,other,2,16\n").find("other/placements.csv is missing"), std::string::npos);
  EXPECT_NE(measured.problem(kWorkload + "a,0,net,2,24\n").find("net/validation-24.csv is missing"), std::string::npos);
  EXPECT_NE(measured.problem(kWorkload + "a,0,net,3,16\n").find(":2: column 'num_replicas' (4)"), std::string::npos);
  measured.files.erase(measured.files.begin());
  EXPECT_NE(measured.problem(kWorkload + "a,0,net,2,16\n").find("net/placements.csv is missing"), std::string::npos);
  EXPECT_THROW(import_files("pollux", measured.files), InvalidArgument);
}

TEST(ImportPollux, AKnownApplicationCutShortIsRefused) {
  Measured two_epochs(kPlacements, kScalability, kValidation, "bert"), cut(kPlacements, kScalability, kValidation, "ncf");

  EXPECT_EQ(two_epochs.problem(kWorkload + "a,0,bert,2,16\n"), "no error");
  EXPECT_NE(cut.problem(kWorkload + "a,0,ncf,2,16\n").find("2 epochs, where ncf is trained for 10"), std::string::npos);
}

TEST(ImportPollux, FoldersAndNamesSayWhatFilesDoNot) {
  Measured measured;
  const std::string odd = measured.folder.write("net/valid.csv", kValidation);

  EXPECT_THROW(import_files("pollux", {odd}), InvalidArgument);
  EXPECT_THROW(import_files("pollux", {measured.files[0], measured.files[0]}), InvalidArgument);
  const std::vector<std::string> files = measured.with(kWorkload);
  EXPECT_THROW(import_files("pollux", {files.back(), files.back()}), InvalidArgument);
}

TEST(ImportPollux, BadInputNamesItsPlace) {
  Measured measured;
  for (const char* bad : {"a,-1,net,2,16\n", "a,nan,net,2,16\n", "a,1e30,net,2,16\n", "a,0,net,1.5,16\n", "a,0,net,2,0\n",
                          "a,0,net,2,-16\n", "a,0,net,2,9999999999\n", ",0,net,2,16\n", "a,0,net,2\n"}) {
    EXPECT_NE(measured.problem(kWorkload + bad).find("workload.csv:2: "), std::string::npos) << bad << measured.problem(kWorkload + bad);
  }
  EXPECT_NE(measured.problem(kWorkload + "a,0,net,2,16\na,1,net,2,16\n").find("occurs twice"), std::string::npos);
  EXPECT_NE(measured.problem("name,application\n").find("no column 'time'"), std::string::npos);
  const std::string rows = kWorkload + "a,0,net,2,16\n";
  const std::string head = "placement,local_bsz,step_time,sync_time\n";
  for (const char* bad : {"", "2,4,0,0\n", "2,4,-1,0\n", "2,4,nan,0\n", "2,4,0.1,0.1\n", "2,0,0.1,0\n", "20,4,0.1,0\n", "x,4,0.1,0\n",
                          "2,4,0.1,0\n2,4,0.1,0\n", "2,4,1e12,0\n", "2,4,0.1\n"}) {
    EXPECT_NE(Measured(head + bad).problem(rows).find("placements.csv:"), std::string::npos) << bad;
  }
  const std::string epochs = "progress,iteration,metric,grad_sqr,grad_var\n";
  for (const char* bad : {"", "1,-5,1,1,1\n", "1,5,1,1,1\n2,5,1,1,1\n", "1,inf,1,1,1\n"}) {
    EXPECT_NE(Measured(kPlacements, kScalability, epochs + bad).problem(rows).find("validation-16.csv:"), std::string::npos) << bad;
  }
}

namespace {

// As Sia has them, for nodes of 8.
const std::string kPlacementsOfBig =
    "local_bsz,step_time,sync_time,placement\n"
    "16,0.1,0.02,1\n"
    "4,0.04,0.01,4\n4,0.08,0.04,22\n"
    "2,0.02,0.01,8\n2,0.05,0.03,44\n"
    "2,0.1,0.05,28\n2,0.2,0.05,244\n";
const std::string kScalabilityOfBig = "local_bsz,step_time,sync_time,num_nodes,num_replicas\n1,0.4,0.1,4,16\n1,0.2,0.1,2,16\n";

}  // namespace

TEST(ImportPollux, FilesThatNameAGpuTypeAreMeasuredOnItAndOnItsNodes) {
  Measured measured;
  measured.files.push_back(measured.folder.write("net/placements-big.csv", kPlacementsOfBig));
  measured.files.push_back(measured.folder.write("net/scalability-big.csv", kScalabilityOfBig));

  const Trace trace = import_trace("pollux", measured.with(kWorkload + "a,0,net,8,16\nb,0.5,net,2,16\n"));

  EXPECT_EQ(trace.profiles.at(0).second.points, (std::vector<RatePoint>{{"T4", 1, 0, "", 2'631'578},
                                                                        {"T4", 2, 0, "node", 4'000'000},
                                                                        {"T4", 2, 0, "", 2'500'000},
                                                                        {"T4", 5, 0, "", 2'000'000},
                                                                        {"big", 1, 0, "", 10'000'000},
                                                                        {"big", 4, 0, "node", 25'000'000},
                                                                        {"big", 4, 0, "", 12'500'000},
                                                                        {"big", 8, 0, "node", 50'000'000},
                                                                        {"big", 8, 0, "", 20'000'000},
                                                                        {"big", 10, 0, "", 10'000'000},
                                                                        {"big", 16, 0, "", 5'000'000}}));
  EXPECT_EQ(trace.jobs.at(0).run_us, 5 * kSecond) << "8 GPUs were measured on the big ones only";
  EXPECT_EQ(trace.jobs.at(1).run_us, 62'500'000) << "otherwise the first type by name counts";
  EXPECT_NE(trace.notes.at(1).find("T4s, 4 to a node; big, 8 to a node"), std::string::npos) << trace.notes.at(1);
}

// Sia's files of dgx-ext have a row for each placement of as many GPUs on as many nodes.
TEST(ImportPollux, ABatchThatIsMeasuredAgainInScalabilityCountsOnce) {
  Measured once(kPlacementsOfBig, kScalabilityOfBig), again(kPlacementsOfBig, kScalabilityOfBig + "1,7,0.1,2,16\n");
  const std::string rows = kWorkload + "a,0,net,16,16\n";

  EXPECT_EQ(import_trace("pollux", again.with(rows)), import_trace("pollux", once.with(rows)));
  EXPECT_NE(Measured(kPlacements + "2,8,0.3,0.05\n").problem(kWorkload + "a,0,net,2,16\n").find("each batch once"), std::string::npos);
}

TEST(ImportPollux, ASnapshotHasShapesOfEveryMeasuredTypeOfTheCluster) {
  Measured measured;
  measured.files.push_back(measured.folder.write("net/placements-big.csv", kPlacementsOfBig));
  const Trace trace = import_trace("pollux", measured.with(kWorkload + "a,0,net,2,16\n"));

  const Job job = sim::snapshot_at(trace, cluster_from("2x4xT4+1x8xbig", {}), 0, sim::EstimateSource::kNone, true).jobs.at(0);

  std::string shapes;
  for (const Shape& shape : job.shapes) shapes += shape.id + " ";
  EXPECT_EQ(shapes, "2xT4 1xT4 5xT4 1xbig 4xbig 8xbig 10xbig ");
}

TEST(ImportPollux, TheWidestPlacementOfAnyApplicationIsANodeOfItsType) {
  Measured net;
  net.files.push_back(net.folder.write("net/placements-big.csv", kPlacementsOfBig));
  net.files.push_back(net.folder.write("other/placements-big.csv", "placement,local_bsz,step_time,sync_time\n1,16,1,0.1\n13,4,0.5,0.1\n"));
  net.files.push_back(net.folder.write("other/validation-16.csv", kValidation));

  const Trace trace = import_trace("pollux", net.with(kWorkload + "a,0,other,1,16\n"));

  EXPECT_EQ(trace.profiles.at(0).second.points, (std::vector<RatePoint>{{"big", 1, 0, "", 1'000'000}})) << "13 is not compact on 8";
}

TEST(ImportPollux, TheGpuTypeIsInTheName) {
  Measured measured;
  const auto refusal = [&](const char* name, const std::string& text) {
    std::vector<std::string> files = measured.with(kWorkload);
    files.push_back(measured.folder.write(name, text));
    try {
      import_trace("pollux", files);
    } catch (const InvalidArgument& refused) {
      return std::string(refused.what());
    }
    return std::string("no error");
  };

  for (const char* odd : {"net/placements-.csv", "net/places.csv", "net/placementsbig.csv"}) {
    EXPECT_NE(refusal(odd, kPlacements).find("expected a name placements.csv or placements-TYPE.csv"), std::string::npos) << odd;
  }
  EXPECT_NE(refusal("net/scalability-.csv", kScalability).find("scalability-TYPE.csv"), std::string::npos);
  EXPECT_NE(refusal("net/placements-T4.csv", kPlacements).find("a second file of placements of net"), std::string::npos);
  EXPECT_EQ(refusal("net/placements-big.csv", kPlacements), "no error");
}

// A step of a pipeline may synchronise for longer than it takes.
TEST(ImportPollux, FilesOfPipelinesAreLeftOutAndTheirJobsRefused) {
  Measured measured;
  measured.files.push_back(measured.folder.write("gpt_pmp/placements-rtx.csv", "placement,local_bsz,step_time,sync_time\n8,1,0.1,0.3\n"));

  EXPECT_EQ(measured.problem(kWorkload + "a,0,net,2,16\n"), "no error");
  EXPECT_NE(measured.problem(kWorkload + "a,0,gpt_pmp,8,48\n").find("pipelines of stages are not read"), std::string::npos);
}

TEST(ImportPollux, LimitsOfABatchAreThoseOfTheSimulatorThatMeasuredIt) {
  EXPECT_EQ(pollux_most_per_gpu("yolov3", "T4"), 8);
  EXPECT_EQ(pollux_most_per_gpu("yolov3", "rtx"), 0);
  EXPECT_EQ(pollux_most_per_gpu("deepspeech2", "rtx"), 57);
  EXPECT_EQ(pollux_most_per_gpu("deepspeech2", "T4"), 0);
}

TEST(ImportPollux, TheRealWorkloadsHaveTheirCounts) {
  const std::string one = test::trace_file("pollux/workloads/workload-1.csv");
  if (one.empty()) GTEST_SKIP() << "pollux/ is not here";
  const fs::path root = fs::path(one).parent_path().parent_path();
  std::vector<std::string> measurements;
  for (const auto& entry : fs::recursive_directory_iterator(root / "traces")) {
    if (entry.is_regular_file()) measurements.push_back(entry.path());
  }
  const TimeUs run_s[4] = {249'921, 288'934, 290'756, 289'774};
  const std::int64_t gpus[4] = {1'092, 1'077, 921, 1'043};
  for (int w = 0; w < 4; ++w) {
    SCOPED_TRACE(w + 1);
    std::vector<std::string> files = measurements;
    files.push_back(root / "workloads" / ("workload-" + std::to_string(w + 1) + ".csv"));

    const Trace trace = import_trace("pollux", files);

    TimeUs run_us = 0;
    std::int64_t asked = 0;
    for (const TraceJob& job : trace.jobs) {
      run_us += job.run_us;
      asked += job.gpus;
    }
    EXPECT_EQ(trace.jobs.size(), 160u);
    EXPECT_TRUE(trace.dropped.empty());
    EXPECT_EQ(asked, gpus[w]);
    EXPECT_NEAR(static_cast<double>(run_us) / kSecond, static_cast<double>(run_s[w]),
                1.5);  // rates are rounded down to a millionth of a step
    EXPECT_EQ(parse_trace(to_json(trace)), trace);
    EXPECT_NO_THROW(check_snapshot(sim::snapshot_at(trace, cluster_from("16x4xT4", {}), 14'400 * kSecond)));
  }
}

}  // namespace berth::io::import_pollux_test
