#include "host/policy/deadlines/capacity_line.hpp"

#include <algorithm>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {

using core::Wide;

void CapacityLine::begin(TimeUs now, std::int64_t gpus) {
  now_ = now;
  gpus_ = gpus;
  changes_.clear();
  steps_.assign(1, {now, 0});
}

void CapacityLine::add(TimeUs from, TimeUs to, std::int64_t gpus) {
  from = std::max(from, now_);
  if (to <= from) return;
  changes_.push_back({from, gpus});
  if (to != kNever) changes_.push_back({to, -gpus});
}

void CapacityLine::settle() {
  std::sort(changes_.begin(), changes_.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  steps_.assign(1, {now_, 0});
  for (const Step& change : changes_) {
    if (steps_.back().at != change.at) steps_.push_back({change.at, steps_.back().used});
    steps_.back().used += change.used;
  }
  changes_.clear();
}

std::size_t CapacityLine::step_at(TimeUs at) const {
  assert(at >= now_);
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at, [](TimeUs t, const Step& step) { return t < step.at; });
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

TimeUs CapacityLine::latest_end(std::int64_t gpus, TimeUs run, TimeUs until) const {
  if (gpus > gpus_ || until <= now_ || run > until - now_) return kNever;
  TimeUs end = until;  // of the free time that is followed back
  for (std::size_t i = step_at(until - 1) + 1; i-- > 0;) {
    if (steps_[i].used + gpus > gpus_) {
      end = steps_[i].at;
      if (end - now_ < run) return kNever;
    } else if (end - steps_[i].at >= run) {
      return end;
    }
  }
  return kNever;
}

TimeUs CapacityLine::earliest_start(std::int64_t gpus, TimeUs run, TimeUs from) const {
  if (gpus > gpus_) return kNever;
  TimeUs start = std::max(from, now_);
  for (std::size_t i = step_at(start); i < steps_.size(); ++i) {
    const TimeUs next = i + 1 < steps_.size() ? steps_[i + 1].at : kNever;
    if (steps_[i].used + gpus > gpus_) {
      if (next == kNever) return kNever;
      start = next;
    } else if (next == kNever || next - start >= run) {
      return start;
    }
  }
  return kNever;
}

bool CapacityLine::is_free(std::int64_t gpus, TimeUs from, TimeUs to) const {
  from = std::max(from, now_);
  for (std::size_t i = step_at(from); i < steps_.size() && (steps_[i].at < to || i == 0); ++i) {
    if (to > from && steps_[i].used + gpus > gpus_) return false;
  }
  return true;
}

TimeUs CapacityLine::free_until(std::int64_t gpus, TimeUs from) const {
  for (std::size_t i = step_at(from); i < steps_.size(); ++i) {
    if (steps_[i].used + gpus > gpus_) return std::max(from, steps_[i].at);
  }
  return kNever;
}

std::int64_t CapacityLine::least_free(TimeUs from, TimeUs to) const {
  std::int64_t most = 0;
  for (std::size_t i = step_at(std::max(from, now_)); i < steps_.size() && steps_[i].at < to; ++i) most = std::max(most, steps_[i].used);
  return std::max<std::int64_t>(0, gpus_ - most);
}

std::int64_t CapacityLine::gpu_us_until(TimeUs until) const {
  Wide sum = 0;
  for (std::size_t i = 0; i < steps_.size() && steps_[i].at < until; ++i) {
    const TimeUs next = i + 1 < steps_.size() ? std::min(steps_[i + 1].at, until) : until;
    sum += Wide{steps_[i].used} * (next - steps_[i].at);
  }
  return core::saturate(sum);
}

TimeUs CapacityLine::earliest_room(std::int64_t gpu_us, std::int64_t busy_micro, TimeUs from) const {
  // In millionths of a GPU, so that all stays an integer.
  const Wide rate = Wide{gpus_} * 1'000'000 - busy_micro;
  const Wide wanted = Wide{gpu_us} * 1'000'000;
  Wide room = 0;  // until the begin of the step
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TimeUs next = i + 1 < steps_.size() ? steps_[i + 1].at : kNever;
    const Wide left = rate - Wide{steps_[i].used} * 1'000'000;
    // Within a step the room is linear: it is enough at its begin, or from some instant on.
    TimeUs at = kNever;
    if (const TimeUs begin = std::max(from, steps_[i].at); begin < next && room + left * (begin - steps_[i].at) >= wanted) {
      at = begin;
    } else if (left > 0) {
      const Wide then = Wide{steps_[i].at} + core::ceil_div(wanted - room, left);
      if (then < Wide{next} && then >= Wide{from} && then <= Wide{kMaxTimeUs}) at = static_cast<TimeUs>(then);
    }
    if (at != kNever) return at;
    if (next == kNever) break;
    room += left * (next - steps_[i].at);
  }
  return kNever;
}

std::size_t CapacityLine::split(TimeUs at) {
  const std::size_t i = step_at(at);
  if (steps_[i].at == at) return i;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, {at, steps_[i].used});
  return i + 1;
}

void CapacityLine::take(TimeUs from, TimeUs to, std::int64_t gpus) {
  from = std::max(from, now_);
  if (to <= from) return;
  const std::size_t begin = split(from);
  const std::size_t end = to == kNever ? steps_.size() : split(to);
  for (std::size_t i = begin; i < end; ++i) steps_[i].used += gpus;
}

}  // namespace berth::policy
