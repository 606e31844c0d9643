#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/policy/pareto_fronts.hpp"
#include "host/policy/pollux_problem.hpp"
#include "host/policy/pollux_repair.hpp"
#include "host/policy/pollux_variation.hpp"

namespace berth::policy {

/// How long the search goes on.
struct PolluxEffort {
  std::int32_t population = 100, generations = 100;  // >= 1; >= 0
};

/// Pollux's genetic search (OSDI'21), serial: NSGA-II with fitness and cluster utility as objectives; the answer is the fittest of the
/// last generation. It begins with what jobs have now. Sums of doubles in a fixed order, + - * / only. Memory is kept.
class PolluxSearch {
 public:
  /// @returns the best rows; valid until the next call.
  ConstPolluxRows solve(const PolluxProblem& problem, const PolluxEffort& effort, std::uint64_t seed);

  /// The power mean of exponent -1 over jobs of x + 0.001, x being the speed-up over a fair share of the GPUs. Any rows of one type each.
  double fitness_of(const PolluxProblem& problem, ConstPolluxRows rows);
  /// x of a job on so many GPUs of a type, as long as it has them already; 0 without.
  double speed_up(const PolluxProblem& problem, std::int32_t job, std::int32_t type, std::int32_t gpus);
  void repair(const PolluxProblem& problem, PolluxRows rows) { repair_.apply(problem, {}, rows); }

  /// Rows of a population take no more bytes than this, so that a question too large for this search is refused, not tried.
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
  std::vector<std::int32_t> free_;  // places in rows_ of nobody
  // Of individuals: parents, the best first, then children. And of those that survive.
  std::vector<std::int32_t> place_, next_place_;
  std::vector<TwoObjectives> objectives_, next_objectives_;
};

}  // namespace berth::policy
