#include "host/core/network/shared_steps.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {

SharedSteps::SharedSteps(const NetworkLinks& links, bool apart)
    : links_(links), apart_(apart), on_(to_index(links.size())), sum_(to_index(links.size()), 0), link_seen_(to_index(links.size()), 0) {}

void SharedSteps::add(std::int32_t job, std::span<const LinkBytes> rows, std::int64_t step_ns, std::int64_t exposed_ppm,
                      std::int64_t included_ns, std::int64_t latency_ns) {
  if (gangs_.size() <= to_index(job)) gangs_.resize(to_index(job) + 1);
  Gang& gang = gangs_[to_index(job)];
  assert(!gang.is_there && step_ns > 0);
  gang.is_there = true;
  gang.step = static_cast<double>(step_ns) * 1e-9;
  gang.exposed = static_cast<double>(exposed_ppm) * 1e-6;
  gang.alone = 0;
  gang.link.clear();
  gang.needs.clear();
  for (const LinkBytes& row : rows) {
    const double needs = static_cast<double>(row.bytes) / static_cast<double>(links_.bytes_per_s(row.link));
    gang.link.push_back(row.link);
    gang.needs.push_back(needs);
    gang.alone = std::max(gang.alone, needs);
    if (!apart_) on_[to_index(row.link)].push_back(job);
  }
  gang.latency = static_cast<double>(latency_ns) * 1e-9;
  gang.included = included_ns == kAlone ? gang.latency + gang.alone : static_cast<double>(included_ns) * 1e-9;
  see(job);
}

void SharedSteps::remove(std::int32_t job) {
  if (to_index(job) >= gangs_.size() || !gangs_[to_index(job)].is_there) return;
  Gang& gang = gangs_[to_index(job)];
  see(job);
  if (apart_) gang.link.clear();
  for (const std::int32_t link : gang.link) {
    std::vector<std::int32_t>& on = on_[to_index(link)];
    on.erase(std::find(on.begin(), on.end(), job));
    see_link(link);
  }
  gang.is_there = false;
  gang.speed_ppm = 1'000'000;
}

std::int64_t SharedSteps::speed_ppm(std::int32_t job) const {
  return to_index(job) < gangs_.size() ? gangs_[to_index(job)].speed_ppm : 1'000'000;
}

void SharedSteps::see(std::int32_t job) {
  Gang& gang = gangs_[to_index(job)];
  if (gang.is_seen) return;
  gang.is_seen = true;
  seen_.push_back(job);
}

void SharedSteps::see_link(std::int32_t link) {
  if (link_seen_[to_index(link)] != 0) return;
  link_seen_[to_index(link)] = 1;
  seen_links_.push_back(link);
}

// To all gangs that share a link with one that is seen.
void SharedSteps::spread() {
  for (std::size_t g = 0, l = 0; g < seen_.size() || l < seen_links_.size();) {
    if (g < seen_.size()) {
      const Gang& gang = gangs_[to_index(seen_[g++])];
      if (!gang.is_there) continue;
      for (const std::int32_t link : gang.link) see_link(link);
      continue;
    }
    for (const std::int32_t job : on_[to_index(seen_links_[l])]) see(job);
    ++l;
  }
}

void SharedSteps::solve() {
  for (const std::int32_t job : seen_) {
    Gang& gang = gangs_[to_index(job)];
    gang.sends = gang.is_there ? std::min(1.0, gang.alone / step_of(gang, gang.alone)) : 0;
  }
  for (int round = 0; round < kMostRounds; ++round) {
    add_up();
    double most = 0;
    for (const std::int32_t job : seen_) {
      Gang& gang = gangs_[to_index(job)];
      if (!gang.is_there) continue;
      const double lasts = lasts_among(gang);
      const double sends = std::min(1.0, lasts / step_of(gang, lasts));
      most = std::max(most, sends - gang.sends);
      gang.next = std::max(gang.sends, sends);
    }
    for (const std::int32_t job : seen_) gangs_[to_index(job)].sends = gangs_[to_index(job)].is_there ? gangs_[to_index(job)].next : 0;
    if (most < kEnough) break;
  }
  add_up();
}

void SharedSteps::add_up() {
  for (const std::int32_t link : seen_links_) {
    double sum = 0;
    for (const std::int32_t job : on_[to_index(link)]) sum += gangs_[to_index(job)].sends;
    sum_[to_index(link)] = sum;
  }
}

double SharedSteps::lasts_among(const Gang& gang) const {
  double lasts = gang.alone;
  for (std::size_t k = 0; k < gang.link.size(); ++k) {
    lasts = std::max(lasts, gang.needs[k] * (1 + std::max(0.0, sum_[to_index(gang.link[k])] - gang.sends)));
  }
  return lasts;
}

std::span<const std::int32_t> SharedSteps::settle() {
  changed_.clear();
  spread();
  std::sort(seen_.begin(), seen_.end());
  for (const std::int32_t link : seen_links_) std::sort(on_[to_index(link)].begin(), on_[to_index(link)].end());
  solve();
  for (const std::int32_t job : seen_) {
    Gang& gang = gangs_[to_index(job)];
    gang.is_seen = false;
    const std::int64_t speed = gang.is_there ? std::max<std::int64_t>(1, std::llround(1e6 * gang.step / step_of(gang, lasts_among(gang))))
                                             : std::int64_t{1'000'000};
    if (speed != gang.speed_ppm && gang.is_there) changed_.push_back(job);
    gang.speed_ppm = speed;
  }
  for (const std::int32_t link : seen_links_) link_seen_[to_index(link)] = 0;
  seen_.clear();
  seen_links_.clear();
  return changed_;
}

}  // namespace berth::core
