#include "host/io/kueue/quantity.hpp"

#include <array>
#include <string>

#include "berth/units.hpp"
#include "host/io/files/measured_number.hpp"

namespace berth::io::kueue {
namespace {

struct Suffix {
  std::string_view text;
  int tens;   // power of ten
  int kibis;  // power of 1024
};
// Longer ones first: "Mi" ends in a letter that alone has no meaning, "m" and "M" differ.
constexpr std::array<Suffix, 15> kSuffixes{{{"Ki", 0, 1},
                                            {"Mi", 0, 2},
                                            {"Gi", 0, 3},
                                            {"Ti", 0, 4},
                                            {"Pi", 0, 5},
                                            {"Ei", 0, 6},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0}}};

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text) {
  Suffix suffix{"", 0, 0};
  for (const Suffix& one : kSuffixes) {
    if (text.size() <= one.text.size() || text.substr(text.size() - one.text.size()) != one.text) continue;
    suffix = one;
    break;
  }
  text.remove_suffix(suffix.text.size());
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  // A quantity has either a suffix or an exponent.
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != text.npos && !suffix.text.empty()) return std::nullopt;
  std::string number(text);
  const std::size_t point = number.find('.');
  if (point != number.npos) {
    const std::size_t end = exponent == text.npos ? number.size() : exponent;
    if (end == 1) return std::nullopt;             // a point alone
    if (point + 1 == end) number.erase(point, 1);  // "5."
    if (point == 0) number.insert(0, 1, '0');      // ".5"
  }
  constexpr int kMilli = 3;
  const auto parsed = parse_measured(number, kMilli + suffix.tens);
  if (!parsed) return std::nullopt;
  std::int64_t value = *parsed;
  for (int i = 0; i < suffix.kibis; ++i) {
    if (value > kScoreCeiling / 1024) return std::nullopt;
    value *= 1024;
  }
  return value;
}

}  // namespace berth::io::kueue
