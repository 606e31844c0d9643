#pragma once

#include "berth/plan.hpp"
#include "host/io/json_writer.hpp"

namespace berth::io {

/// The fields of a bound, into the object in hand: a plan's `bound`, and berth.bound.v1.
void write_bound_fields(JsonWriter& w, const Bound& bound);

}  // namespace berth::io
