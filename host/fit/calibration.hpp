#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/fit/history.hpp"
#include "host/fit/likelihood.hpp"

namespace berth::fit {

/// Agreement of predicted distributions with the outcomes: a calibrated one has half of the rows within its central
/// half.
struct Calibration {
  std::int64_t rows = 0;
  double log_density = 0;  // sum over rows
  std::int64_t in_50 = 0, in_90 = 0;

  void add(const Observation& seen, double beta);
  Calibration& operator+=(const Calibration& other);
};

Calibration calibration_of(const policy::ProgressModel& model, std::span<const Observation> seen);

/// The same for max(1, epochs left), which policies take from an estimate where there is no model: as if the estimate
/// were exact.
Calibration calibration_of_known_end(std::span<const Observation> seen);

/// A job's rows under the model fitted to all other rows.
struct LeftOut {
  std::int32_t job;  // index in History::jobs
  Calibration fitted, constant, known_end;
};

/// For each job that has rows. @throws InvalidArgument where fewer than two have.
std::vector<LeftOut> leave_each_out(const History& history);

}  // namespace berth::fit
