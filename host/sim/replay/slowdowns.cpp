#include "host/sim/replay/slowdowns.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::sim {

Slowdowns::Slowdowns(const ClusterState& state, const SimulationSettings& settings, const TraceProfiles& profiles) : state_(state) {
  if (settings.links != LinkModel::kNone) links_.emplace(state, settings.links == LinkModel::kTiers);
  const bool stated = std::any_of(profiles.begin(), profiles.end(), [](const auto& one) { return !one.second.colocation.empty(); });
  // Where iterations are followed, jobs on one GPU take turns.
  if (stated && !settings.iterations) gpus_.emplace();
}

void Slowdowns::start(std::int32_t job, const Job& description, bool timed) {
  if (links_ && !timed) links_->start(job, description);
  if (gpus_) gpus_->start(job, description, StateView(state_).jobs()[to_index(job)].entries);
}

void Slowdowns::stop(std::int32_t job) {
  if (links_) links_->stop(job);
  if (gpus_) gpus_->stop(job);
}

std::span<const std::int32_t> Slowdowns::settle() {
  changed_.clear();
  if (links_) {
    const std::span<const std::int32_t> jobs = links_->settle();
    changed_.assign(jobs.begin(), jobs.end());
  }
  if (gpus_) {
    const auto by_links = std::ssize(changed_);
    for (const std::int32_t job : gpus_->settle()) {
      if (std::find(changed_.begin(), changed_.begin() + by_links, job) == changed_.begin() + by_links) changed_.push_back(job);
    }
  }
  return changed_;
}

bool Slowdowns::is_slowed(std::int32_t job) const {
  return (links_ && links_->speed_ppm(job) != 1'000'000) || (gpus_ && gpus_->kept_ppm(job) != 1'000'000);
}

std::int64_t Slowdowns::slowed(std::int32_t job, std::int64_t rate) const {
  if (links_) rate = links_->slowed(job, rate);
  return gpus_ ? std::max<std::int64_t>(1, core::slowed_rate(rate, gpus_->kept_ppm(job))) : rate;
}

}  // namespace berth::sim
