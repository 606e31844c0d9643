#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// Traffic of a gang on a link: once in each period a burst. The score of CASSINI (NSDI'24); one burst is our reconstruction
/// of a demand from what a profile states.
struct PeriodicTraffic {
  std::int64_t period_ns = 1;    ///< above 0, at most kMostPeriodNs
  std::int64_t burst_ns = 0;     ///< 0 to period_ns
  std::int64_t bytes_per_s = 0;  ///< during the burst, 0 to 2^50
};
inline constexpr std::int64_t kMostPeriodNs = 1'000'000'000'000'000;
inline constexpr std::int32_t kAngles = 72;  // of 5 degrees
/// A perimeter is at most this multiple of the longest period.
inline constexpr std::int64_t kMostTurns = 12;
/// What repeats more often than this has too few angles for each period: its mean is taken instead.
inline constexpr std::int64_t kMostRepeats = 18;
/// Combinations of rotations that are all tried: those of all pairs, and of all triples.
inline constexpr std::int64_t kMostCombinations = std::int64_t{kAngles} * kAngles;

/// The circle on which all periods are whole: its perimeter is the least common multiple of the periods, rounded to a grid.
struct UnifiedCircle {
  std::int64_t grid_ns = 0;  ///< the finest on which the perimeter is at most kMostTurns periods: 1 us, and each an eighth more
  std::int64_t perimeter_ns = 0;
  std::vector<std::int64_t> period_ns;  ///< rounded to the nearest of the grid, halves up, at least one step
};
UnifiedCircle unified_circle(std::span<const PeriodicTraffic> gangs);

/// score = 1 - sum of excess / (72 capacity), the excess of an angle being what all gangs send there above the capacity. In
/// millionths, to the nearest; 1,000,000: nothing exceeds; it may be negative. A gang sends at an angle when it does at that instant.
/// @param shift_ns     by how much each gang's bursts begin later
/// @param bytes_per_s  capacity of the link, above 0
std::int64_t compatibility_ppm(std::span<const PeriodicTraffic> gangs, std::span<const std::int64_t> shift_ns, std::int64_t bytes_per_s);

struct BestRotations {
  std::int64_t score_ppm = 0;
  std::int64_t unshifted_ppm = 0;      ///< all bursts begin together
  std::vector<std::int64_t> shift_ns;  ///< below the gang's period; 0 for the first gang
  bool exhaustive = true;              ///< all rotations were tried, so that no better one of 72 angles exists
  UnifiedCircle circle;
};

/// Rotations of the best score, the first gang unrotated. Up to kMostCombinations all are tried; of equal ones the first in the order
/// of the gangs is taken. With more gangs each in turn gets its best angle among those before it, and then among all
/// others, at most ten rounds or until nothing changes.
/// O(combinations * 72), or O(gangs * 72 * 72) a round.
BestRotations best_rotations(std::span<const PeriodicTraffic> gangs, std::int64_t bytes_per_s);

}  // namespace berth::core
