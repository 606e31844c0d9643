#pragma once

#include <cstdint>
#include <string>

#include "berth/units.hpp"

/// Text of scaled integers, as in files and messages.
namespace berth::core {

/// value / 10^places, exactly, without zeros at the end: (1500000, 6) is "1.5".
std::string decimal_text(std::int64_t value, int places);
void append_decimal(std::string& out, std::int64_t value, int places);

/// An instant or a duration in messages: "1.5 s".
inline std::string seconds_text(std::int64_t us) { return decimal_text(us, 6) + " s"; }
/// The same for an instant that may be kNever.
inline std::string instant_text(TimeUs instant) { return instant == kNever ? "never" : seconds_text(instant); }
/// Thousandths of a core in messages: "0.5 cores".
inline std::string cores_text(std::int64_t milli) { return decimal_text(milli, 3) + (milli == 1000 ? " core" : " cores"); }
/// Parts per million in messages, in the form used in files: "0.25".
inline std::string part_text(std::int64_t ppm) { return decimal_text(ppm, 6); }

}  // namespace berth::core
