#pragma once

#include <cstdint>
#include <vector>

#include "host/core/objective.hpp"
#include "host/core/profile.hpp"

namespace berth::core {

/// Ways in which a gang may lie, as a search tells them apart (kernel::plus_class): on one node; in one NVLink domain; in one domain of
/// level 1, 2, ... of the switch facet. Memory is kept between states.
class Lying {
 public:
  void set(const StateImpl& state);
  std::int32_t classes() const { return static_cast<std::int32_t>(levels_.size()) + 1; }
  /// The speed of an option that lies so, from that at the tightest place. On as few nodes as it can; the least of the uplinks that it
  /// would cross and the longest of their latencies, whichever domain it lies in.
  std::int64_t speed(const StateImpl& state, const ChoiceOption& option, std::int32_t lying, std::int64_t tightest) const;

 private:
  /// What a gang crosses that leaves the domains of lower levels.
  struct Level {
    std::int64_t uplink_bytes_per_s = 0;
    std::int64_t latency_ns = 0;
  };
  std::vector<Level> levels_;  // of the switch facet
};

}  // namespace berth::core
