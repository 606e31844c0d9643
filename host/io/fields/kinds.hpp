#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/units.hpp"
#include "host/core/base/names.hpp"
#include "host/io/json/json_fields.hpp"

/// Kinds of values in tables of fields. A kind has
///
///     static void read(JsonCursor& in, V& out);
///     static void write(JsonWriter& w, const V& value);  // none: the field is only read
///     static void describe(JsonWriter& w);               // keywords of JSON Schema, into the current object
///     static constexpr std::string_view kNote;           // optional: the unit and precision, for descriptions
///     static bool absent(const V& value);                // optional: when it is omitted; otherwise at its default
///
/// `read`, `write` and `absent` may take the object that holds the value as their last argument.
namespace berth::io {

template <class Kind>
void describe(JsonWriter& w, std::string_view about = {}) {
  w.object([&] {
    Kind::describe(w);
    std::string text(about);
    if constexpr (requires { Kind::kNote; }) text += (text.empty() || Kind::kNote.empty() ? "" : ", ") + std::string(Kind::kNote);
    w.text_unless("description", text, "");
  });
}

struct Text {
  static void read(JsonCursor& in, std::string& out) { out = in.string(); }
  static void write(JsonWriter& w, std::string_view value) { w.string(value); }
  static void describe(JsonWriter& w) { w.text("type", "string"); }
};

/// A text that must not be empty. Whoever reads it checks that, or a check of the whole does.
struct Name : Text {
  static void describe(JsonWriter& w) { Text::describe(w), w.number("minLength", 1); }
};

/// The id of something.
struct Id : Name {
  static void describe(JsonWriter& w) { Name::describe(w), w.number("maxLength", 1024); }
};

struct Boolean {
  static void read(JsonCursor& in, bool& out) { out = in.boolean(); }
  static void write(JsonWriter& w, bool value) { w.raw(value ? "true" : "false"); }
  static void describe(JsonWriter& w) { w.text("type", "boolean"); }
};

/// An integer, written as a decimal with `Places` digits after the point. The bounds are of the integer.
template <int Places, std::int64_t Low, std::int64_t High>
struct Number {
  static constexpr std::string_view kNote = Places == 3    ? "at most 3 digits after the point"
                                            : Places == 6  ? "at most 6 digits after the point"
                                            : Places == 12 ? "at most 12 digits after the point"
                                                           : "";

  template <class V>
  static void read(JsonCursor& in, V& out) {
    static_assert(std::in_range<V>(Low) && std::in_range<V>(High));
    out = static_cast<V>(in.decimal(Places, Low, High));
  }
  static void write(JsonWriter& w, std::int64_t value) { w.decimal(value, Places); }
  static void describe(JsonWriter& w) {
    w.text("type", Places == 0 ? "integer" : "number");
    if (Places > 0 && Low == 1) {
      w.number("exclusiveMinimum", 0);
    } else if (Low != std::numeric_limits<std::int64_t>::min()) {
      w.number("minimum", Low, Places);
    }
    if (High != std::numeric_limits<std::int64_t>::max()) w.number("maximum", High, Places);
  }
};

template <std::int64_t Low, std::int64_t High>
using Integer = Number<0, Low, High>;
using AnyInteger = Integer<std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()>;
using AnyInt32 = Integer<std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()>;
inline constexpr std::int64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
using Count = Integer<0, kMaxCount>;
using Whole = Integer<0, std::numeric_limits<std::int64_t>::max()>;
using Bytes = Integer<0, kMaxBytes>;
using Samples = Integer<0, kScoreCeiling>;
using GpuIndex = Integer<0, kMaxGpusPerNode - 1>;
/// A quantity in thousandths.
using Milli = Number<3, 0, kMaxBytes>;
/// A quantity in millionths.
using Micro = Number<6, 0, kScoreCeiling>;
using AnyMicro = Number<6, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()>;
using Millionths = Number<6, 0, std::numeric_limits<std::int64_t>::max()>;
/// A weight in millionths, above zero.
using Weight = Number<6, 1, kScoreCeiling>;
/// A fraction in millionths.
using Ratio = Number<6, 0, 1'000'000>;
using LearningRate = Number<12, 0, kScoreCeiling>;

struct Seconds : Number<6, 0, kMaxTimeUs> {
  static constexpr std::string_view kNote = "seconds, at most 6 digits after the point";
};
/// A share of one GPU: 0.25 is 250,000 ppm.
struct GpuShare : Number<6, 1, kWholeGpu> {
  static constexpr std::string_view kNote = "of one GPU, at most 6 digits after the point";
};

/// A whole number of 64 bits.
struct Unsigned {
  static void read(JsonCursor& in, std::uint64_t& out) { parse(in, in.raw(), 10, out); }
  static void write(JsonWriter& w, std::uint64_t value) { w.raw(fmt::format("{}", value)); }
  static void describe(JsonWriter& w) { w.text("type", "integer"), w.number("minimum", 0); }

