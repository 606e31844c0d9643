#pragma once

#include <string>
#include <vector>

#include "host/fit/step_fit.hpp"

namespace berth::cli {

struct FitStepsArguments {
  std::string file, out, max_error;
  std::vector<std::string> predict;
  bool json = false;
};

/// The fit on one GPU type.
struct FittedSteps {
  fit::StepFit fit;
  std::vector<fit::LeftOutPlacement> left_out;
  bool refused = false;  ///< its largest error is above the one that is allowed
};

struct PredictedStep {
  std::string asked;
  fit::StepSetting setting;
  double step_s = 0, rate = 0;
  std::string beyond;  ///< why it is an extrapolation; empty: it is none
};

struct FitStepsAnswer {
  std::string file;
  double max_error = 0.2;
  std::vector<FittedSteps> types;
  std::vector<PredictedStep> predicted;
};

std::string fit_steps_text(const FitStepsAnswer& answer);
std::string fit_steps_json(const FitStepsAnswer& answer);

/// `berth fit --profile`
int run_fit_steps(const FitStepsArguments& options);

}  // namespace berth::cli
