#pragma once

#include <string>
#include <string_view>

#include "host/io/fields/kinds.hpp"

/// JSON Schemas of the formats, from their tables of fields. `scripts/update-golden` writes them to data/schemas.
namespace berth::io {

/// @param format  Such as "berth.plan.v1".
/// @param more    Writes what else the schema of the whole document says.
template <const auto& Fields, class More = decltype([](JsonWriter&) {})>
std::string schema_of(std::string_view format, std::string_view title, const More& more = {}) {
  JsonWriter w;
  w.object([&] {
    w.text("$schema", "https://json-schema.org/draft/2020-12/schema");
    w.text("$id", std::string(format) + ".json");
    w.text("title", title);
    describe_fields(w, Fields);
    more(w);
  });
  return w.finish();
}

std::string bound_schema();
std::string cluster_schema();
std::string deltas_schema();
std::string edits_schema();
std::string events_schema();
std::string overheads_schema();
std::string plan_schema();
std::string snapshot_schema();
std::string state_schema();
std::string what_if_schema();

}  // namespace berth::io
