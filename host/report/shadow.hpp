#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"

namespace berth::report {

/// The difference between Berth's decision about a job and what happened to it.
struct ShadowDifference {
  enum class Kind : std::uint8_t {
    kEarlier,   ///< Berth starts it, and in the recording it waits longer (or to the end)
    kLater,     ///< it started where GPUs were free, and in Berth's plan it waits
    kDisplaced  ///< it runs, and Berth gives its GPUs to others
  };
  Kind kind = Kind::kEarlier;
  std::string job;
  std::int64_t gpu_ppm = 0;    ///< GPUs in parts per million: shares count in proportion
  TimeUs planned_us = kNever;  ///< first state at which Berth decides this; kNever: not at all
  TimeUs really_us = kNever;   ///< its start in the recording; kNever: not within it
  std::string planned_place, real_place;
  std::string reason;  ///< Berth's reason, in a sentence
  bool operator==(const ShadowDifference&) const = default;
};

struct ShadowReport {
  std::int64_t states = 0;
  TimeUs from_us = 0, to_us = 0;
  std::string origin_iso;
  std::int64_t same_starts = 0;  ///< started in the recording and by Berth, within the slack
  std::int64_t other_nodes = 0;  ///< those on other nodes
  std::int64_t unseen =
      0;  ///< started between two states, on GPUs that no recorded state had free, or left the queue without being seen to run
  std::int64_t same_instant = 0;    ///< states skipped because they have the same instant as the previous one
  std::int64_t still_waiting = 0;   ///< of the jobs that Berth starts earlier: those that wait at the end of the recording
  TimeUs wait_saved_us = 0;         ///< over the jobs that Berth starts earlier; for those still waiting, until the end of the recording
  std::int64_t gpu_us = 0;          ///< GPU-time of the healthy GPUs, in GPU-us
  std::int64_t real_gpu_us = 0;     ///< used in the recording
  std::int64_t planned_gpu_us = 0;  ///< in use if each decision were applied until the next state
  double decide_s = 0, longest_decide_s = 0;
  std::vector<ShadowDifference> differences;  ///< by kind, then by time saved (earlier), by instant (others)
};

/// Decides on recorded states in the order of time, in parallel to the scheduler that made them.
///
/// Each decision starts from what ran in the recording. The report states the differences state by state, not what a
/// day under Berth alone would have been. A job that Berth starts counts from the first such state.
class Shadow {
 public:
  /// @param slack_us  Starts within this time are the same, as a scheduler checks its queue only at intervals.
  Shadow(Request request, TimeUs slack_us) : request_(std::move(request)), slack_us_(slack_us) {}

  /// @throws InvalidArgument when the state is earlier than the previous one, or counts time from another origin.
  void add(const ClusterState& state, const std::string& origin_iso);
  ShadowReport finish();

 private:
  struct JobThen {
    bool running = false;
    std::int64_t gpu_ppm = 0;
    TimeUs run_us = 0;
    std::string place;                          // of a running job
    std::map<std::string, std::uint64_t> held;  // its GPUs by node
    std::int64_t planned_ppm = 0;
    std::string reason;
  };
  /// A start that Berth decided and that has not happened in the recording.
  struct Open {
    TimeUs since_us = 0;
    std::int64_t gpu_ppm = 0;
    std::string place;
  };
  using Jobs = std::map<std::string, JobThen>;

  static Jobs really(const ClusterState& state);
  Jobs decide(const ClusterState& state);
  void compare(const Jobs& next, TimeUs now_us);
  void started(const std::string& job, const JobThen& before, const JobThen& after, TimeUs at_us);

  Request request_;
  TimeUs slack_us_;
  Engine engine_;
  PolicyState memory_;
  Plan plan_;
  ShadowReport report_;
  Jobs then_;
  std::map<std::string, std::uint64_t> held_;  // GPUs in use in the last state, by node
  std::int64_t gpus_ = 0;
  std::map<std::string, Open> open_;
  std::map<std::string, std::size_t> displaced_;  // running jobs that Berth displaces, in report_.differences
};

/// The differences in three tables, at most `most` rows each (0: all), and their totals.
std::string to_text(const ShadowReport& report, const std::string& policy, std::size_t most);

}  // namespace berth::report
