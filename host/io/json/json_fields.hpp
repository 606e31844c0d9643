#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/units.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/suggest.hpp"
#include "host/io/json/distinct_keys.hpp"
#include "host/io/json/json_cursor.hpp"

namespace berth::io {

/// One known field of an object of type T.
template <class T>
struct Field {
  std::string_view name;
  void (*read)(JsonCursor& in, T& out);
  bool required = false;
};

[[noreturn]] void fail_unknown(const JsonCursor& in, std::string_view key, std::span<const std::string_view> known, bool takes_x);
/// Keeps the raw value of an `x_...` field. @throws InputError for a repeated key.
void read_extension(JsonCursor& in, std::string_view key, DistinctKeys& keys, Extensions& x);

/// Reads an object field by field. Unknown, repeated and missing fields are errors; `x_...` fields go to `out.x` where T has it.
///
/// @param fields  At most 64. The search starts after the field found last, so a file in this order costs one comparison per field.
/// @returns one bit per field that was present.
template <class T>
std::uint64_t read_object(JsonCursor& in, T& out, std::span<const Field<T>> fields) {
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
      for (const Field<T>& field : fields) known.push_back(field.name);
      fail_unknown(in, key, known, kTakesX);
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((seen & bit) != 0) in.fail(fmt::format("the field '{}' stands here twice", key));
    seen |= bit;
    expected = i + 1 == fields.size() ? 0 : i + 1;
    fields[i].read(in, out);
  });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].required && (seen >> i & 1) == 0) in.fail_at(at, fmt::format("the field '{}' is missing", fields[i].name));
  }
  return seen;
}

template <class T, std::size_t N>
std::uint64_t read_object(JsonCursor& in, T& out, const Field<T> (&fields)[N]) {
  static_assert(N <= 64, "one bit a field");
  return read_object(in, out, std::span<const Field<T>>(fields));
}

/// Reads a list of objects into `out`, appending.
template <class T, std::size_t N>
void read_rows(JsonCursor& in, std::vector<T>& out, const Field<T> (&fields)[N]) {
  in.array([&] { read_object(in, out.emplace_back(), fields); });
}

/// Reads an enumerator by name.
template <class E>
E read_enum(JsonCursor& in) {
  const std::string_view text = in.string();
  const auto value = core::from_name<E>(text);
  if (!value) in.fail(fmt::format("{} is none of: {}", in.shown(), core::all_names<E>()));
  return *value;
}

inline std::string read_string(JsonCursor& in) { return std::string(in.string()); }
std::vector<std::string> read_strings(JsonCursor& in);
std::vector<std::int32_t> read_indices(JsonCursor& in);

/// Decimal seconds with at most six digits after the point.
inline TimeUs read_time(JsonCursor& in) { return in.decimal(6, 0, kMaxTimeUs); }
inline std::int64_t read_bytes(JsonCursor& in) { return in.integer(0, kMaxBytes); }
inline std::int32_t read_count(JsonCursor& in) { return static_cast<std::int32_t>(in.integer(0, INT32_MAX)); }
/// A share of one GPU: 0.25 is 250,000 ppm.
inline std::int32_t read_share(JsonCursor& in) { return static_cast<std::int32_t>(in.decimal(6, 1, kWholeGpu)); }
/// A quantity in millionths, not negative.
inline std::int64_t read_micro(JsonCursor& in) { return in.decimal(6, 0, kScoreCeiling); }
/// A weight in millionths, above zero.
inline std::int64_t read_weight(JsonCursor& in) { return in.decimal(6, 1, kScoreCeiling); }
/// A quantity in thousandths, not negative.
inline std::int64_t read_milli(JsonCursor& in) { return in.decimal(3, 0, kMaxBytes); }

}  // namespace berth::io
