#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/cluster.hpp"

namespace berth::core {

/// A queue is replaced during a simulation.
struct QueueChange {
  TimeUs at_us = 0;
  Queue queue;
  std::int64_t event = 0;  ///< its position in the document
  bool operator==(const QueueChange&) const = default;
};

/// Those of a `berth.events.v1` document, sorted by time.
struct QueueChanges {
  std::string document;  ///< its name, for errors
  std::vector<QueueChange> changes;
  bool operator==(const QueueChanges&) const = default;
};

}  // namespace berth::core
