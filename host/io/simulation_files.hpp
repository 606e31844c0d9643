#pragma once

#include <string>
#include <string_view>

#include "berth/events.hpp"
#include "berth/overheads.hpp"

/// What a simulation takes beside a cluster and a trace.
namespace berth::io {

/// Reads a `berth.overheads.v1` document (docs/formats/overheads.md).
/// @throws InputError naming file, line, JSON pointer and value.
Overheads parse_overheads(std::string_view json, const std::string& name = "overheads");

/// Reads a `berth.events.v1` document (docs/formats/events.md): events by time, equal ones as they stand there.
/// @throws InputError as `parse_overheads`.
ClusterEvents parse_events(std::string_view json, const std::string& name = "events");

}  // namespace berth::io
