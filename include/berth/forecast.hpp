#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/export.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "berth/trace.hpp"

/// When waiting jobs start and end: docs/when.md.
namespace berth {

/// A job of the past. Instants are those of the state that is asked about.
struct PastJob {
  std::string user, queue, virtual_cluster, gpu_type;
  std::int32_t gpus = 1;
  std::int32_t priority = 0;
  TimeUs submit_us = 0;
  TimeUs start_us = kNever;  ///< kNever: not known
  TimeUs run_us = 0;
  TimeUs time_limit_us = kNever;
  TimeUs estimate_us = kNever;         ///< what the policy knew of `run_us` when it was submitted
  TimeUs withdrawn_after_us = kNever;  ///< it never ran: it was withdrawn after it had waited for this long
  bool node_failed = false;            ///< its node failed, and ended it
  /// Not before this. Where its start is not known it may have ended later.
  TimeUs end_us() const { return (start_us == kNever ? submit_us : start_us) + run_us; }
  bool operator==(const PastJob&) const = default;
};

/// What run times, arrivals and withdrawals are learned from.
struct JobHistory {
  std::vector<PastJob> jobs;       ///< by submission
  TimeUs clock_us = 0;             ///< time 0 by the clock, since a Thursday at midnight; tells weekends
  std::vector<std::string> notes;  ///< what was assumed, or left out
};

/// The finished jobs of a state.
BERTH_API JobHistory history_of(const ClusterState& state);
/// The jobs of a trace. Their times count from the trace's origin, and are moved to that of the state where both name theirs.
/// Jobs submitted after the state's `now` are left out. Where an origin is missing, the last job ends now.
BERTH_API JobHistory history_of(const Trace& trace, const ClusterState& state);

/// Quantiles of the futures that bound an interval of nine of ten starts, in millionths. They are further apart than 0.05 and 0.95, as
/// run times do not quite follow the past: these were learned from weeks of Venus and Philly (docs/when.md). Beyond 0 and 1 an interval is
/// wider than all futures: at -0.5 it begins before the first of them by half of what lies between that and the median, and likewise
/// above 1.
struct ForecastLevels {
  std::int32_t low_ppm = 25'000, high_ppm = 995'000;
  bool operator==(const ForecastLevels&) const = default;
};
/// By how far ahead the median is: up to an hour, 6 hours, 24 hours, and more.
inline constexpr int kForecastHorizons = 4;
using LevelsByHorizon = std::array<ForecastLevels, kForecastHorizons>;
/// Index of the levels for a median that is so far ahead.
BERTH_API int forecast_horizon(TimeUs ahead);

/// Failures of nodes. Times are exponentially distributed with these means.
struct NodeFailures {
  TimeUs mean_us = 0;                           ///< of one node until it fails; 0: none fails
  TimeUs repair_us = TimeUs{14'400} * kSecond;  ///< until it returns
  bool operator==(const NodeFailures&) const = default;
};

struct ForecastRequest {
  Request request;                ///< policy and parameters; `seed` draws the futures, `threads` simulate them
  PolicyState policy_state;       ///< of the last decision
  std::vector<std::string> jobs;  ///< those that are asked about; empty: all that wait
  std::int32_t futures = 1000;    ///< 0: only the point from the conservative schedule
  TimeUs within_us = 0;           ///< > 0: no more futures are begun once this much wall clock has passed
  LevelsByHorizon levels;
  std::optional<NodeFailures> node_failures;                 ///< not set: the mean of the history, and the usual repair
  std::function<void(std::int32_t, std::int32_t)> progress;  ///< called on one thread with (futures done, all)
};

/// An instant in all futures.
struct ForecastTimes {
  TimeUs median_us = kNever, low_us = kNever, high_us = kNever;  ///< kNever: not within the horizon
  TimeUs median_error_us = 0;                                    ///< standard error of the median, as there are finitely many futures
  bool operator==(const ForecastTimes&) const = default;
};

/// What is predicted of one waiting job.
struct JobForecast {
  std::string job, queue;
  std::int32_t gpus = 0;
  bool rejected = false;
  std::string reason;                                             ///< of a rejected job, or why it waits
  std::int32_t position = 0;                                      ///< in its queue, from 1; 0: rejected
  std::int32_t jobs_ahead = 0;                                    ///< in its queue
  std::int64_t gpus_ahead = 0;                                    ///< that these jobs ask for
  std::int32_t all_ahead = 0;                                     ///< jobs ahead in all queues
  TimeUs start_by_limits_us = kNever, end_by_limits_us = kNever;  ///< of the conservative schedule; kNever: there is none
  ForecastTimes start, end;                                       ///< over the futures in which it is not withdrawn
  std::int32_t never_ppm = 0;                                     ///< share of the futures in which it does not start within the horizon
  std::int32_t withdrawn_ppm = 0;                                 ///< share of the futures in which it is withdrawn before
  bool operator==(const JobForecast&) const = default;
};

struct Forecast {
  std::uint64_t revision = 0;
  TimeUs now_us = 0;
  std::string policy;
  std::vector<std::pair<std::string, std::string>> params;
  std::uint64_t seed = 0;
  std::int32_t futures = 0;
  LevelsByHorizon levels;
  TimeUs horizon_us = 0;       ///< no future goes on for longer
  std::int64_t past_jobs = 0;  ///< that run times are learned from
  std::int64_t past_arrivals = 0, past_withdrawn = 0;
  std::int64_t past_failures = 0;  ///< of nodes, that ended jobs
  NodeFailures node_failures;      ///< of the futures
  TimeUs past_from_us = kNever;    ///< first submission of the history
  bool by_counts = false;          ///< futures are simulated by counts of free GPUs; else by the live engine
  std::vector<std::string> notes;
  std::vector<JobForecast> jobs;  ///< by the order of the policy, rejected jobs last
};

/// Predicts when the waiting jobs of a state start and end.
///
/// The point comes from the plan with discipline `conservative`: no job ends before its limit. The rest comes from futures: run
/// times of running and waiting jobs, arrivals, and failures of nodes are drawn from the history, and the policy decides, which knows none
/// of them. The answer depends on the state, the history and the request, not on the number of threads. With `within_us` the number of
/// futures depends on the machine, and gives the same answer when it is asked for.
/// @throws InvalidArgument for an unknown job, one that runs, a wrong policy or parameter, levels that are no interval, and failures more
/// often than each 10 s in all.
BERTH_API Forecast forecast(const ClusterState& state, const JobHistory& history, const ForecastRequest& request);

/// Least number of past jobs that run times are learned from: below it there is only the point.
inline constexpr std::int64_t kLeastPastJobs = 20;

}  // namespace berth
