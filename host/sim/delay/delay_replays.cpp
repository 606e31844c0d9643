#include "host/sim/delay/delay_replays.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {
namespace {

constexpr std::size_t kTogether = 256;  // replays whose columns are in memory at once

void check(const DelayProblem& problem, const DelayLeases& leases, std::span<const DelayTimes> times) {
  if (leases.lease_us < 1) throw InvalidArgument("a lease takes a microsecond at least");
  const kernel::DelayReplayView v = problem.view();
  for (std::int32_t j = 0; j < v.n_jobs; ++j) {
    if (std::max(v.move_cost[j], v.resume_cost[j]) < leases.lease_us) continue;
    throw InvalidArgument("leases are not longer than a resumption costs: no job would make progress");
  }
  for (const DelayTimes& one : times) {
    if (one.size() != to_index(problem.classes()) * to_index(problem.rungs())) {
      throw InvalidArgument(
          fmt::format("{} timers, not one for each of {} classes and {} levels", one.size(), problem.classes(), problem.rungs()));
    }
    if (std::any_of(one.begin(), one.end(), [](TimeUs wait) { return wait < 0; })) throw InvalidArgument("a timer below 0");
  }
}

struct DelayColumns {
  std::vector<std::int64_t> start, end, held;
};

}  // namespace

std::vector<DelayOutcome> delay_replays(const DelayProblem& problem, const DelayLeases& leases, std::span<const DelayTimes> times,
                                        core::PlacementBackend& backend, bool with_jobs) {
  check(problem, leases, times);
  const kernel::DelayReplayView v = problem.view();
  std::vector<DelayOutcome> outcomes(times.size());
  std::vector<DelayColumns> columns(std::min(times.size(), kTogether));
  for (DelayColumns& one : columns) {
    for (auto* column : {&one.start, &one.end, &one.held}) column->resize(to_index(v.n_jobs));
  }
  for (std::size_t from = 0; from < times.size(); from += kTogether) {
    const std::size_t n = std::min(kTogether, times.size() - from);
    std::vector<core::DelayReplayTask> tasks;
    std::vector<kernel::DelayReplayResult> results;
    for (std::size_t i = 0; i < n; ++i) {
      tasks.push_back({{leases.lease_us, leases.most_decisions, leases.common ? 1 : 0, times[from + i].data()}, nullptr});
      kernel::DelayReplayResult& result = results.emplace_back();
      result.totals = &outcomes[from + i].totals;
      result.start = with_jobs ? columns[i].start.data() : nullptr;
      result.end = columns[i].end.data();
      result.held = columns[i].held.data();
    }
    backend.delay_replay(v, tasks, results);
    for (std::size_t i = 0; i < n; ++i) {
      DelayOutcome& outcome = outcomes[from + i];
      if (outcome.totals.too_late >= 0) {
        throw InvalidArgument(fmt::format("job {} of the window would end beyond the largest time", outcome.totals.too_late));
      }
      if (!with_jobs) continue;
      outcome.start_us = columns[i].start;
      outcome.end_us = columns[i].end;
      outcome.held_us = columns[i].held;
    }
  }
  return outcomes;
}

}  // namespace berth::sim
