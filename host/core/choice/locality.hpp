#pragma once

#include <cstdint>
#include <vector>

#include "host/core/model/profile.hpp"
#include "host/core/policy_api/objective.hpp"

namespace berth::core {

/// Locality of a gang in classes, as a search distinguishes them (docs/ones-plus.md, section 1): on one node; in one NVLink domain; in one
/// domain of level 1, 2, ... of the switch topology. Memory is kept between states.
class Locality {
 public:
  void set(const StateImpl& state);
  std::int32_t classes() const { return static_cast<std::int32_t>(levels_.size()) + 1; }
  /// The speed of an option at this locality, from its speed at the tightest one. It assumes the fewest nodes, the
  /// lowest uplink bandwidth and the longest latency that the option can meet.
  std::int64_t speed(const StateImpl& state, const ChoiceOption& option, std::int32_t locality, std::int64_t tightest) const;

 private:
  /// Links that a gang uses when it leaves the domains of lower levels.
  struct Level {
    std::int64_t uplink_bytes_per_s = 0;
    std::int64_t latency_ns = 0;
  };
  std::vector<Level> levels_;  // of the switch topology
};

}  // namespace berth::core