 protected:
  static void parse(const JsonCursor& in, std::string_view text, int base, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
    if (error != std::errc() || end != text.data() + text.size()) in.fail(fmt::format("{} is no whole number of 64 bits", in.shown()));
  }
};

/// An enumerator by its name.
template <class E>
struct Enum {
  static void read(JsonCursor& in, E& out) {
    const auto value = core::from_name<E>(in.string());
    if (!value) in.fail(fmt::format("{} is none of: {}", in.shown(), core::all_names<E>()));
    out = *value;
  }
  static void write(JsonWriter& w, E value) { w.string(core::name(value)); }
  static void describe(JsonWriter& w) {
    w.key("enum");
    w.array([&] {
      for (std::string_view left = core::all_names<E>(); !left.empty();) {
        const std::size_t end = std::min(left.find(", "), left.size());
        w.string(left.substr(0, end));
        left.remove_prefix(std::min(end + 2, left.size()));
      }
    });
  }
};

struct Topology : Enum<TopologyKind> {
  static void describe(JsonWriter& w) { Enum::describe(w), w.text("default", core::name(TopologyKind::kSwitch)); }
};

/// The same text in every document.
template <const std::string_view& Value>
struct Constant {
  template <class Holder>
  static void write(JsonWriter& w, const Holder& /*any*/) {
    w.string(Value);
  }
  static void describe(JsonWriter& w) { w.text("const", Value); }
};

/// The name of the document's format.
template <const std::string_view& Format>
struct SchemaName : Constant<Format> {
  template <class Document>
  static void read(JsonCursor& in, Document& /*any*/) {
    if (in.string() != Format) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", Format, in.shown()));
  }
};

// Whether a kind takes the object that holds the value.
template <class Kind, class V, class Holder>
void read_as(JsonCursor& in, V& out, Holder& holder) {
  if constexpr (requires { Kind::read(in, out, holder); }) {
    Kind::read(in, out, holder);
  } else {
    Kind::read(in, out);
  }
}
template <class Kind, class V, class Holder>
void write_as(JsonWriter& w, const V& value, const Holder& holder) {
  if constexpr (requires { Kind::write(w, value, holder); }) {
    Kind::write(w, value, holder);
  } else {
    Kind::write(w, value);
  }
}

/// @tparam OnLines  Whether each element is written on its own line.
template <class Kind, bool OnLines = false>
struct List {
  template <class V, class Holder>
  static void read(JsonCursor& in, std::vector<V>& out, Holder& holder) {
    in.array([&] { read_as<Kind>(in, out.emplace_back(), holder); });
  }
  template <class V, class Holder>
  static void write(JsonWriter& w, const V& values, const Holder& holder) {
    w.array([&] {
      for (const auto& value : values) {
        if (OnLines) w.new_line();
        write_as<Kind>(w, value, holder);
      }
    });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "array");
    w.key("items"), io::describe<Kind>(w);
  }
};
template <class Kind>
using Lines = List<Kind, true>;

/// {"name": value}, as a list of pairs with unique names.
template <class Kind>
struct Map {
  template <class V, class Holder>
  static void read(JsonCursor& in, std::vector<std::pair<std::string, V>>& out, Holder& holder) {
    DistinctKeys keys;
    in.object([&](std::string_view key) {
      if (!keys.add(key)) in.fail(fmt::format("duplicate field '{}'", key));
      out.emplace_back(std::string(key), V());
      read_as<Kind>(in, out.back().second, holder);
    });
  }
  template <class Pairs, class Holder>
  static void write(JsonWriter& w, const Pairs& pairs, const Holder& holder) {
    w.object([&] {
      for (const auto& [name, value] : pairs) w.key(name), write_as<Kind>(w, value, holder);
    });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "object");
    w.key("additionalProperties"), io::describe<Kind>(w);
  }
};

/// An object with its own table of fields: an array or a span of them.
template <const auto& Fields>
struct Object {
  template <class V>
  static void read(JsonCursor& in, V& out) {
    read_object(in, out, Fields);
  }
  template <class V>
  static void write(JsonWriter& w, const V& value) {
    w.object([&] { write_fields<Fields>(w, value); });
  }
  static void describe(JsonWriter& w) { describe_fields(w, Fields); }
};

template <class Kind>
struct Optional : Kind {
  template <class V>
  static void read(JsonCursor& in, std::optional<V>& out) {
    Kind::read(in, out.emplace());
  }
  template <class V>
  static void write(JsonWriter& w, const std::optional<V>& value) {
    Kind::write(w, *value);
  }
};

