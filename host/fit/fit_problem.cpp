#include "host/fit/fit_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/policy/base/plain_math.hpp"

namespace berth::fit {
namespace {

using policy::kProgressFeatures;

std::int64_t in_millionths(double weight) {
  const auto most = static_cast<double>(policy::kMostProgressWeight);
  return static_cast<std::int64_t>(std::llround(std::clamp(weight * 1e6, -most, most)));
}

// s ln(1 + exp(f / s)), which is max(0, f) where s is 0.
double rounded_off(double f, double s) {
  return std::max(0.0, f) + (s > 0 ? s * policy::plain_log(1 + policy::plain_exp(-std::abs(f) / s)) : 0);
}

double rounded_off_slope(double f, double s) {
  const double less = s > 0 ? policy::plain_exp(-std::abs(f) / s) : 0;
  return (f > 0 ? 1 : less) / (1 + less);
}

}  // namespace

FitProblem::FitProblem(std::span<const Observation> seen, bool only_constant) : seen_(seen) {
  const auto n = static_cast<double>(seen.size());
  for (std::size_t i = 0; i < kProgressFeatures && !only_constant; ++i) {
    double sum = 0, squares = 0;
    for (const Observation& one : seen) sum += one.features[i];
    mean_[i] = sum / n;
    for (const Observation& one : seen) squares += (one.features[i] - mean_[i]) * (one.features[i] - mean_[i]);
    const double spread = std::sqrt(squares / n);
    deviation_[i] = spread > 1e-9 * std::max(1.0, std::abs(mean_[i])) ? spread : 0;
  }
  double left = 0;
  for (const Observation& one : seen) {
    Weights& row = rows_.emplace_back();
    for (std::size_t i = 0; i < kProgressFeatures; ++i) row[i] = deviation_[i] > 0 ? (one.features[i] - mean_[i]) / deviation_[i] : 0;
    row[kProgressFeatures] = 1;
    left += one.alpha * (1 - one.rho) / one.rho;
  }
  unit_ = std::clamp(left / n, 1.0, 1e9);
}

// Row by row: the beta of a row is combined with its alpha and rho.
double FitProblem::value(const double* weights, double* gradient) const {
  if (gradient != nullptr) std::fill_n(gradient, kWeights, 0.0);
  const auto n = static_cast<double>(seen_.size());
  double sum = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    double f = 0;
    for (std::size_t i = 0; i < kWeights; ++i) f += weights[i] * rows_[r][i];
    f *= unit_;
    const double beta = 1 + rounded_off(f, softness_);
    sum -= log_density(seen_[r], beta);
    if (gradient == nullptr) continue;
    const double slope = log_density_slope(seen_[r], beta) * rounded_off_slope(f, softness_) * unit_ / n;
    for (std::size_t i = 0; i < kWeights; ++i) gradient[i] -= slope * rows_[r][i];
  }
  return sum / n;
}

policy::ProgressModel FitProblem::model_of(const Weights& weights) const {
  policy::ProgressModel model;
  double constant = weights[kProgressFeatures] * unit_;
  for (std::size_t i = 0; i < kProgressFeatures; ++i) {
    if (deviation_[i] == 0) continue;
    const double weight = weights[i] * unit_ / deviation_[i];
    model.weights_micro[i] = in_millionths(weight);
    constant -= weight * mean_[i];
  }
  model.weights_micro[kProgressFeatures] = in_millionths(constant);
  return model;
}

}  // namespace berth::fit
