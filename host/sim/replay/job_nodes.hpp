#pragma once

#include <cstdint>
#include <string>

#include "berth/job.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/measures/fragmentation.hpp"
#include "host/sim/measures/series.hpp"

namespace berth::sim {

/// The nodes that a job holds, each once, in rank order, separated by blanks.
std::string job_nodes(const Job& job);

/// Sets what is free in the state, and how fragmented that is.
void set_free_levels(const StateView& state, const Fragmentation& fragmentation, Levels& levels);

}  // namespace berth::sim
