#include "host/sim/fairness.hpp"

#include <algorithm>

#include "host/core/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kOne = 1'000'000;

/// floor(a / b), saturated; a >= 0, b > 0. Most quotients of a run are of 64 bits, whose division takes a fraction of the time.
std::int64_t quotient(__int128 a, std::int64_t b) { return a <= INT64_MAX ? static_cast<std::int64_t>(a) / b : core::saturate(a / b); }
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) { return quotient(static_cast<__int128>(a) * b, c); }

}  // namespace

std::int64_t FairnessOf::add(const JobOutcome& job) {
  if (job.end != JobOutcome::End::kCompleted) return 0;
  const TimeUs jct = std::max<TimeUs>(1, job.jct_us());
  const TimeUs run = std::max<TimeUs>(1, job.traced->run_us > 0 ? job.traced->run_us : job.held_us - job.overhead_us);
  const std::int64_t jobs_ppm = quotient(job.live_us * kOne, jct);
  const TimeUs in_turns = scaled(scaled(run, job.traced->gpus, gpus_), jobs_ppm, kOne);
  const std::int64_t rho = scaled(jct, kOne, std::max(run, in_turns));
  rho_.add(rho);
  // Who took 1,000 times less than its share is as well served as one can be: the sums stay within 128 bits.
  const __int128 x = std::min(1'000 * kOne, kOne * kOne / std::max<std::int64_t>(1, rho));
  sum_ += x;
  squares_ += x * x;
  return rho;
}

Fairness FairnessOf::finish() {
  Fairness fairness;
  if (squares_ > 0) fairness.jain_ppm = static_cast<std::int64_t>(sum_ * sum_ / rho_.count() * kOne / squares_);
  fairness.rho_ppm = rho_.finish();
  return fairness;
}

}  // namespace berth::sim
