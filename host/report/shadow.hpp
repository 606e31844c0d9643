#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"

namespace berth::report {

/// What Berth would have done with a job and what was done with it.
struct ShadowDifference {
  enum class Kind : std::uint8_t {
    kEarlier,   ///< Berth starts it, and really it waits longer (or to the end of the recording)
    kLater,     ///< it really started where GPUs were free, and Berth has it waiting
    kDisplaced  ///< it runs, and Berth gives its GPUs to others
  };
  Kind kind = Kind::kEarlier;
  std::string job;
  std::int64_t gpu_ppm = 0;    ///< GPUs in parts per million: shares count as their part
  TimeUs planned_us = kNever;  ///< first state at which Berth decides so; kNever: not at all
  TimeUs really_us = kNever;   ///< when it really started; kNever: not within the recording
  std::string planned_place, real_place;
  std::string reason;  ///< of Berth, in a sentence
  bool operator==(const ShadowDifference&) const = default;
};

struct ShadowReport {
  std::int64_t states = 0;
  TimeUs from_us = 0, to_us = 0;
  std::string origin_iso;
  std::int64_t same_starts = 0;  ///< started really and by Berth, within the slack
  std::int64_t other_nodes = 0;  ///< of them on other nodes
  std::int64_t unseen = 0;  ///< started between two states, on what no recorded state had free, or left the queue without being seen to run
  std::int64_t same_instant = 0;    ///< states left out, being of the instant of the one before: nothing had happened
  std::int64_t still_waiting = 0;   ///< of the jobs started earlier: those that wait at the end of the recording
  TimeUs wait_saved_us = 0;         ///< over the jobs started earlier; for those still waiting, until the end of the recording
  std::int64_t gpu_us = 0;          ///< GPU-time of the healthy GPUs, in GPU-us
  std::int64_t real_gpu_us = 0;     ///< of it really in use
  std::int64_t planned_gpu_us = 0;  ///< in use if each decision were carried out until the next state
  double decide_s = 0, longest_decide_s = 0;
  std::vector<ShadowDifference> differences;  ///< by kind, then by time saved (earlier), by instant (others)
};

/// Decides on recorded states in the order of time, beside the scheduler that made them.
///
/// Each decision starts from what really ran then: the report says where the two part, state by state, not what a day under Berth
/// alone would have been. A job that Berth starts counts from the first state at which it does.
class Shadow {
 public:
  /// @param slack_us  Starts that lie no further apart are the same: a scheduler looks at its queue now and then.
  Shadow(Request request, TimeUs slack_us) : request_(std::move(request)), slack_us_(slack_us) {}

  /// @throws InvalidArgument when the state is earlier than the one before, or counts time from another origin.
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
  /// A start that Berth decided and that has not really happened.
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
  std::map<std::string, std::uint64_t> held_;  // GPUs that ran something in the last state, by node
  std::int64_t gpus_ = 0;
  std::map<std::string, Open> open_;
  std::map<std::string, std::size_t> displaced_;  // running jobs that Berth displaces, in report_.differences
};

/// The differences in three tables, at most `most` rows each (0: all), and what they come to.
std::string to_text(const ShadowReport& report, const std::string& policy, std::size_t most);

}  // namespace berth::report
