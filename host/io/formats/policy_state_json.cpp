#include <map>
#include <string>
#include <string_view>

#include "berth/io.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kStateFormat = "berth.state.v1";

struct Version : Integer<1, 1> {
  static void describe(JsonWriter& w) { w.number("const", 1); }
};

/// A sorted map from names to values.
template <class Kind>
struct SortedMap : Map<Kind> {
  template <class V>
  static void read(JsonCursor& in, std::map<std::string, V>& out) {
    in.object([&](std::string_view key) {
      const auto [at, added] = out.emplace(std::string(key), V());
      if (!added) in.fail(fmt::format("duplicate field '{}'", key));
      Kind::read(in, at->second);
    });
  }
  template <class V>
  static void write(JsonWriter& w, const std::map<std::string, V>& values) {
    Map<Kind>::write(w, values, values);
  }
};

constexpr Field<PolicyState> kStateFields[] = {
    field<SchemaName<kStateFormat>>("schema", kRequired),
    field<Version, &PolicyState::version>("version", kRequired),
    field<Text, &PolicyState::policy>("policy", kRequired),
    field<SortedMap<AnyInteger>, &PolicyState::scalars>("scalars", kAlways),
    field<SortedMap<SortedMap<AnyInteger>>, &PolicyState::columns>("columns", kAlways),
};

}  // namespace

PolicyState parse_policy_state(std::string_view json, const std::string& name) {
  PolicyState state;
  JsonCursor in(json, name);
  read_object(in, state, kStateFields);
  in.finish();
  return state;
}

std::string to_json(const PolicyState& state) {
  JsonWriter w;
  Object<kStateFields>::write(w, state);
  return w.finish();
}

std::string state_schema() { return schema_of<kStateFields>(kStateFormat, "What a policy keeps from one decision to the next"); }

}  // namespace berth::io
