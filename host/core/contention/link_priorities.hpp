#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/contention/link_schedule.hpp"

namespace berth::core {

/// Two gangs alone on one link, each favoured once.
struct FavouredPair {
  std::int64_t reference_extra_ns = 0;  ///< link time that the reference gains by being favoured
  std::int64_t other_extra_ns = 0;      ///< likewise the other gang
};
FavouredPair favoured_pair(const LinkJob& reference, const LinkJob& other, std::int64_t window_ns);

inline constexpr std::int64_t kMostCorrectionPpm = 1'000'000'000;
/// Crux's correction k of the other gang, in millionths: what it gains over what the reference gains, at most 1,000. Equal priorities then
/// mean equal computation that is not held up. 1 where neither gains a hundredth of the window: ours.
std::int64_t correction_ppm(const FavouredPair& pair, std::int64_t window_ns);

/// A gang that shares a link with one of lower priority.
struct PriorityEdge {
  std::int32_t high, low;  // of gangs; the edges make no cycle
  std::int64_t weight;     // what is lost where both get the same level, above 0
};

struct PriorityLevels {
  std::vector<std::int32_t> level;  ///< [gangs] 0 is the highest
  std::int64_t cut = 0;             ///< weight of the edges whose ends have different levels
};

/// Crux's compression of priorities to few levels: the greatest cut that a dynamic program finds over ten random topological orders.
/// No gang has a higher level than one that it is below.
/// O(orders * gangs^2 * levels); above 2,000 gangs fewer orders, at least one.
/// @param levels  at least 1
/// @param seed    of the orders; the same seed gives the same levels
PriorityLevels compressed_levels(std::int32_t gangs, std::span<const PriorityEdge> edges, std::int32_t levels, std::uint64_t seed = 1);

}  // namespace berth::core
