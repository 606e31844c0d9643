#pragma once

#include <string>

#include "berth/plan.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/fields/kinds.hpp"

namespace berth::io {

/// A text that is displayed, so it must not contain control sequences for terminals.
struct DisplayedText : Text {
  static void read(JsonCursor& in, std::string& out) {
    Text::read(in, out);
    if (core::escape_control(out) != out) in.fail("a text must not hold control characters");
  }
};

/// The bound of a plan.
struct BoundObject {
  static void read(JsonCursor& in, Bound& out);
  static void write(JsonWriter& w, const Bound& bound);
  static void describe(JsonWriter& w);
};

/// A `berth.bound.v1` document: the same fields behind `schema`. No command reads it back.
std::string to_json(const Bound& bound);

}  // namespace berth::io
