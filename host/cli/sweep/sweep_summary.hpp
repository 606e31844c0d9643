#pragma once

#include <string>

#include "host/cli/sweep/sweep_state.hpp"

namespace berth::cli {

/// A row for each cell: means over its seeds with their intervals; then differences from the baseline, seed by seed.
std::string sweep_text(const SweepPlan& plan, const SweepState& state);

/// The same as one JSON object a line for each cell (docs/sweep.md).
std::string sweep_json(const SweepPlan& plan, const SweepState& state);

}  // namespace berth::cli
