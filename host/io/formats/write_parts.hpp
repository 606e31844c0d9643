#pragma once

#include "berth/snapshot.hpp"
#include "host/io/json/json_writer.hpp"

/// Writers of the parts of a snapshot. Values equal to their default are omitted.
namespace berth::io {

// write_cluster.cpp
void write(JsonWriter& w, const GpuType& type);
void write(JsonWriter& w, const Domain& domain);
void write(JsonWriter& w, const Node& node);
void write(JsonWriter& w, const Queue& queue);
void write(JsonWriter& w, const Reservation& reservation);

// write_shape.cpp
void write(JsonWriter& w, const Shape& shape);
/// Writes the fields "topology" and "level" into the current object.
void write_level(JsonWriter& w, const LevelRef& ref);

// write_profile.cpp
void write(JsonWriter& w, const Profile& profile);
void write(JsonWriter& w, const Progress& progress);

// write_job.cpp
void write(JsonWriter& w, const Job& job);
void write(JsonWriter& w, const FinishedJob& job);

}  // namespace berth::io
