#pragma once

#include <string>
#include <vector>

#include "berth/state.hpp"
#include "host/core/quota/queue_standing.hpp"

namespace berth::report {

/// A table of what queues are entitled to, have and ask for: docs/quotas.md.
std::string queue_text(const ClusterState& state, const std::vector<core::QueueStanding>& standings);

}  // namespace berth::report
