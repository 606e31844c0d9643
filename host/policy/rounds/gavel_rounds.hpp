#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/policy_api/shape_policy.hpp"

/// The rounds of Gavel (OSDI'20): which job runs on which type now, so that over time all jobs receive their shares.
namespace berth::policy {

/// Input of a round. A row of -1 is a type on which a job cannot run.
struct RoundQuestion {
  std::span<const std::int32_t> row;        // [jobs][types] of the question's options
  std::span<const std::int64_t> share_ppm;  // [jobs][types] fractions of time
  std::span<const std::int32_t> types;      // types of the cluster, in the order in which they are given to jobs
};

/// What each job received, and its share; kept between decisions in the PolicyState.
class GavelRounds {
 public:
  /// @param all  All the time that a job has had counts; otherwise that of the last 1,920 s, and half a round more.
  GavelRounds(TimeUs length, bool all) : length_(length), all_(all) {}

  void choose(const core::ShapeQuestion& question, const RoundQuestion& round, std::span<std::int32_t> chosen);
  void store(PolicyState& kept) const;

 private:
  // The order on a type: the greatest share relative to what was received.
  struct ShareClaim {
    std::int64_t share_ppm;
    TimeUs received, owed;  // received >= 1
    std::int32_t job;

    bool operator<(const ShareClaim& b) const;
  };

  void load(const core::ShapeQuestion& question);
  void count(const core::ShapeQuestion& question);
  void set_shares(const core::ShapeQuestion& question, const RoundQuestion& round);
  void give(const core::ShapeQuestion& question, const RoundQuestion& round, bool due, std::span<std::int32_t> chosen);

  TimeUs length_;
  bool all_;
  std::size_t n_types_ = 0;
  TimeUs begun_ = 0, seen_ = 0, counted_ = 0;  // start of the round; last decision; since when `received` counts
  // For all jobs of the state, by rank.
  std::size_t n_jobs_ = 0;
  std::vector<std::string> job_;                               // ids; it never shrinks, so that memory is kept
  std::vector<std::int64_t> received_, owed_, share_;          // [jobs][types] microseconds, microseconds, millionths
  std::vector<std::int32_t> rank_;                             // [jobs of the question]
  std::vector<std::string> received_of_, owed_of_, share_of_;  // [types] names of columns
  std::vector<std::int64_t> left_;                             // [types] GPUs
  std::vector<ShareClaim> claims_;
};

}  // namespace berth::policy
