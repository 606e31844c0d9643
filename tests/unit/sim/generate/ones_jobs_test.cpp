#include "host/sim/generate/ones_jobs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "berth/io.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim::ones_jobs_test {
namespace {

const OnesKind& kind_of(const std::string& model, std::int32_t epoch_size) {
  for (const OnesKind& kind : ones_kinds()) {
    if (kind.model == model && kind.epoch_size == epoch_size) return kind;
  }
  throw std::out_of_range(model);
}

SyntheticOptions ones(std::int64_t jobs, std::uint64_t seed = 1) {
  SyntheticOptions options;
  options.workload = Workload::kOnes;
  options.jobs = jobs;
  options.gpus = 64;
  options.load_ppm = 0;
  options.seed = seed;
  return options;
}

}  // namespace

TEST(OnesJobs, BatchAndLearningRateFollowTheGpus) {
  const OnesKind& resnet = kind_of("resnet18 cifar10", 20'000);
  EXPECT_EQ(ones_learning_rate_pico(resnet, 8), 40'000'000'000);
  EXPECT_EQ(ones_batch(resnet, 8), 256);
  EXPECT_EQ(ones_learning_rate_pico(resnet, 16), 80'000'000'000);
  EXPECT_EQ(ones_batch(resnet, 16), 256);
  EXPECT_EQ(ones_learning_rate_pico(resnet, 24), 80'000'000'000);
  EXPECT_EQ(ones_batch(resnet, 24), 170);
  EXPECT_EQ(ones_batch(resnet, 32), 128);
  const OnesKind& bert = kind_of("bert mrpc", 3'600);
  EXPECT_EQ(ones_learning_rate_pico(bert, 8), 20'000'000);
  EXPECT_EQ(ones_batch(bert, 8), 8);
  EXPECT_EQ(ones_batch(kind_of("vgg16 cifar10", 20'000), 17), 120);
  EXPECT_EQ(ones_batch(bert, 1'000), 1);
}

TEST(OnesJobs, RatesAreMeasuredOnTheRequestedGpusAndRiseUpToTheWholeCluster) {
  std::int64_t ppm = 0;
  for (const OnesKind& kind : ones_kinds()) {
    SCOPED_TRACE(ones_profile_name(kind));
    const Profile profile = ones_profile(kind);
    ppm += kind.ppm;
    ASSERT_EQ(profile.points.size(), static_cast<std::size_t>(kOnesMostGpus));
    EXPECT_EQ(profile.points[static_cast<std::size_t>(kind.gpus - 1)].rate, kind.samples_per_ks * 1'000);
    for (std::size_t i = 0; i < profile.points.size(); ++i) {
      EXPECT_EQ(profile.points[i].gpus, static_cast<std::int32_t>(i) + 1);
      // Never more than in proportion to the GPUs.
      EXPECT_LE(profile.points[i].rate, profile.points[0].rate * profile.points[i].gpus);
      EXPECT_GT(profile.points[i].rate, 0);
    }
    EXPECT_GT(profile.points.back().rate, kind.samples_per_ks * 1'000);
  }
  EXPECT_EQ(ppm, 1'000'000);
}

TEST(OnesJobs, AStepOnOneGpuIsThatOfTheRequestedOnesWithoutTheAllReduce) {
  // 4 x 128 samples at 2,820 a second: 181.560284 ms, of which the ring takes 2 x 3/4 x 553.4 MB at 10 GB/s: 83.01 ms.
  EXPECT_EQ(ones_profile(kind_of("vgg16 cifar10", 40'000)).points[0].rate, core::mul_div(128, 1'000'000 * 1'000'000'000LL, 98'550'283));
}

TEST(OnesJobs, ASmallerBatchTakesLessOfAStepThanItsPart) {
  // On 2 GPUs a step takes 313.111545 ms, of which 10 ms are slept and the ring takes 43.8 ms. On 8 GPUs the batch is half as large, and
  // the ring takes 2 x 7/8 x 438 MB at 5 GB/s: 153.3 ms.
  constexpr std::int64_t kStepNs = 10'000'000 + (313'111'545 - 10'000'000 - 43'800'000) / 2 + 153'300'000;
  EXPECT_EQ(ones_profile(kind_of("bert cola", 8'000)).points[7].rate, core::mul_div(64, 1'000'000 * 1'000'000'000LL, kStepNs));
}

TEST(OnesJobs, ADrawnJobKeepsNothingOfWhatItWas) {
  TraceJob job;
  job.user = "someone";
  job.batch = 7;
  ItemDraws draws(1, RandomStream::kSynthetic, 0), again(1, RandomStream::kSynthetic, 0);
  TraceJob fresh;
  draw_ones_job(job, draws);
  draw_ones_job(fresh, again);

  EXPECT_EQ(job, fresh);
}

TEST(OnesJobs, EpochsAreTheMeasuredOnesWithinAQuarterAndNotBelowPatience) {
  const OnesKind& vgg = kind_of("vgg16 cifar10", 20'000);
  const OnesKind& bert = kind_of("bert sst2", 10'000);
  std::set<std::int64_t> epochs, few;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    ItemDraws draws(1, RandomStream::kSynthetic, i);
    epochs.insert(draw_ones_epochs(vgg, draws));
    few.insert(draw_ones_epochs(bert, draws));
  }

  EXPECT_EQ(*epochs.begin(), 50);  // 67 x 0.75 = 50.25
  EXPECT_EQ(*epochs.rbegin(), 84);
  EXPECT_EQ(few, (std::set<std::int64_t>{5, 6}));
}

TEST(OnesJobs, AreSubmittedAsPublishedAndStateEpochs) {
  constexpr std::int64_t kJobs = 20'000;
  SyntheticJobs jobs(ones(kJobs));
  const TraceProfiles profiles = jobs.profiles();
  std::map<std::string, Profile> by_name(profiles.begin(), profiles.end());
  EXPECT_EQ(by_name.size(), ones_kinds().size());
  TimeUs last = 0, longest = 0;
  std::map<std::int32_t, std::int64_t> by_gpus;
  for (const TraceJob* job = jobs.next(); job != nullptr; job = jobs.next()) {
    const TimeUs gap = job->submit_us - last;
    EXPECT_EQ(gap % kSecond, 0);
    longest = std::max(longest, gap);
    last = job->submit_us;
    ++by_gpus[job->gpus];
    ASSERT_EQ(job->epochs_micro % 1'000'000, 0);
    EXPECT_EQ(job->work, job->epochs_micro * job->dataset_size);
    EXPECT_TRUE(job->elastic);
    const Profile& profile = by_name.at(job->profile);
    EXPECT_EQ(job->run_us, core::mul_div(job->work, kSecond, profile.points[static_cast<std::size_t>(job->gpus - 1)].rate));
    jobs.release(*job);
  }

  EXPECT_EQ(longest, 60 * kSecond);
  EXPECT_NEAR(static_cast<double>(last) / 1e6 / kJobs, 30, 4 * 17.6 / 141);  // 4 standard errors
  const std::map<std::int32_t, double> published{{2, 0.2}, {4, 0.3}, {8, 0.1}, {16, 0.4}};
  ASSERT_EQ(by_gpus.size(), published.size());
  for (const auto& [gpus, part] : published) EXPECT_NEAR(static_cast<double>(by_gpus[gpus]) / kJobs, part, 0.014);
  EXPECT_TRUE(jobs.facts().profiles);
}

TEST(OnesJobs, AKindHasOneModelAndAMean) {
  // The mean of the tables that snapshots draw from is near that of the kinds.
  EXPECT_NEAR(static_cast<double>(ones_mean_gpu_us()) / 1e6, 3'067, 1);
}

TEST(OnesJobs, ALoadSetsTheMeanGap) {
  SyntheticOptions options = ones(20'000);
  options.load_ppm = 500'000;
  SyntheticJobs jobs(options);
  TimeUs last = 0;
  while (const TraceJob* job = jobs.next()) last = job->submit_us;

  EXPECT_NEAR(static_cast<double>(last) / 20'000, static_cast<double>(ones_mean_gpu_us()) / 64 / 0.5,
              4 * 0.58 / 141 * static_cast<double>(ones_mean_gpu_us()) / 64 / 0.5);
}

TEST(OnesJobs, ASnapshotHasTheShapesAndReportsEpochs) {
  GenerateOptions options;
  options.nodes = 16;
  options.gpus_per_node = 4;
  options.jobs = 60;
  options.workload = Workload::kOnes;
  options.elastic = true;
  options.seed = 3;
  const Snapshot snapshot = generate(options);
  check_snapshot(snapshot);
  int running = 0;
  for (const Job& job : snapshot.jobs) {
    EXPECT_EQ(job.profile.unit, "samples");
    const OnesKind* kind = nullptr;
    for (const OnesKind& one : ones_kinds()) {
      if (one.model == job.profile.model && ones_profile(one).points == job.profile.points) kind = &one;
    }
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(job.shapes.front().gpus, kind->gpus);
    for (const Shape& shape : job.shapes) {
      EXPECT_EQ(shape.local_batch, ones_batch(*kind, shape.gpus));
      EXPECT_EQ(shape.learning_rate_pico, ones_learning_rate_pico(*kind, shape.gpus));
    }
    if (job.state != JobState::kRunning) continue;
    ++running;
    EXPECT_EQ(job.progress.dataset_size, kind->epoch_size);
    EXPECT_EQ(job.progress.samples_done, job.progress.work_done / 1'000'000);
    EXPECT_EQ(job.progress.epochs_done_micro, job.progress.work_done / kind->epoch_size);
  }
  EXPECT_GT(running, 0);
}

}  // namespace berth::sim::ones_jobs_test
