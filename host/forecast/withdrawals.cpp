#include <algorithm>
#include <utility>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/forecast/futures.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kAll = 1'000'000'000;

}  // namespace

// The estimate of Kaplan and Meier (1958): a job that starts leaves those at risk.
Withdrawals::Withdrawals(const JobHistory& history, TimeUs now) {
  std::vector<std::pair<TimeUs, bool>> waits;
  for (const PastJob& job : history.jobs) {
    if (job.submit_us > now) continue;
    if (job.withdrawn_after_us != kNever) {
      waits.emplace_back(job.withdrawn_after_us, true);
      ++withdrawn_;
    } else if (job.start_us <= now) {
      waits.emplace_back(std::max<TimeUs>(0, job.start_us - job.submit_us), false);
    }
  }
  std::sort(waits.begin(), waits.end());
  std::int64_t survive = kAll;
  for (std::size_t i = 0; i < waits.size();) {
    const TimeUs wait = waits[i].first;
    const auto at_risk = static_cast<std::int64_t>(waits.size() - i);
    std::int64_t withdrawn = 0;
    for (; i < waits.size() && waits[i].first == wait; ++i) withdrawn += waits[i].second ? 1 : 0;
    if (withdrawn == 0) continue;
    survive = core::mul_div(survive, at_risk - withdrawn, at_risk);
    survive_.emplace_back(wait, survive);
  }
}

TimeUs Withdrawals::draw(TimeUs waited, std::int64_t u_ppm) const {
  const auto later = std::upper_bound(survive_.begin(), survive_.end(), waited, [](TimeUs w, const auto& row) { return w < row.first; });
  const std::int64_t now = later == survive_.begin() ? kAll : std::prev(later)->second;
  const std::int64_t below = core::mul_div(now, u_ppm, 1'000'000);
  for (auto row = later; row != survive_.end(); ++row) {
    if (row->second <= below) return row->first;
  }
  return kNever;
}

PastFailures::PastFailures(const JobHistory& history, TimeUs now) {
  constexpr TimeUs kOneFailure = 60 * kSecond;
  std::vector<TimeUs> ends;
  for (const PastJob& job : history.jobs) {
    if (job.node_failed && job.end_us() <= now) ends.push_back(job.end_us());
  }
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 0; i < ends.size(); ++i) count_ += i == 0 || ends[i] - ends[i - 1] > kOneFailure ? 1 : 0;
  if (!history.jobs.empty()) span_ = std::max<TimeUs>(0, now - history.jobs.front().submit_us);
}

TimeUs PastFailures::mean_us(std::int64_t nodes) const {
  return count_ == 0 ? 0 : std::max<TimeUs>(1, core::saturating_mul(span_, nodes) / count_);
}

}  // namespace berth::sim
