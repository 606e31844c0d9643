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
  static constexpr std::int32_t kOneNode = 0, kOneNvlinkDomain = 1;

  void set(const StateImpl& state);
  std::int32_t classes() const { return static_cast<std::int32_t>(levels_.size()) + 1; }
  /// Whether the cluster names some; without them no gang is at `kOneNvlinkDomain`.
  bool has_nvlink_domains() const { return nvlink_domains_; }
  /// The rate of an option at this locality, above `kOneNode`. It assumes the fewest nodes, the lowest uplink bandwidth and
  /// the longest latency that the option can meet.
  std::int64_t rate(const StateImpl& state, const ChoiceOption& option, std::int32_t locality) const;
  /// The speed of an option at this locality, from its speed at the tightest one.
  std::int64_t speed(const StateImpl& state, const ChoiceOption& option, std::int32_t locality, std::int64_t tightest) const;

 private:
  /// Links that a gang uses when it leaves the domains of lower levels.
  struct Level {
    std::int64_t uplink_bytes_per_s = 0;
    std::int64_t latency_ns = 0;
  };
  std::vector<Level> levels_;  // of the switch topology
  bool nvlink_domains_ = false;
};

}  // namespace berth::core
