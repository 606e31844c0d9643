#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/trace.hpp"
#include "host/sim/measures/figures.hpp"

namespace berth::sim {

/// Grouping of jobs: by queue, virtual cluster, user, or class of the requested GPU count.
enum class GroupBy : std::uint8_t { kQueue, kVirtualCluster, kUser, kSize };
inline constexpr int kGroupings = 4;
inline constexpr const char* kGroupingNames[kGroupings] = {"queue", "vc", "user", "size"};

/// The jobs of one group that ended or were present at the end. Times are of completed jobs.
struct GroupFigures {
  std::string name;  ///< "1", "2-4", "5-8", "9-32", "33+" by size; empty: of none
  std::int64_t jobs = 0, completed = 0, rejected = 0;
  Distribution jct_us;
  TimeUs mean_wait_us = 0;
  __int128 gpu_us = 0;  ///< GPU-time of its jobs, completed or not
};

/// Collects the jobs that `simulate` reports.
class GroupsOf {
 public:
  explicit GroupsOf(GroupBy by);

  void add(const JobOutcome& job);
  /// Sorted by size, or by name.
  std::vector<GroupFigures> finish();

 private:
  struct Group {
    GroupFigures figures;
    SpreadOf jct;
    __int128 waited = 0;
  };
  Group& group_of(const TraceJob& job);

  GroupBy by_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::size_t> at_;
};

}  // namespace berth::sim
