#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/policy/base/job_column.hpp"

/// Queues in which jobs stand by entry, as the simulators of Tiresias and Muri have them.
namespace berth::policy {

/// The place of each job in its queue, kept from decision to decision.
///
/// A job that arrives, or comes from another queue, goes to the end. With `running_first` jobs that run move to the front of their
/// queue after each decision. Neither the jobs that run nor those that wait change their order among themselves.
class QueueEntries {
 public:
  explicit QueueEntries(bool running_first) : running_first_(running_first) {}
  void load(const PolicyState& state);
  void store(PolicyState& state) const;
  void retain(PolicyState& state, const core::LiveJobs& live) const { places_.retain(state, live); }

  /// @param levels  In: the queue of each job, 0 to 63. Out: its place, which orders by queue, then as above. One call a decision.
  void places(const core::JobColumns& jobs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> levels);

 private:
  struct Move {
    std::int64_t from;  // former place
    std::size_t row;
  };
  bool running_first_;
  JobColumn places_{"las_place"};
  std::int64_t moves_ = 0;  // so far, of all jobs: the next move gets a number beyond all earlier ones
  std::vector<Move> started_, stopped_;
  std::vector<std::size_t> entered_;
};

}  // namespace berth::policy
