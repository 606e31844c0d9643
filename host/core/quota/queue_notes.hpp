#pragma once

#include <string>
#include <vector>

#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Legal quotas that are probably slips, one sentence each: docs/quotas.md, "What is refused". Of several queues in their order, then
/// of all together.
std::vector<std::string> queue_notes(const StateView& state);

}  // namespace berth::core
