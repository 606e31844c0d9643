#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/search/search_runs.hpp"
#include "host/cli/tune/day_bootstrap.hpp"
#include "host/cli/tune/param_space.hpp"
#include "host/cli/tune/timer_tuning.hpp"

namespace berth::cli {

/// What `berth tune` is to do, checked.
struct TuneTask {
  RunTexts texts;  ///< of all runs, but for the window and the parameters that are tuned
  PolicyInfo policy;
  std::vector<ParamDomain> space;
  DayMetric metric;
  TimeUs window_us = 0;
  std::int64_t later = 2;           ///< windows after the one on which it is tuned
  std::int64_t runs = 0;            ///< budget; 0: by time
  TimeUs budget_us = 0;             ///< by the clock
  TimeUs run_limit_us = 0;          ///< of a run, by the clock; 0: none
  std::uint64_t seed = 0;           ///< of configurations and intervals
  std::vector<std::int64_t> seeds;  ///< of runs
  std::optional<TimerTask> timers;  ///< timers are found by replays; `space` is their grid

  /// A configuration as --policy takes it.
  std::string text_of(const ParamValues& values) const { return policy_text(timers ? timers->policy : policy.name, values); }
};

/// Submissions from `from_us` on, and before `until_us`, since the first of the trace.
struct TuneWindow {
  TimeUs from_us = 0, until_us = 0;
  std::int64_t jobs = 0;

  std::string text() const;  ///< as the key `window`
};

struct TuneRung {
  TuneWindow window;
  std::int64_t tried = 0, lost = 0, kept = 0;  ///< configurations, without the default
  std::int64_t usual = 0;                      ///< the metric of the default, the sum over seeds
  std::optional<std::int64_t> best;            ///< the same of the best other one
};

/// Windows and days on which the winner was compared with the default.
struct TuneComparison {
  TuneWindow window;
  PairedGain gain;
};

/// What runs did, over all of them.
struct TuneEffort {
  std::int64_t decisions = 0, preemptions = 0;
};

struct TuneResult {
  std::vector<TuneRung> rungs;
  std::vector<ParamValues> tried;            ///< configurations of the first rung
  std::map<std::string, std::int64_t> lost;  ///< runs that did not end or failed, by cause
  std::optional<ParamValues> example_lost;   ///< one of their configurations
  std::optional<ParamValues> best;           ///< nothing: no configuration beats the default on the window of tuning
  TuneComparison tuned;                      ///< on the window of tuning: too good, as it was chosen there
  std::vector<TuneComparison> later;
  PairedGain all_later;                   ///< over their days together
  TuneEffort usual_effort, tuned_effort;  ///< on the later windows, of the default and of the best one
  std::string lost_later;                 ///< why the best one has no result on a later window; empty: it has
  std::string backend_note;               ///< why replays of timers were not made by the requested backend; empty: they were
  bool better = false;                    ///< the interval over all later days is above 0

  std::int64_t lost_runs() const;
};

/// Nothing after a signal. @throws InvalidArgument, InputError, EnvironmentError
std::optional<TuneResult> tune(const TuneTask& task, SearchRuns& runs);

}  // namespace berth::cli
