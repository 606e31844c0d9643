#pragma once

#include <cstdint>
#include <limits>

namespace berth {

/// Time and durations: microseconds, `int64`. Instants count from the snapshot's origin.
using TimeUs = std::int64_t;

inline constexpr TimeUs kSecond = 1'000'000;
/// "Never", "without end" and "not known" for instants and durations.
inline constexpr TimeUs kNever = std::numeric_limits<std::int64_t>::max();
/// A whole GPU in parts per million; shares are smaller.
inline constexpr std::int32_t kWholeGpu = 1'000'000;
/// "No limit" for quotas and quantities where zero means none.
inline constexpr std::int64_t kUnlimited = -1;

/// Caps that every input is checked against, so that 64-bit sums cannot overflow.
inline constexpr std::int32_t kMaxGpusPerNode = 64;
inline constexpr std::int32_t kMaxNodes = 4'000'000;
inline constexpr std::int32_t kMaxJobs = 20'000'000;
inline constexpr std::int32_t kMaxGpusPerJob = 100'000'000;
inline constexpr std::int32_t kMaxShapes = 256;    ///< shapes of one job after expansion
inline constexpr std::int32_t kMaxGroups = 1'024;  ///< groups of one shape
inline constexpr std::int32_t kMaxLevels = 8;      ///< per topology, including `node` and `cluster`
inline constexpr std::int64_t kMaxRevision = std::int64_t{1} << 62;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 56;
inline constexpr std::int64_t kMaxTimeUs = std::int64_t{1} << 58;  ///< about 9,100 years
/// Scores saturate here, so that a sum over jobs cannot overflow.
inline constexpr std::int64_t kScoreCeiling = std::int64_t{1} << 62;

}  // namespace berth
