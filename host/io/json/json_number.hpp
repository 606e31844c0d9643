#pragma once

#include <cstdint>
#include <string_view>

namespace berth::io {

enum class DecimalError : std::uint8_t { kNone, kTooManyDigits, kTooLarge };

/// `number` * 10^places as an exact integer, without using a double.
///
/// @param number  A number in JSON's grammar, exponent allowed ("1e-06" is one millionth).
/// @param out     Written only on success.
/// @returns kTooManyDigits when the value has more than `places` digits after the point, not counting trailing zeros;
///          kTooLarge when it does not fit in 64 bits.
DecimalError scale_decimal(std::string_view number, int places, std::int64_t& out);

}  // namespace berth::io
