#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/placement.hpp"

namespace berth {
class StateImpl;
}

/// From the names in a caller's question to the numbers of one state. All throw InvalidArgument naming what is unknown.
namespace berth::core {

std::int32_t job_of(const StateImpl& state, const std::string& id);
std::int32_t node_of(const StateImpl& state, const std::string& id);
std::int32_t level_of(const StateImpl& state, const LevelRef& level);
/// One row per node, by rank, with those of its GPUs that are free (or spare) now.
void taken_of(const StateImpl& state, std::span<const TakenGpus> taken, std::vector<kernel::TakenRow>& out);

}  // namespace berth::core
