#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/shape_policy.hpp"

/// Gavel's rounds (OSDI'20): who runs on which type now, so that over time everybody gets the shares that were decided.
namespace berth::policy {

/// What a round is about. Rows of options that are -1 are types on which a job cannot run.
struct RoundQuestion {
  std::span<const std::int32_t> row;    // [jobs][types] of the question's options
  std::span<const double> share;        // [jobs][types] parts of the time
  std::span<const std::int32_t> types;  // those of the cluster, in the order in which they are given
};

/// Who got what since the shares were last settled, in microseconds; kept from decision to decision in the PolicyState.
class GavelRounds {
 public:
  explicit GavelRounds(TimeUs length) : length_(length) {}

  void choose(const core::ShapeQuestion& question, const RoundQuestion& round, std::span<std::int32_t> chosen);
  void store(PolicyState& kept) const;

 private:
  // Who goes first: the greatest of all but the job.
  struct Turn {
    double priority, owed, share;
    std::int32_t job;

    bool operator<(const Turn& b) const { return std::tie(b.priority, b.owed, b.share, job) < std::tie(priority, owed, share, b.job); }
  };

  void load(const core::ShapeQuestion& question);
  void settle(const RoundQuestion& round, TimeUs now);
  void give(const core::ShapeQuestion& question, const RoundQuestion& round, bool due, std::span<std::int32_t> chosen);

  TimeUs length_;
  std::size_t n_types_ = 0;
  TimeUs begun_ = 0, seen_ = 0, settled_ = 0;       // the round; the last decision; when counting began anew
  std::vector<const std::string*> job_;             // ids; those of the state, until the plan stands
  std::vector<std::string> received_of_, owed_of_;  // [types] names of columns
  std::vector<TimeUs> received_, owed_;             // [jobs][types]
  std::vector<std::int32_t> current_;               // [jobs] row in which it runs, -1
  std::vector<std::int64_t> left_;                  // [types] GPUs
  std::vector<TimeUs> given_;                       // [types]
  std::vector<Turn> turns_;
};

}  // namespace berth::policy
