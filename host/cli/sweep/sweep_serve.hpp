#pragma once

#include <functional>

#include "host/cli/sweep/sweep_state.hpp"
#include "host/cli/sweep/sweep_workers.hpp"

namespace berth::cli {

/// How far a sweep is.
using SweepShow = std::function<void(const SweepState& state)>;

/// Makes the runs that are missing, on threads of this process and by the workers, and stores them one by one. A run whose worker is
/// lost is made by another one. Returns early after a signal.
/// @throws EnvironmentError where the store cannot be written.
void serve_sweep(const SweepPlan& plan, SweepState& state, results::SweepStore& store, SweepInputs& inputs, int threads,
                 SweepWorkers& workers, const SweepShow& show);

}  // namespace berth::cli
