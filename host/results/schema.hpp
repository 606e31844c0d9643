#pragma once

#include <cstdint>

/// Schema of a `berth.results.v1` file: docs/formats/results.md.
namespace berth::results {

inline constexpr std::int64_t kApplicationId = 0x42727468;  ///< "Brth", in the header of the file
inline constexpr std::int64_t kSchemaVersion = 4;           ///< in the header, too

/// Creates what does not exist yet.
extern const char* const kSchema;

}  // namespace berth::results
