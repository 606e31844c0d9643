#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// A gang on a shared link, and its shift there alone.
struct AffinityEdge {
  std::int32_t gang;
  std::int32_t link;
  std::int64_t shift_ns;
};

/// One shift for each gang from the shifts of its links: CASSINI's affinity graph of gangs and shared links.
struct AffinityShifts {
  std::vector<std::int32_t> component;  ///< [gangs] a number for gangs that hang together by links, by their first gang
  std::vector<std::uint8_t> has_loop;   ///< [components] no unique shifts exist, and none are given
  std::vector<std::int64_t> shift_ns;   ///< [gangs] below the gang's period; 0 for a component's first gang and with a loop
};

/// From the first gang of a component outwards: t_k = (t_j - t_j^l + t_k^l) mod period_k over a shared link l.
/// O(gangs + links + edges).
/// @param period_ns  [gangs] above 0
AffinityShifts affinity_shifts(std::span<const std::int64_t> period_ns, std::int32_t links, std::span<const AffinityEdge> edges);

}  // namespace berth::core
