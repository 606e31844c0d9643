#pragma once

#include <cstdint>

#include "berth/snapshot.hpp"

namespace berth::sim {

/// GPUs of the cluster that have not failed, whether or not their nodes are there from the beginning.
std::int64_t working_gpus(const Snapshot& cluster);

}  // namespace berth::sim
