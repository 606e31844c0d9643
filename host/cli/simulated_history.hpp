#pragma once

#include <cstdint>
#include <string>

#include "host/sim/progress_reports.hpp"
#include "host/sim/simulation.hpp"

namespace berth::cli {

/// The epochs of simulated jobs as `berth fit` reads them: a row for each whole epoch of a job that completed, with what the job reported
/// at its end. Of one policy, as a job stands in a history once.
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
