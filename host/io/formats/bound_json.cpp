#include "host/io/formats/bound_json.hpp"

namespace berth::io {

void write_bound_fields(JsonWriter& w, const Bound& bound) {
  w.text("objective", bound.objective);
  w.number("value", bound.value);
  w.number("bound", bound.bound);
  w.key("prices");
  w.object([&] {
    for (const auto& one : bound.prices) w.number(one.first, one.second);
  });
  if (bound.terms.empty()) return;
  w.key("terms");
  w.object([&] {
    for (const auto& one : bound.terms) w.number(one.first, one.second);
  });
}

}  // namespace berth::io
