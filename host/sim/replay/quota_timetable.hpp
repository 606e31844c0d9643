#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "host/core/model/queue_changes.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/replay/live_job.hpp"

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

  /// What limits mean for a job that cannot run.
  struct Limits {
    bool exceeded = false;         ///< it asks for more than they allow, and not for more GPUs than there are
    TimeUs raised_at_us = kNever;  ///< the first event after which they allow it; kNever: none
  };
  /// Without changes of queues nothing is exceeded. @complexity O(changes x queues)
  Limits limits_of(const StateView& state, std::int32_t job) const;
  /// Of a job that cannot run: whether it waits for an event that raises limits. Else what it did above them is lost.
  bool lets_wait(const StateView& state, std::int32_t job_index, LiveJob& job) const;

 private:
  const std::vector<core::QueueChange>& changes_;
  std::size_t next_ = 0;
};

}  // namespace berth::sim
