#pragma once

#include <berth.h>

#include "berth/snapshot.hpp"

namespace berth::c {

/// The snapshot that a caller's arrays describe, not yet checked. @throws InvalidArgument
Snapshot snapshot_of(const berth_cluster* cluster);

}  // namespace berth::c
