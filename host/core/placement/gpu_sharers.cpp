#include "host/core/placement/gpu_sharers.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::size_t kMostKinds = 1'024;  // kept from decision to decision

}  // namespace

std::int64_t GpuSharers::row_of(const StateImpl& s, std::int32_t node, std::int32_t gpu) {
  return std::int64_t{s.node.gpu_begin[to_index(node)]} + gpu;
}

void GpuSharers::begin(const StateImpl& s) {
  for (const std::int64_t gpu : gpus_) on_[to_index(gpu)] = {};
  gpus_.clear();
  on_.resize(to_index(s.node.gpu_begin.empty() ? 0 : s.node.gpu_begin.back()));
  for (auto& gpus : gpus_of_) gpus.clear();
  gpus_of_.resize(s.jobs.size());
  kind_.assign(s.jobs.size(), -1);
  // Kinds of jobs that left long ago.
  if (colocation_.kinds() > kMostKinds) colocation_ = {};
}

void GpuSharers::add(const StateImpl& s, std::int32_t job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const bool partition = shape < 0 || !s.jobs[to_index(job)].job->shapes[to_index(shape)].mig_profile.empty();
  for (const PlanEntry& entry : entries) {
    if (entry.share_ppm == kWholeGpu) continue;
    for (std::uint64_t left = entry.gpus; left != 0; left &= left - 1) {
      const std::int64_t gpu = row_of(s, entry.node, std::countr_zero(left));
      OnGpu& on = on_[to_index(gpu)];
      if (on.jobs.empty()) gpus_.push_back(gpu);
      on.partitioned = on.partitioned || partition || !entry.time_shared;
      if (std::find(on.jobs.begin(), on.jobs.end(), job) != on.jobs.end()) continue;  // several members on one GPU
      on.jobs.push_back(job);
      gpus_of_[to_index(job)].push_back(gpu);
    }
  }
}

void GpuSharers::add_running(const StateImpl& s) {
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[to_index(job)] != 0) add(s, job, s.job.shape[to_index(job)], s.jobs[to_index(job)].entries);
  }
}

std::int32_t GpuSharers::kind_of(const StateImpl& s, std::int32_t job) {
  std::int32_t& kind = kind_[to_index(job)];
  if (kind < 0) kind = colocation_.kind_of(s.jobs[to_index(job)].job->profile);
  return kind;
}

KeptFraction GpuSharers::kept_on(const StateImpl& s, std::int64_t gpu, std::int32_t job, std::int32_t guest) {
  others_.clear();
  for (const std::int32_t other : on_[to_index(gpu)].jobs) {
    if (other != job) others_.push_back(kind_of(s, other));
  }
  if (guest >= 0) others_.push_back(guest);
  return kept_on_gpu(colocation_, kind_of(s, job), others_);
}

KeptFraction GpuSharers::kept_by_guest(const StateImpl& s, std::int64_t gpu, std::int32_t guest) {
  others_.clear();
  for (const std::int32_t other : on_[to_index(gpu)].jobs) others_.push_back(kind_of(s, other));
  return kept_on_gpu(colocation_, guest, others_);
}

KeptFraction GpuSharers::kept(const StateImpl& s, std::int32_t job) {
  KeptFraction kept;
  for (const std::int64_t gpu : gpus_of_[to_index(job)]) {
    const bool alone = on_[to_index(gpu)].jobs.size() == 1;
    KeptFraction here = kept_on(s, gpu, job);
    here.known = alone || (here.known && !on_[to_index(gpu)].partitioned);
    kept = slower(kept, here);
  }
  return kept;
}

}  // namespace berth::core