/// Read and written as one kind, and described as another: a later check admits less than the reader.
template <class Kind, class Described>
struct DescribedAs : Kind {
  static constexpr std::string_view kNote = Described::kNote;
  static void describe(JsonWriter& w) { Described::describe(w); }
};

enum class Presence : std::uint8_t { kOptional, kRequired, kAlways };
template <Presence P>
using PresenceOf = std::integral_constant<Presence, P>;
/// Not written at its default.
inline constexpr PresenceOf<Presence::kOptional> kOptional;
inline constexpr PresenceOf<Presence::kRequired> kRequired;
/// Optional in documents, but always written.
inline constexpr PresenceOf<Presence::kAlways> kAlways;

template <class Member>
struct OwnerOf;
template <class T, class V>
struct OwnerOf<V T::*> {
  using Type = T;
};

/// A row that is read or written may be the object itself, or hold it as `value` next to what reading needs.
/// Instead of members there may be a function of the row that computes what is written.
template <class Row>
auto& member_of(Row& row) {
  return row;
}
template <auto First, auto... Rest, class Row>
requires requires(Row& row) { row.*First; }
auto& member_of(Row& row) { return member_of<Rest...>(row.*First); }
template <auto First, auto... Rest, class Row>
requires requires(Row& row) { row.value.*First; }
auto& member_of(Row& row) { return member_of<Rest...>(row.value.*First); }
template <auto Compute, class Row>
requires requires(Row& row) { Compute(row); }
auto member_of(Row& row) { return Compute(row); }

/// `In` of objects that are only written.
struct NotRead {};

template <class Kind, class In, auto... Path>
void read_member(JsonCursor& in, In& row) {
  read_as<Kind>(in, member_of<Path...>(row), row);
}

template <class Kind, class Out, auto... Path>
void write_member(JsonWriter& w, std::string_view name, const Out& row) {
  w.plain_key(name);
  write_as<Kind>(w, member_of<Path...>(row), row);
}

template <auto First, auto... Rest, class V>
bool is_default(const V& value) {
  static const typename OwnerOf<decltype(First)>::Type untouched{};
  return value == member_of<First, Rest...>(untouched);
}

template <class Kind, class Out, auto... Path>
void write_unless_absent(JsonWriter& w, std::string_view name, const Out& row) {
  const auto& value = member_of<Path...>(row);
  if constexpr (requires { Kind::absent(value, row); }) {
    if (Kind::absent(value, row)) return;
  } else if constexpr (requires { Kind::absent(value); }) {
    if (Kind::absent(value)) return;
  } else {
    if (is_default<Path...>(value)) return;
  }
  write_member<Kind, Out, Path...>(w, name, row);
}

template <class Kind, class V, class Holder>
concept Writes = requires(JsonWriter& w, const V& value, const Holder& holder) {
  Kind::write(w, value, holder);
}
|| requires(JsonWriter& w, const V& value) { Kind::write(w, value); };

template <class Kind, class Out, auto... Path>
constexpr bool is_written() {
  if constexpr (requires(const Out& row) { member_of<Path...>(row); }) {
    return Writes<Kind, std::remove_cvref_t<decltype(member_of<Path...>(std::declval<const Out&>()))>, Out>;
  } else {
    return false;
  }
}

/// A member of a given kind; it becomes a field of whatever table it stands in.
template <class Kind, Presence P, auto... Path>
struct Member {
  std::string_view name;
  std::string_view about;

  template <class In, class Out>
  constexpr operator Field<In, Out>() const {  // NOLINT(google-explicit-constructor): tables list members as fields
    Field<In, Out> field{name, nullptr, P == Presence::kRequired};
    if constexpr (!std::is_same_v<In, NotRead>) field.read = &read_member<Kind, In, Path...>;
    if constexpr (is_written<Kind, Out, Path...>()) {
      if constexpr (P == Presence::kOptional) {
        field.write = &write_unless_absent<Kind, Out, Path...>;
      } else {
        field.write = &write_member<Kind, Out, Path...>;
      }
    }
    field.describe = &describe<Kind>;
    field.about = about;
    return field;
  }
};

/// @tparam Path  Pointers to members, from the object to the value; none: the kind takes the object itself.
///               Where the object is only written, it may be a function of it.
/// @param about  What the value means, for the schema, where the name does not say it.
template <class Kind, auto... Path, Presence P = Presence::kOptional>
constexpr Member<Kind, P, Path...> field(std::string_view name, PresenceOf<P> /*presence*/ = {}, std::string_view about = {}) {
  return {name, about};
}

}  // namespace berth::io
