#pragma once

#include <cstdint>

/// What a `berth.results.v1` file has: docs/formats/results.md.
namespace berth::results {

inline constexpr std::int64_t kApplicationId = 0x42727468;  ///< "Brth", in the header of the file
inline constexpr std::int64_t kSchemaVersion = 2;           ///< in the header, too

/// Makes what is not there yet.
extern const char* const kSchema;
/// Adds the columns that version 2 has beside those of version 1. They are null in the rows that are there.
extern const char* const kFromVersion1;

}  // namespace berth::results
