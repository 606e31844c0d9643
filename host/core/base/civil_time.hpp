#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/units.hpp"

/// Wall-clock instants without a zone, as traces write them, and decimal seconds. Integers throughout.
namespace berth::core {

/// Reads "123", "0.5", "-2.000001" seconds as microseconds; no exponent, no sign '+'. Digits beyond the sixth after the
/// point must be zero, because nothing is ever rounded.
/// @returns nothing for anything else, and beyond +-kMaxTimeUs.
std::optional<TimeUs> parse_seconds(std::string_view text);

/// The shortest decimal that `parse_seconds` reads back: "66", "0.5".
std::string format_seconds(TimeUs us);

/// "YYYY-MM-DD HH:MM:SS[.ffffff]", with 'T' or one space between: microseconds since 1970-01-01 00:00:00 of the same
/// unnamed zone (proleptic Gregorian, no leap seconds, no daylight saving).
/// @returns nothing for another form, a day that the month does not have, or a text with a zone ("Z", "+08:00").
std::optional<TimeUs> parse_civil(std::string_view text);

/// Whether `parse_civil` rejects a text only because its month has no such day ("2026-02-30 12:00:00").
bool is_missing_day(std::string_view text);

/// "YYYY-MM-DDTHH:MM:SS", with ".ffffff" only when the instant is not a whole second. For years 0..9999.
std::string format_civil(TimeUs us);

/// The date of an instant `us` after `origin_iso`. When the origin names its zone ("Z", "+08:00"), so does the result.
/// @returns an empty text when the origin has another form, before it, or after the year 9999.
std::string civil_after(std::string_view origin_iso, TimeUs us);

/// An instant of a trace: "+SECONDS" after its time 0, or a wall-clock time, which needs the trace's `origin_iso`.
/// @returns microseconds from the trace's time 0; negative for a wall-clock time before it.
/// @throws InvalidArgument naming the text.
TimeUs parse_instant(std::string_view text, const std::string& origin_iso);

}  // namespace berth::core
