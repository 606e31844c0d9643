#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "host/fit/likelihood.hpp"
#include "host/policy/base/progress_model.hpp"

namespace berth::fit {

inline constexpr std::size_t kWeights = policy::kProgressFeatures + 1;
using Weights = std::array<double, kWeights>;  // of scaled features, then the constant

/// The minimised function. Features have mean 0 and deviation 1, and F has the size of the remaining epochs, so that
/// all weights are of similar size.
class FitProblem {
 public:
  /// @param seen  at least one; must outlive the problem
  FitProblem(std::span<const Observation> seen, bool only_constant);

  /// Smooths the kink of max(0, F) over this fraction of F's size, so that gradients exist where F is below 0 as well.
  /// 0: no smoothing.
  void soften(double part) { softness_ = part * unit_; }

  /// Minus the mean log density, and its gradient where `gradient` is not null.
  double value(const double* weights, double* gradient) const;

  /// The same as weights of the unscaled features, rounded to millionths.
  policy::ProgressModel model_of(const Weights& weights) const;

 private:
  std::span<const Observation> seen_;
  std::array<double, policy::kProgressFeatures> mean_{}, deviation_{};  // deviation 0: it does not vary
  std::vector<Weights> rows_;                                           // for each of `seen`: scaled features and 1
  double unit_ = 1;                                                     // of F
  double softness_ = 0;
};

}  // namespace berth::fit
