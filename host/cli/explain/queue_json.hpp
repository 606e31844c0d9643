#pragma once

#include <string>
#include <vector>

#include "berth/state.hpp"
#include "host/core/quota/queue_standing.hpp"

namespace berth::cli {

/// The document `berth.queues.v1`: docs/formats/queues.md.
std::string queue_json(const ClusterState& state, const std::vector<core::QueueStanding>& standings);
std::string queues_schema();

}  // namespace berth::cli
