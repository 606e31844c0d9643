#pragma once

#include <string>
#include <string_view>

#include "berth/snapshot.hpp"

namespace berth::io {

/// Reads the cluster of a `berth.cluster.v1` or `berth.snapshot.v1` document.
/// Jobs, history and reservations of a snapshot are ignored, because they belong to another time.
/// @throws InputError naming file, line, JSON pointer and value.
Snapshot parse_cluster(std::string_view json, const std::string& name = "cluster");

}  // namespace berth::io
