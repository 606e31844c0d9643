#pragma once

#include <cstdint>
#include <vector>

#include "host/policy/search/pollux_draws.hpp"
#include "host/policy/search/pollux_problem.hpp"

namespace berth::policy {

/// Turns rows after mutation and crossover into a valid allocation. In the order of Pollux; the first and last step are ours:
/// 1. A job keeps the GPU type of which it has the most GPUs (ties: the first), among the types of its shapes.
/// 2. Of jobs on several nodes only the first stays on each node. Which jobs are on several nodes is determined once, before.
/// 3. A job has no more GPUs and nodes than its limits. The excess is removed in a shuffled order of the nodes.
/// 4. GPUs beyond those of a node are removed from the last jobs.
/// 5. A job keeps as many GPUs as its largest shape that fits into them, on the first nodes. Pollux has no shapes, only a
///    minimum number, below which a job gets nothing.
/// Pinned rows need no repair, because jobs that may not be displaced are not part of the question.
class PolluxRepair {
 public:
  void apply(const PolluxProblem& problem, const PolluxIndividual& individual, PolluxRows rows);

 private:
  void keep_one_type(const PolluxProblem& p, PolluxRows rows);
  void keep_one_wide_job_a_node(const PolluxProblem& p, PolluxRows rows);
  void cut_rows(const PolluxProblem& p, const PolluxIndividual& individual, PolluxRows rows);
  void cut_nodes(const PolluxProblem& p, PolluxRows rows);
  void cut_to_shapes(const PolluxProblem& p, PolluxRows rows);

  std::vector<std::int32_t> on_type_, order_, used_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace berth::policy
