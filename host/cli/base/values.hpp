#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/cli/base/echoed.hpp"

/// Parsers for option values that are more than a word or a number.
namespace berth::cli {

/// "100ms", "1.5s", "250us", "2m": a number and its unit, in whole microseconds. @throws InvalidArgument naming the text.
TimeUs parse_duration(std::string_view text);

/// A fraction such as "0.25" in parts per million, 0 to 1. @throws InvalidArgument naming the option and the text.
std::int32_t parse_part(std::string_view option, std::string_view text);

/// A load such as "0.8" or "1.5" in parts per million, above 0 and at most 1,000. @throws InvalidArgument naming the text.
std::int32_t parse_load(std::string_view text);

/// "k=v" at its first '='. @throws InvalidArgument naming the text.
std::pair<std::string, std::string> parse_key_value(std::string_view text);

/// A decimal above 0 and at most `most`, times 10^places; nothing for any other text.
std::optional<std::int64_t> parse_positive(std::string_view text, int places, std::int64_t most);

/// "NAME=VALUE" at the last '=' of each text: a name of a switch may have one. `parse` returns an optional.
/// @throws InvalidArgument naming the option and a text that is none, or a name that is given twice.
template <class Value, class Parse>
std::map<std::string, Value> by_name(const char* option, const std::vector<std::string>& texts, const char* expected, Parse&& parse) {
  std::map<std::string, Value> out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto value = equals == text.npos || equals == 0 ? std::nullopt : parse(std::string_view(text).substr(equals + 1));
    if (!value) throw InvalidArgument(fmt::format("{}: '{}': expected {}", option, echoed(text), expected));
    if (!out.emplace(text.substr(0, equals), static_cast<Value>(*value)).second)
      throw InvalidArgument(fmt::format("{}: '{}' is given twice", option, echoed(text.substr(0, equals))));
  }
  return out;
}

}  // namespace berth::cli
