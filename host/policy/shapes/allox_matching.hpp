#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/units.hpp"
#include "host/policy/base/assignment.hpp"

/// The matching of AlloX between waiting jobs and positions in the queues of machines; see host/policy/shapes/allox.cpp.
namespace berth::policy {

/// A job on one GPU type.
struct AlloxWork {
  std::int32_t gpus = 0;  // 0: it cannot run there
  TimeUs run = 0;
};

/// GPUs of a type that become free.
struct AlloxRelease {
  TimeUs after;
  std::int64_t gpus;
};

/// The result of the matching for a job.
struct AlloxPlace {
  std::int32_t type = -1;
  TimeUs start = 0;  // from now on
};

class AlloxMatching {
 public:
  /// @param released  [types] GPUs that become free, in any order; those free now at time 0. Sorted in place.
  /// @param work      [jobs][types] at most Assignment::kMostRows jobs, each with a type that has enough GPUs
  /// @returns [jobs]
  std::span<const AlloxPlace> match(std::span<std::vector<AlloxRelease>> released, std::span<const AlloxWork> work);
  /// The sum of run times and delays of the last matching, in microseconds. A position counts at most Assignment::kMostCost.
  std::int64_t cost() const { return total_; }

 private:
  // A position in the queue of a machine of `size` GPUs, with `behind` jobs after it.
  struct Position {
    std::int32_t type;
    std::int64_t machine, behind;
    TimeUs free;  // when the machine and those before it are free
  };
  void list_positions();
  TimeUs free_after(std::int32_t type, std::int64_t gpus) const;
  TimeUs begins(std::int32_t job, const Position& position) const;
  TimeUs blocks(const AlloxWork& one, std::int32_t type, std::int64_t times) const;
  const AlloxWork& of(std::int32_t job, std::int32_t type) const;

  std::span<std::vector<AlloxRelease>> released_;
  std::span<const AlloxWork> work_;
  std::int32_t jobs_ = 0, types_ = 0;
  std::vector<std::int64_t> size_;   // [types] GPUs of a machine
  std::vector<TimeUs> room_;         // [jobs][types] when the GPUs that the job needs are free
  std::vector<Position> positions_;  // those of a machine are contiguous, the last of its queue first
  std::vector<std::int64_t> cost_;   // [jobs][positions]
  std::vector<std::int32_t> job_in_;
  std::vector<AlloxPlace> places_;
  Assignment assignment_;
  std::int64_t total_ = 0;
};

}  // namespace berth::policy
