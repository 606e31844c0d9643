#pragma once

#include <cstdint>
#include <string>

#include "host/sim/replay/progress_reports.hpp"
#include "host/sim/simulation.hpp"

namespace berth::cli {

/// The epochs of simulated jobs in the form that `berth fit` reads: a row for each whole epoch of a completed job, with
/// what the job reported at its end. It covers one policy, as a job occurs once in a history.
class SimulatedHistory {
 public:
  /// @throws InvalidArgument where jobs report nothing.
  SimulatedHistory(const std::string& progress, std::uint64_t seed);

  /// Jobs that state no epochs or no dataset, or more than kMostEpochs, have no rows.
  void add(const sim::JobOutcome& job);
  const std::string& csv() const { return csv_; }
  bool has_rows() const { return rows_ > 0; }

  static constexpr std::int64_t kMostEpochs = 1'000'000;

 private:
  sim::ProgressReports reports_;
  std::string csv_;
  std::int64_t rows_ = 0;
};

}  // namespace berth::cli
