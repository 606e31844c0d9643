#include "host/sim/fairness.hpp"

#include <algorithm>

#include "host/core/at.hpp"
#include "host/core/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kOne = 1'000'000;

/// floor(a / b), saturated; a >= 0, b > 0. Most quotients of a run are of 64 bits, whose division takes a fraction of the time.
std::int64_t quotient(__int128 a, std::int64_t b) { return a <= INT64_MAX ? static_cast<std::int64_t>(a) / b : core::saturate(a / b); }
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) { return quotient(static_cast<__int128>(a) * b, c); }

}  // namespace

FairnessOf::FairnessOf(const Trace& trace, std::int64_t gpus) : trace_(trace), gpus_(std::max<std::int64_t>(1, gpus)) {
  at_submission_.reserve(trace.jobs.size());
  rho_.reserve(trace.jobs.size());
}

// Jobs come in the order of their end, so that who is there at any instant follows from the trace.
void FairnessOf::advance(TimeUs to_us) {
  live_us_ += static_cast<__int128>(n_live_) * (to_us - now_);
  now_ = to_us;
}

std::int64_t FairnessOf::add(const JobOutcome& job) {
  if (job.end == JobOutcome::End::kUnfinished) return 0;
  for (; next_ < trace_.jobs.size() && trace_.jobs[next_].submit_us <= job.end_us; ++next_) {
    advance(trace_.jobs[next_].submit_us);
    at_submission_.push_back(live_us_);
    ++n_live_;
  }
  advance(job.end_us);
  --n_live_;
  if (job.end != JobOutcome::End::kCompleted) return 0;
  const TraceJob& traced = trace_.jobs[at(job.job)];
  const TimeUs jct = std::max<TimeUs>(1, job.jct_us());
  const TimeUs run = std::max<TimeUs>(1, traced.run_us > 0 ? traced.run_us : job.held_us - job.overhead_us);
  const std::int64_t jobs_ppm = quotient((live_us_ - at_submission_[at(job.job)]) * kOne, jct);
  const TimeUs in_turns = scaled(scaled(run, traced.gpus, gpus_), jobs_ppm, kOne);
  const std::int64_t rho = scaled(jct, kOne, std::max(run, in_turns));
  rho_.push_back(rho);
  return rho;
}

Fairness FairnessOf::finish() {
  Fairness fairness;
  __int128 sum = 0, squares = 0;
  for (const std::int64_t rho : rho_) {
    // Who took 1,000 times less than its share is as well served as one can be: the sums stay within 128 bits.
    const __int128 x = std::min(1'000 * kOne, kOne * kOne / std::max<std::int64_t>(1, rho));
    sum += x;
    squares += x * x;
  }
  const auto n = static_cast<std::int64_t>(rho_.size());
  if (squares > 0) fairness.jain_ppm = static_cast<std::int64_t>(sum * sum / n * kOne / squares);
  fairness.rho_ppm = spread_of(rho_);
  return fairness;
}

}  // namespace berth::sim
