#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/units.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/suggest.hpp"
#include "host/io/json/distinct_keys.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::io {

/// One field of an object: the reader, the writer and the JSON Schema come from tables of these.
///
/// @tparam In   The object while it is read.
/// @tparam Out  The object that is written.
template <class In, class Out = In>
struct Field {
  std::string_view name;
  void (*read)(JsonCursor& in, In& out);
  bool required = false;
  /// Writes key and value, or nothing where the field is omitted. Null: the field is only read.
  void (*write)(JsonWriter& w, std::string_view name, const Out& object) = nullptr;
  /// Writes the schema of the value. @param about  What it means, where the name does not say it.
  void (*describe)(JsonWriter& w, std::string_view about) = nullptr;
  std::string_view about = {};
};

[[noreturn]] void fail_unknown(const JsonCursor& in, std::string_view key, std::span<const std::string_view> known, bool takes_x);
/// Keeps the raw value of an `x_...` field. @throws InputError for a repeated key.
void read_extension(JsonCursor& in, std::string_view key, DistinctKeys& keys, Extensions& x);

/// Reads an object field by field. Unknown, repeated and missing fields are errors; `x_...` fields go to `out.x` where T has it.
///
/// @param fields  At most 64. The search starts after the field found last, so a file in this order costs one comparison per field.
/// @returns one bit per field that was present.
template <class T, class Out>
std::uint64_t read_object(JsonCursor& in, T& out, std::span<const Field<T, Out>> fields) {
  constexpr bool kTakesX = requires { out.x; };
  DistinctKeys extensions;
  const char* at = in.next_mark();
  std::uint64_t seen = 0;
  std::size_t expected = 0;
  in.object([&](std::string_view key) {
    std::size_t i = expected;
    std::size_t left = fields.size();
    for (; left > 0 && fields[i].name != key; --left) i = i + 1 == fields.size() ? 0 : i + 1;
    if (left == 0) {
      if constexpr (kTakesX) {
        if (key.substr(0, 2) == "x_") return read_extension(in, key, extensions, out.x);
      }
      std::vector<std::string_view> known;
      for (const Field<T, Out>& field : fields) known.push_back(field.name);
      fail_unknown(in, key, known, kTakesX);
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((seen & bit) != 0) in.fail(fmt::format("duplicate field '{}'", key));
    seen |= bit;
    expected = i + 1 == fields.size() ? 0 : i + 1;
    fields[i].read(in, out);
  });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].required && (seen >> i & 1) == 0) in.fail_at(at, fmt::format("the field '{}' is missing", fields[i].name));
  }
  return seen;
}

template <class T, class Out, std::size_t N>
std::uint64_t read_object(JsonCursor& in, T& out, const Field<T, Out> (&fields)[N]) {
  static_assert(N <= 64, "one bit a field");
  return read_object(in, out, std::span<const Field<T, Out>>(fields));
}

/// Writes the fields into the current object, from the `First`-th on. Extensions come last.
/// The calls are unrolled, because calls through pointers cost a tenth of the time.
template <const auto& Fields, std::size_t First = 0, std::size_t End = std::size(Fields), class Out>
void write_fields(JsonWriter& w, const Out& object) {
  const auto write = [&]<std::size_t I>(std::integral_constant<std::size_t, I> /*index*/) {
    constexpr const auto& kField = Fields[I];
    if constexpr (kField.write != nullptr) kField.write(w, kField.name, object);
  };
  [&]<std::size_t... I>(std::index_sequence<I...> /*offsets*/) { (write(std::integral_constant<std::size_t, First + I>()), ...); }
  (std::make_index_sequence<End - First>());
  if constexpr (requires { object.x; }) w.extensions(object.x);
}

/// Writes the schema of an object with these fields into the current object.
template <class In, class Out>
void describe_fields(JsonWriter& w, std::span<const Field<In, Out>> fields) {
  w.text("type", "object");
  w.key("properties");
  w.object([&] {
    for (const Field<In, Out>& field : fields) w.key(field.name), field.describe(w, field.about);
  });
  w.key("required");
  w.array([&] {
    for (const Field<In, Out>& field : fields) {
      if (field.required) w.string(field.name);
    }
  });
  w.key("additionalProperties"), w.raw("false");
  if constexpr (requires(In & in) { in.x; }) w.key("patternProperties"), w.raw(R"({"^x_":{}})");
}

template <class In, class Out, std::size_t N>
void describe_fields(JsonWriter& w, const Field<In, Out> (&fields)[N]) {
  describe_fields(w, std::span<const Field<In, Out>>(fields));
}

}  // namespace berth::io
