#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::report {

/// "srsf@discipline=easy", as the option --policy takes it.
inline std::string policy_text(std::string text, const std::vector<std::pair<std::string, std::string>>& params) {
  for (const auto& [name, value] : params) text += fmt::format("@{}={}", name, value);
  return text;
}

}  // namespace berth::report
