#include "host/sim/replay/shared_gpus.hpp"

#include <algorithm>
#include <bit>

namespace berth::sim {

void SharedGpus::start(std::int32_t job, const Job& description, std::span<const PlanEntry> entries) {
  stop(job);
  if (jobs_.size() <= to_size(job)) jobs_.resize(to_size(job) + 1);
  Sharer& own = jobs_[to_size(job)];
  own.kept_ppm = kAlone;
  for (const PlanEntry& entry : entries) {
    if (!entry.time_shared) continue;
    for (std::uint64_t left = entry.gpus; left != 0; left &= left - 1) own.gpus.emplace_back(entry.node, std::countr_zero(left));
  }
  if (own.gpus.empty()) return;
  std::sort(own.gpus.begin(), own.gpus.end());
  own.gpus.erase(std::unique(own.gpus.begin(), own.gpus.end()), own.gpus.end());  // several members may be on one
  own.kind = colocation_.kind_of(description.profile);
  for (const Gpu& gpu : own.gpus) {
    std::vector<std::int32_t>& jobs = on_[gpu];
    jobs.push_back(job);
    touched_.insert(touched_.end(), jobs.begin(), jobs.end());
  }
}

void SharedGpus::stop(std::int32_t job) {
  if (to_size(job) >= jobs_.size()) return;
  for (const Gpu& gpu : jobs_[to_size(job)].gpus) {
    const auto on = on_.find(gpu);
    std::erase(on->second, job);
    touched_.insert(touched_.end(), on->second.begin(), on->second.end());
    if (on->second.empty()) on_.erase(on);
  }
  jobs_[to_size(job)] = {};
}

std::int64_t SharedGpus::kept_now(std::int32_t job) {
  const Sharer& own = jobs_[to_size(job)];
  core::KeptFraction kept;
  for (const Gpu& gpu : own.gpus) {
    others_.clear();
    for (const std::int32_t other : on_.at(gpu)) {
      if (other != job) others_.push_back(jobs_[to_size(other)].kind);
    }
    kept = core::slower(kept, core::kept_on_gpu(colocation_, own.kind, others_));
  }
  return kept.ppm;
}

std::span<const std::int32_t> SharedGpus::settle() {
  changed_.clear();
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const std::int32_t job : touched_) {
    if (jobs_[to_size(job)].gpus.empty()) continue;
    const std::int64_t kept = kept_now(job);
    if (kept == jobs_[to_size(job)].kept_ppm) continue;
    jobs_[to_size(job)].kept_ppm = kept;
    changed_.push_back(job);
  }
  touched_.clear();
  return changed_;
}

}  // namespace berth::sim
