#include "host/sim/base/estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/noise_percent.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {

std::int64_t noise_percent(std::string_view what, std::string_view name) {
  const std::string_view digits = name.substr(6);
  std::int64_t percent = -1;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || percent < 0 || percent > 100) {
    throw InvalidArgument(fmt::format("{} '{}': P of noise:P is a whole number of per cent from 0 to 100", what, name));
  }
  return percent;
}

Estimator::Estimator(std::string_view name, std::uint64_t seed) : name_(name), seed_(seed) {
  if (name == "oracle") {
    kind_ = Kind::kOracle;
  } else if (name == "reactive") {
    kind_ = Kind::kReactive;
  } else if (name == "rolling") {
    kind_ = Kind::kRolling;
  } else if (name == "none") {
    kind_ = Kind::kNone;
  } else if (is_noise(name)) {
    kind_ = Kind::kNoise;
    most_ppm_ = noise_percent("estimates", name) * 10'000;
  } else {
    throw InvalidArgument(fmt::format("unknown estimates '{}'; known: oracle, reactive, rolling, noise:P, none", name));
  }
}

TimeUs Estimator::run_time(const TraceJob& job, std::int64_t place) const {
  if (knows_work()) return job.run_us;
  if (kind_ == Kind::kNone) return kNever;
  if (kind_ == Kind::kRolling) {
    const auto user = job.user.empty() ? by_user_.end() : by_user_.find(job.user);
    const auto gpus = by_gpus_.find(job.gpus);
    const Mean& mean = user != by_user_.end() ? user->second : gpus != by_gpus_.end() ? gpus->second : all_;
    return mean.count == 0 ? kNever : static_cast<TimeUs>(mean.sum / mean.count);
  }
  ItemDraws draws(seed_, RandomStream::kEstimate, static_cast<std::uint64_t>(place));
  const std::int64_t factor = 1'000'000 - most_ppm_ + draws.below(2 * most_ppm_ + 1);
  return std::max<TimeUs>(1, core::mul_div(job.run_us, factor, 1'000'000));
}

Estimate Estimator::of(const TraceJob& job, std::int64_t place) const {
  Estimate estimate;
  estimate.run_us = run_time(job, place);
  if (estimate.run_us != kNever) estimate.source = name_;
  return estimate;
}

void Estimator::finished(const TraceJob& job, TimeUs run_us) {
  if (kind_ != Kind::kRolling) return;
  const auto add = [run_us](Mean& mean) {
    mean.sum += run_us;
    ++mean.count;
  };
  if (!job.user.empty()) add(by_user_[job.user]);
  add(by_gpus_[job.gpus]);
  add(all_);
}

}  // namespace berth::sim
