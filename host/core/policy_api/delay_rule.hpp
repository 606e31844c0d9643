#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/units.hpp"

namespace berth::core {

/// How long a policy lets gangs wait for one domain of each level of the cluster, from the node up (docs/dally.md). What jobs state
/// themselves, Constraints::longest_wait, holds under every policy.
struct DelayRule {
  /// Timers of gangs with at most so many GPUs, and more than those of the entry before.
  struct OfDemand {
    std::int64_t most_gpus = 0;
    std::vector<TimeUs> timers_us;
    bool operator==(const OfDemand&) const = default;
  };
  TimeUs lease_us = 0;                 ///< the unit of timers that are tuned
  std::int64_t history = 0;            ///< number of leases whose waits set the timers; 0: they are `timers_us`
  std::vector<TimeUs> timers_us;       ///< by level, at least one; the last one is also that of all levels above. kNever: for ever
  std::vector<OfDemand> by_gpus = {};  ///< instead of `timers_us`, by `most_gpus`; the last is also that of larger gangs. Empty: none
  /// Of gangs with so many GPUs, where `history` is 0.
  const std::vector<TimeUs>& timers_of(std::int64_t gpus) const {
    const auto holds = [gpus](const OfDemand& one) { return gpus <= one.most_gpus; };
    const auto of = std::find_if(by_gpus.begin(), by_gpus.end(), holds);
    return by_gpus.empty() ? timers_us : of == by_gpus.end() ? by_gpus.back().timers_us : of->timers_us;
  }
  bool operator==(const DelayRule&) const = default;
};

}  // namespace berth::core
