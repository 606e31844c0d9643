#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "berth/units.hpp"

namespace berth::core {

/// What becomes of a running job whose lease has ended, where no other job takes its GPUs (docs/dally.md).
enum class LeaseEnd : std::uint8_t {
  kKeep,   ///< it keeps them
  kMove,   ///< it moves to a tighter level that has room, where that saves more time than it costs
  kOffer,  ///< it gives them up, and is placed like jobs that wait
};

/// How long a policy lets gangs wait for one domain of each level of the cluster, from the node up, and what its leases do
/// (docs/dally.md). What jobs state themselves, Constraints::longest_wait, holds under every policy.
struct DelayRule {
  TimeUs lease_us = 0;                         ///< the unit of timers that are tuned
  std::int64_t history = 0;                    ///< number of leases whose waits set the timers; 0: they are `timers_us`
  std::array<TimeUs, kMaxLevels> timers_us{};  ///< by level; the last one is also that of all levels above. kNever: for ever
  std::int32_t n_timers = 0;                   ///< at least one without a history
  LeaseEnd lease_end = LeaseEnd::kKeep;

  TimeUs timer(std::int32_t rung) const { return timers_us[static_cast<std::size_t>(std::min(rung, n_timers - 1))]; }
  bool operator==(const DelayRule&) const = default;
};

}  // namespace berth::core
