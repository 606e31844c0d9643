#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "host/core/check/check_snapshot.hpp"

namespace berth::io {

inline bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Describes what is wrong with a text used as a name: too long, or with control characters. Empty when nothing is.
inline std::string name_problem(std::string_view text) {
  if (text.size() > core::kMaxNameBytes) return fmt::format("a text of {} bytes is longer than {}", text.size(), core::kMaxNameBytes);
  return has_control(text) ? "a text must not hold control characters" : "";
}

}  // namespace berth::io
