#include <fmt/format.h>

#include <algorithm>

#include "host/core/check_snapshot.hpp"

namespace berth::core {

void check_text(std::string_view text, const Where& where, std::string_view field) {
  if (text.size() > kMaxNameBytes) {
    where.fail_at(field, fmt::format("a text of {} bytes is longer than {}: '{}...'", text.size(), kMaxNameBytes, text.substr(0, 32)));
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), control)) where.fail_at(field, "a text must not hold control characters");
}

void check_name(std::string_view text, const Where& where, std::string_view field) {
  if (text.empty()) where.fail_at(field, "a name must not be empty");
  check_text(text, where, field);
}

void check_range(std::int64_t value, std::int64_t least, std::int64_t most, const Where& where, std::string_view field) {
  if (value < least || value > most) where.fail_at(field, fmt::format("{} is not within {} to {}", value, least, most));
}

void check_time(TimeUs value, const Where& where, std::string_view field) {
  if (value < 0 || value > kMaxTimeUs) where.fail_at(field, fmt::format("{} microseconds are not within 0 to {}", value, kMaxTimeUs));
}

void check_time_or_never(TimeUs value, const Where& where, std::string_view field) {
  if (value != kNever) check_time(value, where, field);
}

void check_extensions(const Extensions& x, const Where& where) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::string& key = x[i].first;
    if (key.substr(0, 2) != "x_") where.fail(fmt::format("the extension '{}' does not begin with 'x_'", key));
    for (std::size_t j = 0; j < i; ++j) {
      if (x[j].first == key) where.fail(fmt::format("the extension '{}' stands here twice", key));
    }
  }
}

}  // namespace berth::core
