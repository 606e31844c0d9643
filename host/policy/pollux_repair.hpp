#pragma once

#include <cstdint>
#include <vector>

#include "host/policy/pollux_draws.hpp"
#include "host/policy/pollux_problem.hpp"

namespace berth::policy {

/// Makes rows that mutation and crossover left an allocation. In Pollux's order, our own steps at either end:
/// 1. a job keeps the GPU type of which it has the most GPUs (ties: the first), among those that it has shapes of: ours;
/// 2. of jobs on several nodes only the first stays on each node; who is on several nodes is looked up once, before;
/// 3. a job has no more GPUs and nodes than it may: what is beyond them goes, in a shuffled order of the nodes;
/// 4. what is beyond the GPUs of a node goes from the last jobs;
/// 5. a job is left with as many GPUs as its largest shape that fits into what it has, the first nodes': Pollux knows no shapes, only a
///    least number, below which a job gets nothing.
/// Pinned rows need no repair, as jobs that may not be displaced are no part of the question.
class PolluxRepair {
 public:
  void apply(const PolluxProblem& problem, const PolluxIndividual& who, PolluxRows rows);

 private:
  void keep_one_type(const PolluxProblem& p, PolluxRows rows);
  void keep_one_wide_job_a_node(const PolluxProblem& p, PolluxRows rows);
  void cut_rows(const PolluxProblem& p, const PolluxIndividual& who, PolluxRows rows);
  void cut_nodes(const PolluxProblem& p, PolluxRows rows);
  void cut_to_shapes(const PolluxProblem& p, PolluxRows rows);

  std::vector<std::int32_t> on_type_, order_, used_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace berth::policy
