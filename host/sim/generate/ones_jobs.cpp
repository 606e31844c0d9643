// The jobs of ONES' evaluation. Its traces state models, data sets, requested GPUs, batches, learning rates and patience.
// Throughputs and epochs are aggregates of its history of 20 jobs, which ran on the requested GPUs.
// Ours: rates on other numbers of GPUs, and how much the epochs of equal jobs differ (data/SOURCES.md).
#include "host/sim/generate/ones_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

constexpr OnesKind kOnesKinds[] = {
    {50'000, "resnet18 cifar10", 20'000, 4, 256, 5'000'000'000, 80'000'000'000, 10, 13'650'000, 380, 46'800'000},
    {50'000, "resnet18 cifar10", 40'000, 4, 256, 5'000'000'000, 80'000'000'000, 10, 16'150'000, 250, 46'800'000},
    {50'000, "googlenet cifar10", 20'000, 4, 256, 5'000'000'000, 80'000'000'000, 10, 9'890'000, 360, 52'000'000},
    {50'000, "googlenet cifar10", 40'000, 4, 256, 5'000'000'000, 80'000'000'000, 10, 11'460'000, 230, 52'000'000},
    {50'000, "vgg16 cifar10", 20'000, 4, 128, 1'000'000'000, 16'000'000'000, 10, 2'743'000, 670, 553'400'000},
    {50'000, "vgg16 cifar10", 40'000, 4, 128, 1'000'000'000, 16'000'000'000, 10, 2'820'000, 360, 553'400'000},
    {50'000, "bert cola", 5'000, 2, 16, 5'000'000, 20'000'000, 5, 102'500, 50, 438'000'000},
    {50'000, "bert cola", 8'000, 2, 16, 5'000'000, 20'000'000, 5, 102'200, 60, 438'000'000},
    {100'000, "bert mrpc", 3'600, 2, 16, 5'000'000, 20'000'000, 5, 102'000, 55, 438'000'000},
    {50'000, "bert sst2", 10'000, 8, 32, 2'500'000, 20'000'000, 5, 435'000, 50, 438'000'000},
    {50'000, "bert sst2", 20'000, 8, 32, 2'500'000, 20'000'000, 5, 424'000, 50, 438'000'000},
    {50'000, "alexnet imagenet", 10'000, 16, 64, 250'000'000, 4'000'000'000, 20, 2'744'000, 210, 244'400'000},
    {50'000, "alexnet imagenet", 20'000, 16, 64, 250'000'000, 4'000'000'000, 20, 3'412'000, 690, 244'400'000},
    {50'000, "resnet50 imagenet", 10'000, 16, 32, 500'000'000, 8'000'000'000, 10, 1'750'000, 270, 102'200'000},
    {50'000, "resnet50 imagenet", 20'000, 16, 32, 500'000'000, 8'000'000'000, 10, 1'975'000, 440, 102'200'000},
    {50'000, "vgg16 imagenet", 10'000, 16, 32, 500'000'000, 8'000'000'000, 10, 971'000, 110, 553'400'000},
    {50'000, "vgg16 imagenet", 20'000, 16, 32, 500'000'000, 8'000'000'000, 10, 1'133'000, 580, 553'400'000},
    {50'000, "inception_v3 imagenet", 10'000, 16, 32, 500'000'000, 8'000'000'000, 10, 1'475'000, 500, 108'600'000},
    {50'000, "inception_v3 imagenet", 20'000, 16, 32, 500'000'000, 8'000'000'000, 10, 1'610'000, 520, 108'600'000},
};

constexpr std::int64_t kStepNs = 10'000'000;  // the artifact's training loop sleeps so long in each step
constexpr std::int32_t kGpusOfNode = 4;       // of the artifact's machine
// Bytes per second that an all-reduce gets within a node and between nodes: ours, for PCIe 3.0 and InfiniBand FDR.
constexpr std::int64_t kInNode = 10'000'000'000, kBetweenNodes = 5'000'000'000;

// A ring: each GPU sends and receives 2 (n - 1) / n of the gradients.
std::int64_t all_reduce_ns(const OnesKind& kind, std::int32_t gpus) {
  return core::mul_div(2 * (gpus - 1) * kind.parameters_bytes, 1'000'000'000, gpus * (gpus <= kGpusOfNode ? kInNode : kBetweenNodes));
}

std::int64_t requested_rate(const OnesKind& kind) { return kind.samples_per_ks * 1'000; }

std::int64_t rate_on(const OnesKind& kind, std::int32_t gpus) {
  if (gpus == kind.gpus) return requested_rate(kind);
  const std::int64_t measured_ns = core::mul_div(std::int64_t{kind.batch} * kind.gpus, 1'000'000'000'000, kind.samples_per_ks);
  const std::int64_t samples_ns = measured_ns - kStepNs - all_reduce_ns(kind, kind.gpus);  // of one batch
  const std::int32_t batch = ones_batch(kind, gpus);
  const std::int64_t step_ns = kStepNs + core::mul_div(samples_ns, batch, kind.batch) + all_reduce_ns(kind, gpus);
  return core::mul_div(std::int64_t{batch} * gpus, 1'000'000 * 1'000'000'000LL, step_ns);
}

std::int64_t run_us_of(const OnesKind& kind, std::int64_t work) { return core::mul_div(work, kSecond, requested_rate(kind)); }

}  // namespace

std::span<const OnesKind> ones_kinds() { return kOnesKinds; }

const OnesKind& pick_ones_kind(ItemDraws& draws) {
  std::int64_t at = draws.below(1'000'000);
  const OnesKind* kind = kOnesKinds;
  for (; at >= kind->ppm; ++kind) at -= kind->ppm;
  return *kind;
}

std::int32_t ones_batch(const OnesKind& kind, std::int32_t gpus) {
  if (kind.learning_rate_pico * gpus <= kind.most_learning_rate_pico) return kind.batch;
  const std::int64_t all = (kind.batch * kind.most_learning_rate_pico + kind.learning_rate_pico / 2) / kind.learning_rate_pico;
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, all / gpus));
}

std::int64_t ones_learning_rate_pico(const OnesKind& kind, std::int32_t gpus) {
  return std::min(kind.learning_rate_pico * gpus, kind.most_learning_rate_pico);
}

Profile ones_profile(const OnesKind& kind) {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.model = kind.model;
  profile.unit = "samples";
  profile.gradient_bytes = kind.parameters_bytes;
  for (std::int32_t gpus = 1; gpus <= kOnesMostGpus; ++gpus) profile.points.push_back({"", gpus, 0, "", rate_on(kind, gpus)});
  return profile;
}

std::string ones_profile_name(const OnesKind& kind) { return fmt::format("{}, epochs of {} samples", kind.model, kind.epoch_size); }

TraceProfiles ones_profiles() {
  TraceProfiles profiles;
  for (const OnesKind& kind : kOnesKinds) profiles.emplace_back(ones_profile_name(kind), ones_profile(kind));
  std::sort(profiles.begin(), profiles.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return profiles;
}

std::int64_t draw_ones_epochs(const OnesKind& kind, ItemDraws& draws) {
  const std::int64_t percent = 75 + draws.below(51);  // ours
  return std::max<std::int64_t>(kind.patience, (kind.epochs_tenths * percent + 500) / 1'000);
}

void draw_ones_job(TraceJob& job, ItemDraws& draws) {
  const OnesKind& kind = pick_ones_kind(draws);
  const std::int64_t epochs = draw_ones_epochs(kind, draws);
  job = {};
  job.model = kind.model;
  job.profile = ones_profile_name(kind);
  job.gpus = kind.gpus;
  job.elastic = true;
  job.epochs_micro = epochs * 1'000'000;
  job.dataset_size = kind.epoch_size;
  job.work = epochs * kind.epoch_size * 1'000'000;
  job.run_us = run_us_of(kind, job.work);
}

std::int64_t ones_mean_gpu_us() {
  __int128 sum = 0;
  for (const OnesKind& kind : kOnesKinds) {
    sum += static_cast<__int128>(kind.ppm) * kind.gpus * run_us_of(kind, std::int64_t{kind.epochs_tenths} * kind.epoch_size * 100'000);
  }
  return static_cast<std::int64_t>(sum / 1'000'000);
}

}  // namespace berth::sim
