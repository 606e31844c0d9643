#pragma once

#include <cstdint>
#include <span>

#include "berth/kernel/price/objective.hpp"
#include "host/core/policy_api/objective.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Sets the speed to 0 of those of a job's options that Sia (SOSP'23) would not consider.
/// Sia considers, for each GPU type, powers of two inside a node, or whole nodes. It considers at most twice the GPUs
/// that the job has or, for a waiting job, that its rates were observed on, but always its smallest such option.
/// Unchanged are the option in which it runs, and all options where none has that form, as the job requests no other.
void keep_sia_shapes(const StateImpl& state, std::int32_t job, bool running, std::span<const ChoiceOption> options,
                     std::span<kernel::ShapeTerms> shapes);

}  // namespace berth::core
