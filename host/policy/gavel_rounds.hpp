#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/shape_policy.hpp"

/// Gavel's rounds (OSDI'20): who runs on which type now, so that over time everybody gets the shares that were decided.
namespace berth::policy {

/// What a round is about. Rows of options that are -1 are types on which a job cannot run.
struct RoundQuestion {
  std::span<const std::int32_t> row;        // [jobs][types] of the question's options
  std::span<const std::int64_t> share_ppm;  // [jobs][types] parts of the time
  std::span<const std::int32_t> types;      // those of the cluster, in the order in which they are given
};

/// Who got what, and has which share; kept from decision to decision in the PolicyState.
class GavelRounds {
 public:
  explicit GavelRounds(TimeUs length) : length_(length) {}

  void choose(const core::ShapeQuestion& question, const RoundQuestion& round, std::span<std::int32_t> chosen);
  void store(PolicyState& kept) const;

 private:
  // Who goes first on a type: the greatest share for what it received.
  struct Turn {
    std::int64_t share_ppm;
    TimeUs received, owed;  // received >= 1
    std::int32_t job;

    bool operator<(const Turn& b) const;
  };

  void load(const core::ShapeQuestion& question);
  void count(const core::ShapeQuestion& question);
  void set_shares(const core::ShapeQuestion& question, const RoundQuestion& round);
  void give(const core::ShapeQuestion& question, const RoundQuestion& round, bool due, std::span<std::int32_t> chosen);

  TimeUs length_;
  std::size_t n_types_ = 0;
  TimeUs begun_ = 0, seen_ = 0, counted_ = 0;  // the round; the last decision; since when `received` counts
  // Of all jobs of the state, by rank.
  std::size_t n_jobs_ = 0;
  std::vector<std::string> job_;                               // ids; never fewer, so that memory is kept
  std::vector<std::int64_t> received_, owed_, share_;          // [jobs][types] microseconds, microseconds, millionths
  std::vector<std::int32_t> rank_;                             // [jobs of the question]
  std::vector<std::string> received_of_, owed_of_, share_of_;  // [types] names of columns
  std::vector<std::int64_t> left_;                             // [types] GPUs
  std::vector<Turn> turns_;
};

}  // namespace berth::policy
