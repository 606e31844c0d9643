#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/sim/measures/fragmentation.hpp"

namespace berth::sim {

/// Quantities that are constant between two instants of a simulation.
struct Levels {
  std::int64_t gpus_allocated = 0;    ///< by jobs; shares count as their fraction of a GPU, rounded up for each job
  std::int64_t gpus_free = 0;         ///< available to jobs
  std::int64_t running = 0;           ///< jobs
  std::int64_t waiting = 0;           ///< jobs
  std::int64_t gpus_waited = 0;       ///< requested by waiting jobs
  std::int64_t fragmented_micro = 0;  ///< see Fragmentation
  bool operator==(const Levels&) const = default;
};
inline constexpr int kLevels = 6;
inline constexpr const char* kLevelNames[kLevels] = {"gpus_allocated", "gpus_free", "running", "waiting", "gpus_waited", "gpus_fragmented"};

/// Means over an interval of time, in millionths, rounded down, in the order of kLevelNames.
struct Sample {
  TimeUs from_us = 0, until_us = 0;
  std::array<std::int64_t, kLevels> micro{};
};

/// A simulation over time, as means over intervals of one length, so that memory does not grow with events.
///
/// The intervals begin with the first level. By default they are one second long and grow with the run, up to kMost intervals.
/// The result depends on the levels and their instants, not on the number of calls.
class Series {
 public:
  static constexpr std::int64_t kMost = 1'000;         ///< intervals, with automatic length
  static constexpr std::int64_t kMostAsked = 1 << 20;  ///< intervals, with a given length

  /// @param every_us  Length of an interval; 0: automatic. @throws InvalidArgument below 0.
  explicit Series(const TraceFacts& facts, TimeUs every_us = 0);

  const Fragmentation& fragmentation() const { return fragmentation_; }

  /// From `from_us` on these levels hold. `from_us` never decreases; the last call for an instant counts.
  /// @throws InvalidArgument when there would be more than kMostAsked intervals.
  void level(TimeUs from_us, const Levels& levels);
  /// Ends the series: the last levels held until `end_us`, if that is later than when they began.
  void finish(TimeUs end_us);

  std::vector<Sample> samples() const;

 private:
  void add(TimeUs from_us, TimeUs until_us);
  void widen();

  Fragmentation fragmentation_;
  TimeUs width_us_;
  bool fixed_;
  bool begun_ = false;
  TimeUs origin_us_ = 0, end_us_ = 0;
  TimeUs since_us_ = 0;  // start of `now_`
  Levels now_;
  std::vector<std::array<__int128, kLevels>> sums_;  // millionths of a level times microseconds, by interval
};

}  // namespace berth::sim
