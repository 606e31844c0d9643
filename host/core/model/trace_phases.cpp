#include "host/core/model/trace_phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/decimal.hpp"

namespace berth::core {

std::string phases_problem(const TraceJob& job) {
  if (job.phases.empty()) return {};
  if (job.profile.empty() || job.work == 0) return "'phases' are stretches of 'work', and the job states no 'work' or no 'profile'";
  if (job.phases.size() > static_cast<std::size_t>(kMaxPhases))
    return fmt::format("{} phases, more than {}", job.phases.size(), kMaxPhases);
  std::int64_t last = 0;
  for (std::size_t k = 0; k < job.phases.size(); ++k) {
    const TracePhase& phase = job.phases[k];
    const auto text = [](std::int64_t work) { return decimal_text(work, 6); };
    if (phase.from <= last) return fmt::format("phase {} begins at {}, not behind {}", k + 1, text(phase.from), text(last));
    if (phase.from >= job.work)
      return fmt::format("phase {} begins at {}, and the work ends at {}", k + 1, text(phase.from), text(job.work));
    if (phase.profile.empty()) return fmt::format("phase {} names no profile", k + 1);
    last = phase.from;
  }
  return {};
}

std::size_t phase_at(const TraceJob& job, std::int64_t done) {
  const auto after = std::upper_bound(job.phases.begin(), job.phases.end(), done,
                                      [](std::int64_t value, const TracePhase& phase) { return value < phase.from; });
  return static_cast<std::size_t>(after - job.phases.begin());
}

}  // namespace berth::core
