#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/placement.hpp"
#include "berth/what_if.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// Finds running jobs that move so that a waiting job starts.
class RoomFinder {
 public:
  explicit RoomFinder(const Request& request) : request_(request), placement_(request.backend, request.threads, request.device) {}

  /// @param state   After the base plan; it is changed and taken back.
  /// @param job     Index of a job that waits.
  /// @param runs    [jobs] 1: the job ran before the base plan, and runs on where it was
  /// @param answer  Everything but `job` and `base`.
  void find(ClusterState& state, std::int32_t job, const std::vector<std::uint8_t>& runs, RoomAnswer& answer);

 private:
  struct MovableJob {
    std::int32_t job = -1;
    std::int64_t cost_gpu_us = 0;
  };
  struct JobSet {
    std::int64_t cost_gpu_us = 0;
    std::vector<std::int32_t> jobs;
    bool operator==(const JobSet&) const = default;
  };

  std::vector<MovableJob> movable_jobs(const StateImpl& s, const std::vector<std::uint8_t>& runs) const;
  std::vector<JobSet> ask(const StateImpl& s, std::int32_t job, const std::vector<MovableJob>& movable, RoomAnswer& answer);
  bool try_set(ClusterState& state, std::int32_t job, const JobSet& set, RoomAnswer& answer);

  Request request_;
  Backends backends_;
  Placement placement_;
};

}  // namespace berth::core
