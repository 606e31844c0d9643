#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "berth/forecast.hpp"
#include "berth/units.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {

/// 24 hours.
inline constexpr TimeUs kDay = 86'400 * kSecond;

/// What a job's run time is predicted from.
struct RunTraits {
  std::string user, queue;  ///< queue, or virtual cluster
  std::int32_t gpus = 1;
  TimeUs limit_us = kNever;
  bool operator<(const RunTraits& other) const {
    return std::tie(user, queue, gpus, limit_us) < std::tie(other.user, other.queue, other.gpus, other.limit_us);
  }
};
RunTraits traits_of(const PastJob& job);

/// Run times of the jobs that ended before an instant, in groups from alike to all.
///
/// A group is ordered by the end of its jobs. Jobs that ended in a window have the run times of those that began in one, where
/// jobs that were submitted in a window and have ended are the short ones.
class RunTimes {
 public:
  RunTimes(const JobHistory& history, TimeUs now);

  /// Groups of such a job, the most alike first.
  std::vector<std::int32_t> groups_of(const RunTraits& traits) const;
  std::int64_t jobs() const { return jobs_; }
  std::int32_t groups() const { return static_cast<std::int32_t>(groups_.size()); }
  /// Run times of a group that are longer than `held`, by end.
  std::vector<TimeUs> longer(std::int32_t group, TimeUs held) const;

 private:
  // Level, user, queue, GPUs, limit.
  using Key = std::tuple<int, std::string, std::string, std::int32_t, TimeUs>;
  static std::vector<Key> keys_of(const RunTraits& traits);

  std::map<Key, std::int32_t> index_;
  std::vector<std::vector<TimeUs>> groups_;  // run times
  std::int64_t jobs_ = 0;
};

/// The law of one job's run time: what it may be drawn from, the most alike first.
struct RunLaw {
  struct Level {
    std::int32_t group = 0;
    std::vector<TimeUs> runs;  ///< by end, each longer than `held`
  };
  std::vector<Level> levels;
  TimeUs held_us = 0, limit_us = kNever;
};
RunLaw run_law(const RunTimes& times, const RunTraits& traits, TimeUs held);

/// Draws the run times of one future. Jobs of one group get consecutive ones, from a block of the group that the future draws and
/// again from its begin: jobs of one user, which are alike, stay alike, and what one future has more of all its jobs have.
class RunDraws {
 public:
  explicit RunDraws(std::int32_t groups) : next_(static_cast<std::size_t>(groups)), seen_(next_.size(), -1), chance_(next_.size()) {}
  void begin(std::uint64_t seed, std::int32_t future);
  /// The whole run time, longer than what the job has run for, and at most its limit where it is below that.
  TimeUs draw(const RunLaw& law, std::uint64_t item);

 private:
  std::vector<std::uint32_t> next_;
  std::vector<std::int32_t> seen_;  // future of the two others
  std::vector<std::uint32_t> chance_;
  std::uint64_t seed_ = 0;
  std::int32_t future_ = -1;
  std::uint32_t anchor_ = 0;
};

}  // namespace berth::sim
