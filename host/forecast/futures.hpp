#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "berth/forecast.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/forecast/arrivals.hpp"
#include "host/forecast/run_times.hpp"
#include "host/sim/counts/node_counts.hpp"

namespace berth::sim {

/// A job that waits or runs when futures begin.
struct PresentJob {
  TraceJob job;                   ///< `run_us` is not read
  std::vector<CountedGpus> gpus;  ///< of one that runs, by rank in the cluster; empty: any
  TimeUs held_us = -1;            ///< how long it has run; -1: it waits
  TimeUs estimate_us = kNever;    ///< what the policy knows of its run time, next to the limit
  std::int32_t asked = -1;        ///< row of the answer, -1: it is not asked about
};

/// What futures begin with.
struct Present {
  const Snapshot* cluster = nullptr;  ///< jobs are those of `jobs`
  bool countable = true;              ///< its jobs are what counts of GPUs describe
  const Snapshot* begin = nullptr;    ///< the whole state, for the live engine; null: futures must be simulated by counts
  PolicyState policy_state;           ///< for the live engine
  TimeUs now_us = 0;
  std::vector<PresentJob> jobs;  ///< by (submit, id)
  std::int32_t asked = 0;        ///< rows
};

struct FutureSettings {
  Request request;
  std::int32_t futures = 1000;
  TimeUs within_us = 0;
  TimeUs horizon_us = 60 * 86'400 * kSecond;
  TimeUs least_wake_us = 10 * kSecond;  ///< between decisions of the live engine that only a changed order asks for
  bool ends = true;                     ///< ends are wanted
  NodeFailures node_failures;           ///< jobs of a node that fails wait again, and start from their begin
  std::function<void(std::int32_t, std::int32_t)> progress;
};

/// None: futures go on as long as they need.
using FutureDeadline = std::optional<std::chrono::steady_clock::time_point>;

/// Starts and ends in all futures that were simulated. kNever: not within the horizon.
struct FutureTimes {
  std::int32_t futures = 0, asked = 0;
  std::vector<TimeUs> start, end;       ///< [asked][futures]
  std::vector<std::uint8_t> withdrawn;  ///< [asked][futures]; empty: none is ever
  const TimeUs* starts(std::int32_t row) const { return start.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(futures); }
  const TimeUs* ends(std::int32_t row) const { return end.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(futures); }
};

/// When waiting jobs are withdrawn: by the time they have waited.
class Withdrawals {
 public:
  Withdrawals(const JobHistory& history, TimeUs now);
  bool any() const { return withdrawn_ > 0; }
  std::int64_t count() const { return withdrawn_; }
  /// After which wait a job is withdrawn that has waited for `waited`; kNever: never. `u` is a draw in 0..999,999.
  TimeUs draw(TimeUs waited, std::int64_t u) const;

 private:
  std::vector<std::pair<TimeUs, std::int64_t>> survive_;  // billionths of the jobs that are still there after a wait, were none to start
  std::int64_t withdrawn_ = 0;
};

/// How often nodes fail, by the jobs that they ended: those that end within a minute are of one failure.
class PastFailures {
 public:
  PastFailures(const JobHistory& history, TimeUs now);
  std::int64_t count() const { return count_; }
  /// Mean time between failures of one node, in a cluster of `nodes`; 0: none has failed.
  TimeUs mean_us(std::int64_t nodes) const;

 private:
  std::int64_t count_ = 0;
  TimeUs span_ = 0;
};

/// What is learned from a history at an instant.
struct Learned {
  Learned(const JobHistory& history, TimeUs now)
      : times(history, now), arrivals(history, times, now), withdrawals(history, now), failures(history, now) {}
  RunTimes times;
  PastArrivals arrivals;
  Withdrawals withdrawals;
  PastFailures failures;
};

/// @param by_counts  out: futures were simulated by counts
/// @returns the first futures that were simulated, all of them without `within_us`
FutureTimes simulate_futures(const Present& present, const Learned& learned, const FutureSettings& settings, bool& by_counts);

}  // namespace berth::sim
