#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::io {

/// Parses a measured quantity, in units of 10^-places, rounded down: "4.907044539018749", "1e-05".
/// @returns nothing for a negative or another text ("nan", "inf", "", "+1"), and beyond kScoreCeiling.
std::optional<std::int64_t> parse_measured(std::string_view text, int places);

}  // namespace berth::io
