#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/fit/history.hpp"
#include "host/fit/likelihood.hpp"

namespace berth::fit {

/// How well predicted distributions agree with what came: an honest one has half of the rows within its central half.
struct Calibration {
  std::int64_t rows = 0;
  double log_density = 0;  // sum over rows
  std::int64_t in_50 = 0, in_90 = 0;

  void add(const Observation& seen, double beta);
  Calibration& operator+=(const Calibration& other);
};

Calibration calibration_of(const policy::ProgressModel& model, std::span<const Observation> seen);

/// The same of max(1, epochs left), which policies take from an estimate where there is no model: as if the estimate knew the end.
Calibration calibration_of_known_end(std::span<const Observation> seen);

/// A job's rows under what is fitted to the rows of all others.
struct LeftOut {
  std::int32_t job;  // index in History::jobs
  Calibration fitted, constant, known_end;
};

/// Of each job that has rows. @throws InvalidArgument where fewer than two have.
std::vector<LeftOut> leave_each_out(const History& history);

}  // namespace berth::fit
