#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "host/core/base/decimal.hpp"
#include "host/core/base/distinct.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {

void check_text(std::string_view text, const InputLocation& where, std::string_view field) {
  if (text.size() > kMaxNameBytes) {
    where.fail_at(field, fmt::format("a text of {} bytes is longer than {}: '{}...'", text.size(), kMaxNameBytes, text.substr(0, 32)));
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const auto found = std::find_if(text.begin(), text.end(), control);
  if (found == text.end()) {
    const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!ascii && !simdjson::validate_utf8(text.data(), text.size())) where.fail_at(field, "a text must be UTF-8");
    return;
  }
  where.fail_at(field, fmt::format("a text must not hold control characters; this one has {} at byte {}",
                                   *found == '\0' ? std::string("a NUL") : fmt::format("U+{:04X}", static_cast<unsigned char>(*found)),
                                   found - text.begin() + 1));
}

void check_name(std::string_view text, const InputLocation& where, std::string_view field) {
  if (text.empty()) where.fail_at(field, "a name must not be empty");
  check_text(text, where, field);
}

void check_range(std::int64_t value, std::int64_t least, std::int64_t most, const InputLocation& where, std::string_view field) {
  if (value < least || value > most) where.fail_at(field, fmt::format("{} is not within {} to {}", value, least, most));
}

void check_decimal(std::int64_t value, int places, std::int64_t least, std::int64_t most, const InputLocation& where,
                   std::string_view field) {
  if (value >= least && value <= most) return;
  where.fail_at(field, fmt::format("{} is not within {} to {}", decimal_text(value, places), decimal_text(least, places),
                                   decimal_text(most, places)));
}

void check_time(TimeUs value, const InputLocation& where, std::string_view field) { check_decimal(value, 6, 0, kMaxTimeUs, where, field); }

void check_time_or_never(TimeUs value, const InputLocation& where, std::string_view field) {
  if (value != kNever) check_time(value, where, field);
}

void check_extensions(const Extensions& x, const InputLocation& where) {
  for (const auto& one : x) {
    if (one.first.substr(0, 2) != "x_") where.fail(fmt::format("the extension '{}' does not begin with 'x_'", one.first));
  }
  find_repeat(
      x.size(), [&](std::size_t i) { return std::string_view(x[i].first); },
      [&](std::size_t i) { where.fail(fmt::format("duplicate extension '{}'", x[i].first)); });
}

}  // namespace berth::core
