#pragma once

#include <string>
#include <string_view>

#include "berth/events.hpp"
#include "berth/overheads.hpp"
#include "host/core/model/queue_changes.hpp"

/// Input files of a simulation besides cluster and trace.
namespace berth::io {

/// Reads a `berth.overheads.v1` document (docs/formats/overheads.md).
/// @throws InputError naming file, line, JSON pointer and value.
Overheads parse_overheads(std::string_view json, const std::string& name = "overheads");

/// What a `berth.events.v1` document says of nodes and jobs, and of queues.
struct EventsDocument {
  ClusterEvents cluster;
  core::QueueChanges queues;
};
/// Reads a `berth.events.v1` document (docs/formats/events.md). Events are sorted by time; equal ones keep their order.
/// @throws InputError as `parse_overheads`.
EventsDocument parse_events(std::string_view json, const std::string& name = "events");

}  // namespace berth::io
