#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/units.hpp"

namespace berth {

/// An event of a simulation that does not depend on the policy.
struct ClusterEvent {
  enum class What : std::uint8_t {
    kFail,     ///< a node, or one of its GPUs, fails
    kDrain,    ///< a node accepts no new jobs
    kReclaim,  ///< a node is reclaimed: it drains now and is gone `notice_us` later
    kKill,     ///< a job is cancelled
  };
  TimeUs at_us = 0;
  What what = What::kFail;
  std::string node;          ///< empty for `kKill`
  std::int32_t gpu = -1;     ///< of `kFail`: only this GPU; -1: the whole node
  std::string job;           ///< of `kKill`
  TimeUs until_us = kNever;  ///< when the effect of the event ends
  TimeUs notice_us = 0;      ///< of `kReclaim`
  bool operator==(const ClusterEvent&) const = default;
};

/// A `berth.events.v1` document. Events are sorted by time.
struct ClusterEvents {
  std::string name;
  std::vector<ClusterEvent> events;
  Extensions x;
  bool operator==(const ClusterEvents&) const = default;
};

}  // namespace berth
