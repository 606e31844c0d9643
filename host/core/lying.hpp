#pragma once

#include <cstdint>

#include "host/core/objective.hpp"

namespace berth::core {

/// Ways in which a gang may lie, as a search tells them apart (kernel::plus_class): on one node; in one NVLink domain; in one domain of
/// level 1, 2, ... of the switch facet.
std::int32_t lying_classes(const StateImpl& state);

/// The speed of an option that lies so, from that at the tightest place. On as few nodes as it can; the least of the uplinks that it would
/// cross and the longest of their latencies, whichever domain it lies in.
std::int64_t speed_lying(const StateImpl& state, const ChoiceOption& option, std::int32_t lying, std::int64_t tightest);

}  // namespace berth::core
