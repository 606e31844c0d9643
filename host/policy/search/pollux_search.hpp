#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/policy/search/pareto_fronts.hpp"
#include "host/policy/search/pollux_problem.hpp"
#include "host/policy/search/pollux_repair.hpp"
#include "host/policy/search/pollux_variation.hpp"

namespace berth::policy {

/// Extent of the search.
struct PolluxEffort {
  std::int32_t population = 100, generations = 100;  // >= 1; >= 0
};

/// The genetic search of Pollux (OSDI'21), serial: NSGA-II with fitness and cluster utility as objectives.
/// It starts with the current allocation; the answer is the fittest individual of the last generation.
/// Sums of doubles are in a fixed order and use + - * / only. Keeps its memory.
class PolluxSearch {
 public:
  /// @returns the best rows; valid until the next call.
  ConstPolluxRows solve(const PolluxProblem& problem, const PolluxEffort& effort, std::uint64_t seed);

  /// The power mean of exponent -1 over jobs of x + 0.001, x being the speed-up over a fair share of the GPUs.
  /// Accepts any rows with one type each.
  double fitness_of(const PolluxProblem& problem, ConstPolluxRows rows);
  /// x of a job on this number of GPUs of a type, without the cost of a change; 0 without GPUs.
  double speed_up(const PolluxProblem& problem, std::int32_t job, std::int32_t type, std::int32_t gpus);
  void repair(const PolluxProblem& problem, PolluxRows rows) { repair_.apply(problem, {}, rows); }

  /// Maximum bytes for the rows of a population, so that a question too large for this search is rejected, not tried.
  static constexpr std::int64_t kMostCells = std::int64_t{1} << 28;

 private:
  void begin(const PolluxProblem& p, std::int32_t population);
  void set_fair(const PolluxProblem& p);
  TwoObjectives judge(const PolluxProblem& p, ConstPolluxRows rows) const;
  void breed(const PolluxProblem& p, std::int32_t population, std::uint64_t seed, std::int32_t generation);
  void select(std::int32_t population);
  PolluxRows rows_of(const PolluxProblem& p, std::int32_t place);

  PolluxRepair repair_;
  PolluxMutation mutation_;
  ParetoFronts fronts_;
  std::vector<double> scale_;       // [jobs] x of a speed of 1
  std::vector<std::uint8_t> rows_;  // [2 * population][jobs][nodes]
  std::vector<std::int32_t> free_;  // unused positions in rows_
  // Of individuals: parents, best first, then offspring. And of the survivors.
  std::vector<std::int32_t> place_, next_place_;
  std::vector<TwoObjectives> objectives_, next_objectives_;
};

}  // namespace berth::policy
