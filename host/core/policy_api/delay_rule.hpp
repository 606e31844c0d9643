#pragma once

#include <cstdint>
#include <vector>

#include "berth/units.hpp"

namespace berth::core {

/// How long a policy lets gangs wait for one domain of each level of the cluster, from the node up (docs/dally.md). What jobs state
/// themselves, Constraints::longest_wait, holds under every policy.
struct DelayRule {
  TimeUs lease_us = 0;            ///< the unit of timers that are tuned
  std::int64_t history = 0;       ///< number of leases whose waits set the timers; 0: they are `timers_us`
  std::vector<TimeUs> timers_us;  ///< by level, at least one; the last one is also that of all levels above. kNever: for ever
  bool operator==(const DelayRule&) const = default;
};

}  // namespace berth::core
