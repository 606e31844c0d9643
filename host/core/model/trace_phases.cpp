#include "host/core/model/trace_phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/decimal.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {

std::string phases_problem(const TraceJob& job) {
  if (job.phases.empty()) return {};
  if (job.profile.empty() || job.work == 0) return "'phases' are stretches of 'work', and the job states no 'work' or no 'profile'";
  if (job.phases.size() > static_cast<std::size_t>(kMaxPhases))
    return fmt::format("{} phases, more than {}", job.phases.size(), kMaxPhases);
  std::int64_t last = 0, last_epochs = 0;
  for (std::size_t k = 0; k < job.phases.size(); ++k) {
    const TracePhase& phase = job.phases[k];
    const auto text = [](std::int64_t work) { return decimal_text(work, 6); };
    if (phase.from <= last) return fmt::format("phase {} begins at {}, not behind {}", k + 1, text(phase.from), text(last));
    if (phase.from >= job.work)
      return fmt::format("phase {} begins at {}, and the work ends at {}", k + 1, text(phase.from), text(job.work));
    if (phase.profile.empty()) return fmt::format("phase {} names no profile", k + 1);
    if ((phase.epochs_micro > 0) != (job.phases.front().epochs_micro > 0)) return "some phases state 'epochs', and others do not";
    if (phase.epochs_micro > 0 && phase.epochs_micro <= last_epochs)
      return fmt::format("phase {} begins after {} epochs, not more than {}", k + 1, text(phase.epochs_micro), text(last_epochs));
    if (phase.epochs_micro > 0 && phase.epochs_micro >= job.epochs_micro)
      return fmt::format("phase {} begins after {} epochs, and the job has {}", k + 1, text(phase.epochs_micro), text(job.epochs_micro));
    last = phase.from;
    last_epochs = phase.epochs_micro;
  }
  return {};
}

std::size_t phase_at(const TraceJob& job, std::int64_t done) {
  const auto after = std::upper_bound(job.phases.begin(), job.phases.end(), done,
                                      [](std::int64_t value, const TracePhase& phase) { return value < phase.from; });
  return static_cast<std::size_t>(after - job.phases.begin());
}

std::int64_t epochs_after(const TraceJob& job, std::int64_t done, std::int64_t work) {
  if (job.phases.empty() || job.phases.front().epochs_micro == 0) return mul_div(done, job.epochs_micro, std::max<std::int64_t>(1, work));
  // A job that works by time counts in other units than its phases.
  if (work != job.work) done = mul_div(done, job.work, std::max<std::int64_t>(1, work));
  const std::size_t k = phase_at(job, done);
  const std::int64_t from = phase_begin(job, k), until = phase_begin(job, k + 1);
  const std::int64_t before = k == 0 ? 0 : job.phases[k - 1].epochs_micro;
  const std::int64_t after = k == job.phases.size() ? job.epochs_micro : job.phases[k].epochs_micro;
  return before + mul_div(done - from, after - before, until - from);
}

}  // namespace berth::core
