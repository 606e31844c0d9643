#include "host/sim/generate/synthetic_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/generate/dally_jobs.hpp"
#include "host/sim/generate/ones_jobs.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kAllPpm = 1'000'000;

std::int32_t whole_gpus(std::int32_t instances, std::int32_t share_ppm) {
  return static_cast<std::int32_t>(instances * ((std::int64_t{share_ppm} + kWholeGpu - 1) / kWholeGpu));
}

/// Calls `see(ppm, gpus)` for each GPU count of the model.
template <class See>
void for_sizes(const WorkloadModel& model, const See& see) {
  constexpr Share kWhole[] = {{kAllPpm, kWholeGpu}};
  const std::span<const Share> shares = model.share_ppm.empty() ? std::span<const Share>(kWhole) : model.share_ppm;
  for (const Share& size : model.gpus) {
    for (const Share& share : shares) {
      see(std::int64_t{size.ppm} * share.ppm / kAllPpm, whole_gpus(size.value, share.value));
    }
  }
}

/// Mean GPU-time of a job.
std::int64_t mean_gpu_us(const WorkloadModel& model) {
  __int128 sum = 0;
  for_sizes(model, [&](std::int64_t ppm, std::int32_t gpus) {
    sum += static_cast<__int128>(ppm) * gpus * mean_beyond(model.run[static_cast<std::size_t>(size_class(gpus))], 0);
  });
  return static_cast<std::int64_t>(sum / kAllPpm);
}

}  // namespace

SyntheticJobs::SyntheticJobs(const SyntheticOptions& options) : options_(options), model_(model_of(options.workload)) {
  if (options.jobs < 0 || options.jobs > kMaxJobs) throw InvalidArgument(fmt::format("{} jobs: expected 0 to {}", options.jobs, kMaxJobs));
  dally_ = is_dally(options.workload);
  gangs_ = options.workload == Workload::kDallyGangs;
  const bool as_published = (options.workload == Workload::kOnes || dally_) && options.load_ppm == 0;
  if (options.load_ppm <= 0 && !as_published) throw InvalidArgument("a load is above 0");
  if (options.gpus <= 0) throw InvalidArgument("a cluster without GPUs has no load");
  if (options.workload == Workload::kLlm) llm_.emplace(options.fabric);
  if (as_published) return;
  const __int128 capacity = static_cast<__int128>(options.gpus) * options.load_ppm;
  const std::int64_t mean = llm_                                  ? llm_->mean_gpu_us()
                            : dally_                              ? dally_mean_gpu_us(gangs_)
                            : options.workload == Workload::kOnes ? ones_mean_gpu_us()
                                                                  : mean_gpu_us(model_);
  mean_gap_us_ = std::max<TimeUs>(1, static_cast<TimeUs>(static_cast<__int128>(mean) * kAllPpm / capacity));
}

const TraceJob* SyntheticJobs::next() {
  if (count_ == options_.jobs) return nullptr;
  ItemDraws draws(options_.seed, RandomStream::kSynthetic, static_cast<std::uint64_t>(count_));
  TraceJob& job = rooms_.take();
  if (count_ > 0) now_ = core::saturating_add(now_, draw_gap(draws));
  if (llm_ || dally_ || options_.workload == Workload::kOnes) {
    llm_ ? llm_->draw(job, draws) : dally_ ? draw_dally_job(gangs_, job, draws) : draw_ones_job(job, draws);
    job.id = fmt::format("j{:08}", count_++);
    job.submit_us = now_;
    return &job;
  }
  job.id = fmt::format("j{:08}", count_++);
  job.submit_us = now_;
  const std::int32_t instances = pick(model_.gpus, draws);
  job.gpus = whole_gpus(instances, model_.share_ppm.empty() ? kWholeGpu : pick(model_.share_ppm, draws));
  job.run_us = std::max<TimeUs>(1, draw_duration(model_.run[static_cast<std::size_t>(size_class(job.gpus))], draws));
  return &job;
}

TimeUs SyntheticJobs::draw_gap(ItemDraws& draws) const {
  if (dally_ && mean_gap_us_ == 0) return 0;
  if (options_.workload != Workload::kOnes) return draws.exponential(mean_gap_us_);
  if (mean_gap_us_ == 0) return draws.below(kOnesMostGapS + 1) * kSecond;
  return core::mul_div(2 * mean_gap_us_, draws.below(1'000'001), 1'000'000);
}

TraceProfiles SyntheticJobs::profiles() const {
  if (llm_) return llm_->profiles();
  if (dally_) return dally_profiles();
  return options_.workload == Workload::kOnes ? ones_profiles() : TraceProfiles{};
}

TraceFacts SyntheticJobs::facts() const {
  if (llm_) return llm_->facts();
  TraceFacts facts;
  facts.any_type = true;
  facts.profiles = dally_ || options_.workload == Workload::kOnes;
  for_sizes(model_, [&](std::int64_t ppm, std::int32_t gpus) {
    facts.by_gpus[static_cast<std::size_t>(std::clamp(gpus, 1, kMaxGpusPerNode) - 1)] += ppm;
  });
  return facts;
}

}  // namespace berth::sim
