#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "host/cli/sweep/sweep_inputs.hpp"
#include "host/results/sweep_store.hpp"

namespace berth::cli {

/// A run that is to be made.
struct SweepTask {
  std::size_t cell = 0;
  std::int64_t seed = 0;
  bool operator==(const SweepTask&) const = default;
};

/// A run that was made here, or elsewhere.
struct SweepDone {
  SweepTask task;
  std::string problem;  ///< why there is no result; empty: there is
  bool interrupted = false;
  results::SweepEntry entry;
  results::Run run;
  std::shared_ptr<const SweepWorld> world;  ///< `run` refers to it
  std::string packed;                       ///< instead of `entry` and `run`: packed_run of another process
};

/// Makes a run. What goes wrong is in the answer. @param stop  true: the run ends early
SweepDone make_run(const SweepPlan& plan, const SweepTask& task, SweepInputs& inputs, const std::function<bool()>& stop);

}  // namespace berth::cli
