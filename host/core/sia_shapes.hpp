#pragma once

#include <cstdint>
#include <span>

#include "berth/kernel/objective.hpp"
#include "host/core/objective.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Takes the speed of those of a job's shapes that Sia (SOSP'23) would not consider: of each GPU type a power of two inside a node, or
/// whole nodes; and at most twice the GPUs that the job has or, of a waiting one, that its rates were seen on, but always its smallest such
/// shape. Left as they are: the shape in which it runs; and all, where none is of that form, as the job asks for no other.
void keep_sia_shapes(const StateImpl& state, std::int32_t slot, bool running, std::span<const ChoiceOption> options,
                     std::span<kernel::ShapeTerms> shapes);

}  // namespace berth::core
