#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "berth/units.hpp"

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

}  // namespace berth::cli
