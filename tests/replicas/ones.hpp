#pragma once

#include <cstdint>
#include <vector>

namespace berth::test {

/// A job of ONES' evaluation.
struct OnesJob {
  double submit_s = 0;
  int gpus = 0;  ///< requested
  double epochs = 0, epoch_size = 0;
  std::vector<double> rate;  ///< samples per second on 1, 2, ... GPUs; beyond the last as on the last
};

/// Those that `berth simulate --workload ones` draws.
std::vector<OnesJob> draw_ones_replica(std::int64_t jobs, std::uint64_t seed);

/// What the artifact does that its rules do not ask for. Each can be turned off, to see its effect.
struct OnesHabits {
  bool stamps_all = true;      ///< every update restarts the epoch that all placed jobs have to finish; else that of jobs it changes
  bool moves_count = true;     ///< a job of equal size on other GPUs is a change; else it moves at no cost
  bool halves_waiting = true;  ///< jobs that still wait when a schedule is deployed ask for half of what they had
  bool loses_fresh = true;     ///< a running job of less than two epochs that a crossover lost is stopped; else it is added again
  bool counts_first_evaluation = true;  ///< the evaluation before training counts as an epoch
  bool blocks = true;                   ///< no generation is made while processes of a new schedule start
};

struct OnesCosts {
  double start_s = 10;   ///< of processes: starts, resumptions, and GPUs that a job is given while it trains on
  double resize_s = 1;   ///< pause of a job that changes its GPUs
  double period_s = 1;   ///< from one generation to the next
  bool predicts = true;  ///< the mean of the predicted progress is the true one; else a job always has one more epoch to do
};

struct OnesFigures {
  std::vector<double> jct_s;  ///< ascending
  double mean_s = 0, run_s = 0, makespan_s = 0;
  double utilisation = 0;  ///< GPU-time that jobs had, of 64 GPUs from 0 to the last end
  int generations = 0, updates = 0, resizes = 0, moves = 0, stops = 0;
};

/// The artifact of ONES (github.com/kurisusnowdeng/ones_sc21, 2021) on 16 nodes of 4 GPUs, written again from its rules, in doubles.
/// tests/replicas/README.md says what the rules are.
OnesFigures replay_ones(const std::vector<OnesJob>& jobs, std::uint64_t seed, const OnesCosts& costs = {}, const OnesHabits& habits = {});

}  // namespace berth::test
