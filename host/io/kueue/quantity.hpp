#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::io::kueue {

/// Parses a quantity of Kubernetes in thousandths, rounded down: "8", "1500m", "0.5", "2k", "1Ki", "12e2".
/// @returns nothing for another text, a negative quantity, and beyond kScoreCeiling.
std::optional<std::int64_t> parse_quantity(std::string_view text);

}  // namespace berth::io::kueue
