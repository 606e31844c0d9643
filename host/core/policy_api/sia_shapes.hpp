#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/policy_api/objective.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Marks those of a job's options that Sia (SOSP'23) would consider.
/// Sia considers, for each GPU type, powers of two inside a node, or whole nodes. It considers at most twice the GPUs
/// that the job has or, for a waiting job, that its rates were observed on, but always its smallest such option.
/// The option in which it runs is always marked. So are options of any form where none has that form, as the job
/// requests no other.
/// @param considered  [options] out: 1 or 0
void mark_sia_shapes(const StateImpl& state, std::int32_t job, bool running, std::span<const ChoiceOption> options,
                     std::vector<std::uint8_t>& considered);

}  // namespace berth::core
