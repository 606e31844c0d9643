#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::cli {

inline constexpr std::size_t kMostEchoed = 80;  ///< bytes of an argument that a message repeats

/// An argument as a message shows it: short, and harmless on a terminal. Names of files are shown whole.
inline std::string echoed(std::string_view argument) {
  const std::string text = core::escape_control(io::cut_utf8(argument, kMostEchoed));
  return argument.size() > kMostEchoed ? text + "..." : text;
}

}  // namespace berth::cli
