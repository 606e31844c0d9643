#include "host/fit/fit.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <cmath>
#include <memory>
#include <new>

#include "berth/error.hpp"
#include "host/fit/fit_problem.hpp"

namespace berth::fit {
namespace {

constexpr int kMostEvaluations = 1000;  // of one start and algorithm
constexpr double kMostScaled = 1e6;
constexpr double kNoGain = 1e-9;

double value_for_nlopt(unsigned, const double* weights, double* gradient, void* problem) {
  return static_cast<const FitProblem*>(problem)->value(weights, gradient);
}

/// Moves `weights` to a lower value, if the algorithm finds one. @returns the value there.
double improve(nlopt_algorithm algorithm, FitProblem& problem, Weights& weights) {
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> search(nlopt_create(algorithm, kWeights), nlopt_destroy);
  if (search == nullptr) throw std::bad_alloc();
  nlopt_set_min_objective(search.get(), value_for_nlopt, &problem);
  nlopt_set_lower_bounds1(search.get(), -kMostScaled);
  nlopt_set_upper_bounds1(search.get(), kMostScaled);
  nlopt_set_initial_step1(search.get(), 0.25);
  nlopt_set_ftol_abs(search.get(), 1e-12);
  nlopt_set_maxeval(search.get(), kMostEvaluations);
  Weights found = weights;
  double unused = 0;
  const nlopt_result result = nlopt_optimize(search.get(), found.data(), &unused);
  if (result == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
  // Where rounding ends the search, or its model of the function fails, the result so far is still valid.
  if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED && result != NLOPT_FAILURE)
    throw InternalError(fmt::format("the fit fails: {}", nlopt_result_to_string(result)));
  const double before = problem.value(weights.data(), nullptr), after = problem.value(found.data(), nullptr);
  if (!(after < before)) return before;
  weights = found;
  return after;
}

// Starts from a constant with F above 0 at every row. Where F is below 0, gradients are zero and a search may stop early.
// So a second search from the same start begins with a smoothed kink and lowers the smoothing step by step.
policy::ProgressModel best_of(FitProblem& problem) {
  Weights best{};
  double least = HUGE_VAL;
  for (const double constant : {0.1, 0.3, 1.0}) {
    for (const bool soft : {false, true}) {
      Weights weights{};
      weights.back() = constant;
      double value = 0;
      for (const double softness : {1.0, 0.3, 0.1, 0.03, 0.01, 0.0}) {
        if (!soft && softness > 0) continue;
        problem.soften(softness);
        value = improve(NLOPT_LD_LBFGS, problem, weights);
      }
      if (value < least) best = weights, least = value;
    }
  }
  // The remaining kinks stop a gradient search.
  for (int round = 0; round < 4; ++round) {
    improve(NLOPT_LN_SBPLX, problem, best);
    const double value = improve(NLOPT_LD_LBFGS, problem, best);
    if (least - value < kNoGain) break;
    least = value;
  }
  return problem.model_of(best);
}

}  // namespace

policy::ProgressModel fit_model(std::span<const Observation> seen) {
  FitProblem problem(seen, false);
  return best_of(problem);
}

policy::ProgressModel fit_constant(std::span<const Observation> seen) {
  FitProblem problem(seen, true);
  return best_of(problem);
}

}  // namespace berth::fit
