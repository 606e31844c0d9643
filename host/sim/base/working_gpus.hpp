#pragma once

#include <cstdint>

#include "berth/snapshot.hpp"

namespace berth::sim {

/// GPUs of the cluster that have not failed, even if their nodes become available later.
std::int64_t working_gpus(const Snapshot& cluster);

}  // namespace berth::sim
