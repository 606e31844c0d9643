#include "host/sim/measures/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "berth/error.hpp"

namespace berth::sim {
namespace {

// Each divides the next, so that intervals can be merged; after the last they double.
constexpr std::int64_t kWidthsS[] = {1, 5, 10, 30, 60, 300, 600, 1'800, 3'600, 10'800, 21'600, 43'200, 86'400};

std::int64_t next_multiple(TimeUs width_us) {
  for (const std::int64_t width_s : kWidthsS) {
    if (width_s * kSecond > width_us) return width_s * kSecond / width_us;
  }
  return 2;
}

}  // namespace

Series::Series(const TraceFacts& facts, TimeUs every_us)
    : fragmentation_(facts), width_us_(every_us > 0 ? every_us : kSecond), fixed_(every_us > 0) {
  if (every_us < 0) throw InvalidArgument("a series takes points at intervals above 0");
}

void Series::level(TimeUs from_us, const Levels& levels) {
  if (!begun_) {
    begun_ = true;
    origin_us_ = since_us_ = end_us_ = from_us;
  } else if (levels == now_) {
    return;
  }
  add(since_us_, from_us);
  since_us_ = from_us;
  now_ = levels;
}

void Series::finish(TimeUs end_us) {
  if (begun_) add(since_us_, end_us);
}

void Series::add(TimeUs from_us, TimeUs until_us) {
  if (from_us >= until_us) return;
  end_us_ = until_us;
  while ((until_us - origin_us_ - 1) / width_us_ >= (fixed_ ? kMostAsked : kMost)) widen();
  sums_.resize(static_cast<std::size_t>((until_us - origin_us_ - 1) / width_us_ + 1));
  constexpr std::int64_t kMicro = 1'000'000;
  const std::int64_t micro[kLevels] = {now_.gpus_allocated * kMicro, now_.gpus_free * kMicro,   now_.running * kMicro,
                                       now_.waiting * kMicro,        now_.gpus_waited * kMicro, now_.fragmented_micro};
  for (TimeUs from = from_us; from < until_us;) {
    const std::int64_t place = (from - origin_us_) / width_us_;
    const TimeUs until = std::min(until_us, origin_us_ + (place + 1) * width_us_);
    for (std::size_t l = 0; l < kLevels; ++l) sums_[static_cast<std::size_t>(place)][l] += static_cast<__int128>(micro[l]) * (until - from);
    from = until;
  }
}

void Series::widen() {
  if (fixed_) {
    throw InvalidArgument(fmt::format("a point every {} us makes more than {} points in this simulation", width_us_, kMostAsked));
  }
  const std::int64_t times = next_multiple(width_us_);
  width_us_ *= times;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::size_t into = i / static_cast<std::size_t>(times);
    if (into == i) continue;
    for (std::size_t l = 0; l < kLevels; ++l) sums_[into][l] += std::exchange(sums_[i][l], 0);
  }
  sums_.resize((sums_.size() + static_cast<std::size_t>(times) - 1) / static_cast<std::size_t>(times));
}

std::vector<Sample> Series::samples() const {
  std::vector<Sample> samples;
  samples.reserve(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    Sample sample;
    sample.from_us = origin_us_ + static_cast<TimeUs>(i) * width_us_;
    sample.until_us = std::min(end_us_, sample.from_us + width_us_);
    for (std::size_t l = 0; l < kLevels; ++l) {
      sample.micro[l] = static_cast<std::int64_t>(sums_[i][l] / (sample.until_us - sample.from_us));
    }
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace berth::sim
