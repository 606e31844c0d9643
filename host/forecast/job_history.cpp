#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/forecast.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/state/state_view.hpp"
#include "host/forecast/past_waits.hpp"

namespace berth {
namespace {

// The clock's time at the origin, without its zone.
std::optional<TimeUs> clock_of(std::string_view origin_iso) { return core::parse_civil(origin_iso.substr(0, 19)); }

}  // namespace

JobHistory history_of(const ClusterState& state) {
  JobHistory history;
  const Snapshot snapshot = state.snapshot();
  history.clock_us = clock_of(snapshot.origin_iso).value_or(0);
  for (const FinishedJob& one : snapshot.history) {
    PastJob job;
    job.user = one.user;
    job.virtual_cluster = one.virtual_cluster;
    job.gpus = std::max(1, one.gpus);
    job.submit_us = one.submit_us;
    job.run_us = std::max<TimeUs>(1, one.run_us);
    job.node_failed = one.status == "node_fail";
    history.jobs.push_back(std::move(job));
  }
  std::stable_sort(history.jobs.begin(), history.jobs.end(), [](const PastJob& a, const PastJob& b) { return a.submit_us < b.submit_us; });
  return history;
}

JobHistory history_of(const Trace& trace, const ClusterState& state) {
  TimeUs shift = 0;
  return forecasts::history_of_starts(trace, state, {}, shift);
}

}  // namespace berth

namespace berth::forecasts {

PastJob past_job(const TraceJob& job, TimeUs shift) {
  PastJob past;
  past.user = job.user;
  past.queue = job.queue;
  past.virtual_cluster = job.virtual_cluster;
  past.gpu_type = job.gpu_type;
  past.gpus = job.gpus;
  past.priority = job.priority;
  past.submit_us = job.submit_us + shift;
  past.run_us = job.run_us;
  past.time_limit_us = job.time_limit_us;
  return past;
}

JobHistory history_of_starts(const Trace& trace, const ClusterState& state, const std::vector<TimeUs>& starts, TimeUs& shift) {
  JobHistory history;
  const std::string origin = state.snapshot().origin_iso;
  const TimeUs now = state.now();
  const std::optional<TimeUs> of_trace = clock_of(trace.origin_iso), of_state = clock_of(origin);
  history.clock_us = of_state.value_or(0);
  shift = of_trace.value_or(0) - of_state.value_or(0);
  if (!of_trace || !of_state) {
    TimeUs last = 0;
    for (const TraceJob& job : trace.jobs) last = std::max(last, job.submit_us);
    shift = trace.origin_iso == origin && last <= now ? 0 : now - last;
    if (shift != 0)
      history.notes.push_back("the history and the snapshot do not both say when they begin: the last submission of the history is now");
  }
  std::int64_t later = 0;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const TraceJob& from = trace.jobs[j];
    PastJob job = past_job(from, shift);
    if (job.submit_us > now) {
      ++later;
      continue;
    }
    job.node_failed = from.status == "node_fail";
    if (!starts.empty() && starts[j] != kNever) job.start_us = starts[j] + shift;
    history.jobs.push_back(std::move(job));
  }
  if (later > 0)
    history.notes.push_back(fmt::format("left out of the history: {} that {} submitted after the snapshot", core::counted(later, "job"),
                                        later == 1 ? "was" : "were"));
  std::stable_sort(history.jobs.begin(), history.jobs.end(), [](const PastJob& a, const PastJob& b) { return a.submit_us < b.submit_us; });
  return history;
}

}  // namespace berth::forecasts
