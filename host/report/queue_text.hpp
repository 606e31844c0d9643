#pragma once

#include <string>
#include <vector>

#include "berth/queues.hpp"
#include "berth/state.hpp"

namespace berth::report {

/// A table of what queues are entitled to, have and ask for: docs/quotas.md.
std::string queue_text(const ClusterState& state, const std::vector<QueueStanding>& standings);

/// A line for each queue that waits for GPUs to which it is entitled, at most `most` of them; empty: none does.
std::string starving_queues_text(const ClusterState& state, const std::vector<QueueStanding>& standings, std::size_t most);

}  // namespace berth::report
