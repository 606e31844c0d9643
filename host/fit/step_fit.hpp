#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/fit/step_model.hpp"

namespace berth::fit {

struct StepMeasurement : StepSetting {
  double step_s = 0;  ///< above 0
  int line = 0;       ///< of its file; 0: none
};

/// A placement, predicted by what was measured on all others.
struct LeftOutPlacement {
  std::int32_t gpus = 1, nodes = 1;
  std::size_t measurements = 0;
  std::optional<double> mean_error, largest_error;  ///< relative; nothing: the others do not determine it
  bool beyond = false;                              ///< it is outside what the others measured
};

struct StepFit {
  StepModel model;
  std::size_t measurements = 0, settings = 0, coefficients = 0;
  double r2 = 0;                             ///< of step times; 1: all are explained
  double mean_error = 0, largest_error = 0;  ///< relative, of settings: each by the median of its measurements
  StepMeasurement worst;                     ///< the setting with the largest, and that median
  std::vector<std::string> notes;            ///< what was measured too little, or contradicts itself
};

/// "2 GPUs on 1 node, batch 16".
std::string setting_text(const StepSetting& one);

/// Robust least squares of relative errors, with coefficients of 0 or more: Huber's loss with its bend at 10 %, by NLopt. Deterministic.
/// A coefficient that the settings do not separate from another stays 0: that of a worker where only one number of workers was measured,
/// or that of a sample where only one batch was. Where contradictions are larger than `contradiction`, a note says so.
/// @param measured  of one GPU type
/// @throws InvalidArgument below three settings, or where there are fewer settings than coefficients
StepFit fit_steps(std::span<const StepMeasurement> measured, double contradiction);

/// Each placement (GPUs, nodes) by a fit to all others.
std::vector<LeftOutPlacement> leave_placements_out(std::span<const StepMeasurement> measured);

}  // namespace berth::fit
