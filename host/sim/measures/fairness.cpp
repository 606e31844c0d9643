#include "host/sim/measures/fairness.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kWholePpm = 1'000'000;

/// floor(a / b), saturated; a >= 0, b > 0. Most quotients fit in 64 bits, where division is much faster.
std::int64_t quotient(__int128 a, std::int64_t b) { return a <= INT64_MAX ? static_cast<std::int64_t>(a) / b : core::saturate(a / b); }
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) { return quotient(static_cast<__int128>(a) * b, c); }

}  // namespace

std::int64_t FairnessOf::add(const JobOutcome& job) {
  if (job.end != JobOutcome::End::kCompleted) return 0;
  const TimeUs jct = std::max<TimeUs>(1, job.jct_us());
  const TimeUs run = std::max<TimeUs>(1, job.traced->run_us > 0 ? job.traced->run_us : job.held_us - job.overhead_us);
  const std::int64_t jobs_ppm = quotient(job.live_us * kWholePpm, jct);
  const TimeUs time_sliced = scaled(scaled(run, job.traced->gpus, gpus_), jobs_ppm, kWholePpm);
  const std::int64_t rho = scaled(jct, kWholePpm, std::max(run, time_sliced));
  rho_.add(rho);
  // Caps 1 / rho at 1,000, so that the sums fit in 128 bits.
  const __int128 x = std::min(1'000 * kWholePpm, kWholePpm * kWholePpm / std::max<std::int64_t>(1, rho));
  sum_ += x;
  squares_ += x * x;
  return rho;
}

Fairness FairnessOf::finish() {
  Fairness fairness;
  if (squares_ > 0) fairness.jain_ppm = static_cast<std::int64_t>(sum_ * sum_ / rho_.count() * kWholePpm / squares_);
  fairness.rho_ppm = rho_.finish();
  return fairness;
}

}  // namespace berth::sim
