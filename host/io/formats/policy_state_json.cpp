#include "berth/io.hpp"
#include "host/io/json/json_fields.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kStateSchema = "berth.state.v1";
constexpr std::int32_t kVersion = 1;

std::map<std::string, std::int64_t> read_integers(JsonCursor& in) {
  std::map<std::string, std::int64_t> out;
  in.object([&](std::string_view key) {
    const auto [at, added] = out.emplace(std::string(key), 0);
    if (!added) in.fail(fmt::format("the field '{}' stands here twice", key));
    at->second = in.integer(INT64_MIN, INT64_MAX);
  });
  return out;
}

void read_columns(JsonCursor& in, PolicyState& s) {
  in.object([&](std::string_view key) {
    std::string column(key);
    if (s.columns.count(column) != 0) in.fail(fmt::format("the field '{}' stands here twice", key));
    s.columns.emplace(std::move(column), read_integers(in));
  });
}

constexpr Field<PolicyState> kState[] = {
    {"schema",
     [](JsonCursor& in, PolicyState&) {
       if (in.string() != kStateSchema) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kStateSchema, in.shown()));
     },
     true},
    {"version", [](JsonCursor& in, PolicyState& s) { s.version = static_cast<std::int32_t>(in.integer(kVersion, kVersion)); }, true},
    {"policy", [](JsonCursor& in, PolicyState& s) { s.policy = in.string(); }, true},
    {"scalars", [](JsonCursor& in, PolicyState& s) { s.scalars = read_integers(in); }},
    {"columns", read_columns},
};

void write_integers(JsonWriter& w, const std::map<std::string, std::int64_t>& values) {
  w.object([&] {
    for (const auto& one : values) w.number(one.first, one.second);
  });
}

}  // namespace

PolicyState parse_policy_state(std::string_view json, const std::string& name) {
  PolicyState state;
  JsonCursor in(json, name);
  read_object(in, state, kState);
  in.finish();
  return state;
}

std::string to_json(const PolicyState& state) {
  JsonWriter w;
  w.object([&] {
    w.text("schema", kStateSchema);
    w.number("version", state.version);
    w.text("policy", state.policy);
    w.key("scalars");
    write_integers(w, state.scalars);
    w.key("columns");
    w.object([&] {
      for (const auto& column : state.columns) {
        w.key(column.first);
        write_integers(w, column.second);
      }
    });
  });
  return w.finish();
}

}  // namespace berth::io
