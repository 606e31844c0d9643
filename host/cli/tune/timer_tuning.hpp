#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/cli/search/search_options.hpp"
#include "host/cli/sweep/sweep_inputs.hpp"
#include "host/cli/tune/day_bootstrap.hpp"
#include "host/cli/tune/param_space.hpp"
#include "host/sim/delay/delay_search.hpp"

/// `berth tune --timers-by-demand`: timers of `dally-manual` that replays of a window find, against those that `dally` finds while it
/// runs (docs/dally.md, "Timers by simulation").
namespace berth::cli {

/// What the replays have in common, checked.
struct TimerTask {
  std::string policy;  ///< `dally-manual` with the parameters that are set: timers are added to it
  sim::DelayLeases leases;
  std::int64_t settings = 1000;  ///< of timers, at most
  std::int64_t resamples = 4;    ///< windows of drawn days on which each is replayed, too
  int threads = 1;
  Backend backend = Backend::kAuto;  ///< of the replays
};

/// @param policy  as --policy has it
/// @throws InvalidArgument where the policy is not `dally`, or parameters or options are set that replays do not know
TimerTask timer_task(const SearchOptions& options, std::int64_t seeds);
/// The grid, as a space of parameters.
ParamDomain timer_domain();

struct TimerResult {
  std::optional<std::string> timers;  ///< value of the parameter; nothing: all are lost
  std::int64_t settings = 0, lost = 0;
  std::string note;  ///< why the backend is not the requested one; empty: it is
};

/// @param world           of the window
/// @param most_decisions  timers under which a replay makes more are lost
/// @param proceed         see DelaySearch
TimerResult find_timers(const TimerTask& task, const SweepWorld& world, const DayMetric& metric, std::uint64_t seed,
                        std::int64_t most_decisions, const std::function<bool(std::int64_t)>& proceed);

}  // namespace berth::cli
