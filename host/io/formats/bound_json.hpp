#pragma once

#include "berth/plan.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::io {

/// Writes the fields of a bound into the current object: a plan's `bound`, and berth.bound.v1.
void write_bound_fields(JsonWriter& w, const Bound& bound);

}  // namespace berth::io
