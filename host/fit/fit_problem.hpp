#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "host/fit/likelihood.hpp"
#include "host/policy/progress_model.hpp"

namespace berth::fit {

inline constexpr std::size_t kWeights = policy::kProgressFeatures + 1;
using Weights = std::array<double, kWeights>;  // of scaled features, then the constant

/// What is minimised: features have mean 0 and deviation 1, F the size of the epochs that were left, so that all weights are of one size.
class FitProblem {
 public:
  /// @param seen  at least one; must outlive the problem
  FitProblem(std::span<const Observation> seen, bool only_constant);

  /// Rounds off the kink of max(0, F), over so much of F as a part of its size, so that slopes lead out of where F is below 0 as well. 0:
  /// not.
  void soften(double part) { softness_ = part * unit_; }

  /// Minus the mean log density, and where `gradient` is not null its slopes.
  double value(const double* weights, double* gradient) const;

  /// The same as weights of the features as they are, rounded to millionths.
  policy::ProgressModel model_of(const Weights& weights) const;

 private:
  std::span<const Observation> seen_;
  std::array<double, policy::kProgressFeatures> mean_{}, deviation_{};  // deviation 0: it does not vary
  std::vector<Weights> rows_;                                           // of each of `seen`: scaled features and 1
  double unit_ = 1;                                                     // of F
  double softness_ = 0;
};

}  // namespace berth::fit
