#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "host/core/model/queue_changes.hpp"

namespace berth::sim {

/// The changes of queues that are still to come in a simulation.
class QuotaTimetable {
 public:
  /// @throws InputError, with the position of the event, for a queue that the cluster does not have, an unknown GPU type or parent, and
  /// queues that would be their own ancestors.
  QuotaTimetable(const Snapshot& cluster, const core::QueueChanges& listed);

  /// Adds their instants.
  void put_instants(std::set<TimeUs>& instants) const;
  /// Appends those up to `now`. @returns whether there were any
  bool take(TimeUs now, std::vector<Delta>& out);

 private:
  const std::vector<core::QueueChange>& changes_;
  std::size_t next_ = 0;
};

}  // namespace berth::sim
