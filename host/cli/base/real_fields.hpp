#pragma once

#include <fmt/format.h>

#include <optional>

#include "host/io/fields/kinds.hpp"

/// Kinds of values in tables of fields that describe results: no decision uses them.
namespace berth::cli {

/// As many digits as tell it from its neighbours.
struct RealNumber {
  static void write(io::JsonWriter& w, double value) { w.raw(fmt::format("{}", value)); }
  static void describe(io::JsonWriter& w) { w.text("type", "number"); }
};

struct OptionalReal {
  static void write(io::JsonWriter& w, const std::optional<double>& value) { RealNumber::write(w, *value); }
  static void describe(io::JsonWriter& w) { RealNumber::describe(w); }
  static bool absent(const std::optional<double>& value) { return !value; }
};

}  // namespace berth::cli
