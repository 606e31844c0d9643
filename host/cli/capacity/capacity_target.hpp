#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::cli {

/// What a cluster has to reach: "p90_wait<1h".
struct CapacityTarget {
  enum Compare : std::uint8_t { kBelow, kAtMost, kAbove, kAtLeast };

  std::size_t metric = 0;
  Compare compare = kBelow;
  std::int64_t value = 0;  ///< in the unit of the metric's column
  std::string text;        ///< as it was given

  bool smaller_is_better() const { return compare == kBelow || compare == kAtMost; }
  bool holds(std::int64_t figure) const { return holds_on_mean(std::span(&figure, 1)); }
  /// Whether the mean holds, computed exactly. @param figures  one at least
  bool holds_on_mean(std::span<const std::int64_t> figures) const;
};

/// @throws InvalidArgument naming the text, with the nearest metric or the unit that is missing.
CapacityTarget parse_target(std::string_view text);
/// @throws InvalidArgument for a figure that is to be high and that more nodes do not raise, and for a part above 1
void check_target(const CapacityTarget& target);

/// "<=".
std::string_view sign_of(CapacityTarget::Compare compare);

}  // namespace berth::cli
