#pragma once

#include <string>
#include <vector>

#include "berth/queues.hpp"
#include "berth/state.hpp"

namespace berth::cli {

/// The document `berth.queues.v1`: docs/formats/queues.md.
std::string queue_json(const ClusterState& state, const std::vector<QueueStanding>& standings);
std::string queues_schema();

}  // namespace berth::cli
