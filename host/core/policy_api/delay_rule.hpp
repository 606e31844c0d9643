#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/units.hpp"

namespace berth::core {

/// What becomes of a running job whose lease has ended, where no other job takes its GPUs (docs/dally.md).
enum class LeaseEnd : std::uint8_t {
  kKeep,   ///< it keeps them
  kMove,   ///< it moves to a tighter level that has room, where that saves more time than it costs
  kOffer,  ///< it gives them up, and is placed like jobs that wait
};

/// How long gangs wait for one domain of each level of the cluster, from the node up. kNever: for ever.
struct LevelTimers {
  std::array<TimeUs, kMaxLevels> us{};
  std::int32_t n = 0;

  void add(TimeUs timer) { us[static_cast<std::size_t>(n++)] = timer; }
  /// The last one is also that of all levels above. With at least one.
  TimeUs at(std::int32_t level) const { return us[static_cast<std::size_t>(std::min(level, n - 1))]; }
  bool operator==(const LevelTimers&) const = default;
};

/// How long a policy lets gangs wait for close places, and what its leases do (docs/dally.md). What jobs state themselves,
/// Constraints::longest_wait, holds under every policy.
struct DelayRule {
  /// Timers of gangs with at most `most_gpus` GPUs, and more than the entry before has.
  struct OfDemand {
    std::int64_t most_gpus = 0;
    LevelTimers timers;
    bool operator==(const OfDemand&) const = default;
  };
  TimeUs lease_us = 0;                 ///< the unit of timers that are tuned
  std::int64_t history = 0;            ///< number of leases whose waits set the timers; 0: they are stated
  LevelTimers timers = {};             ///< at least one without a history and without `by_gpus`
  std::vector<OfDemand> by_gpus = {};  ///< instead of `timers`, by `most_gpus`; the last is also that of larger gangs. Empty: none
  LeaseEnd lease_end = LeaseEnd::kKeep;

  /// Of gangs with this number of GPUs, where `history` is 0.
  const LevelTimers& timers_of(std::int64_t gpus) const {
    const auto holds = [gpus](const OfDemand& one) { return gpus <= one.most_gpus; };
    const auto of = std::find_if(by_gpus.begin(), by_gpus.end(), holds);
    return by_gpus.empty() ? timers : of == by_gpus.end() ? by_gpus.back().timers : of->timers;
  }
  bool operator==(const DelayRule&) const = default;
};

}  // namespace berth::core
