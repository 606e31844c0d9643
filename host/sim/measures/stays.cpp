#include "host/sim/measures/stays.hpp"

#include <utility>

namespace berth::sim {

void Stays::hold(std::int32_t job, std::int32_t node, std::uint64_t gpus, TimeUs now, std::int32_t share_ppm) {
  open_.emplace(job, stays_.size());
  stays_.push_back({job, node, share_ppm, gpus, now, kNever});
}

void Stays::release(std::int32_t job, TimeUs now) {
  const auto open = open_.find(job);
  if (open == open_.end()) return;
  for (std::size_t i = open->second; i < stays_.size() && stays_[i].job == job; ++i) stays_[i].until_us = now;
  open_.erase(open);
}

std::vector<Stay> Stays::finish(TimeUs end_us) {
  for (Stay& stay : stays_) {
    if (stay.until_us == kNever) stay.until_us = end_us;
  }
  std::erase_if(stays_, [](const Stay& stay) { return stay.until_us <= stay.from_us; });
  open_.clear();
  return std::exchange(stays_, {});
}

}  // namespace berth::sim
