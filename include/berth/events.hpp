#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/units.hpp"

namespace berth {

/// Something that happens in a simulation whatever the policy does.
struct ClusterEvent {
  enum class What : std::uint8_t {
    kFail,     ///< a node, or one of its GPUs, fails
    kDrain,    ///< a node takes nobody new
    kReclaim,  ///< a node is taken away: it drains, and is gone `notice_us` later
    kKill,     ///< a job is cancelled
  };
  TimeUs at_us = 0;
  What what = What::kFail;
  std::string node;          ///< unless `kKill`
  std::int32_t gpu = -1;     ///< of `kFail`: only this one; -1: the node
  std::string job;           ///< of `kKill`
  TimeUs until_us = kNever;  ///< from then on all is well again
  TimeUs notice_us = 0;      ///< of `kReclaim`
  bool operator==(const ClusterEvent&) const = default;
};

/// A `berth.events.v1` document, events by time.
struct ClusterEvents {
  std::string name;
  std::vector<ClusterEvent> events;
  Extensions x;
  bool operator==(const ClusterEvents&) const = default;
};

}  // namespace berth
