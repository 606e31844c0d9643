#pragma once

#include <cstdint>
#include <vector>

#include "host/policy/search/pollux_draws.hpp"
#include "host/policy/search/pollux_problem.hpp"

/// Crossover and mutation of the search of Pollux (OSDI'21). Their result need not be a valid allocation: repair follows.
namespace berth::policy {

/// Jobs before `cut` come from one parent, the others from the other.
void cross_rows(const PolluxProblem& problem, ConstPolluxRows first, ConstPolluxRows second, std::int32_t cut, PolluxRows offspring);

/// 1. With probability 1/10, independently, a job's row becomes its current allocation.
/// 2. With probability 1/10 a row is thinned: each entry becomes 0 with probability 1/10.
/// 3. Of the n nodes with room that a job does not use, each is selected with probability 1/n; of the m nodes that it uses, each
///    with 1/m: on average one of either kind. The entry becomes a uniform number from its value up to the room on the node and
///    the limit of the job. "On average" is our reading; so is room: what the jobs before it left, job after job. When all
///    jobs grew into the same room at once, repair took GPUs until no offspring of forty jobs was better than its parents.
class PolluxMutation {
 public:
  void apply(const PolluxProblem& problem, const PolluxIndividual& individual, PolluxRows rows);

 private:
  std::vector<std::int32_t> used_;  // [nodes]
};

}  // namespace berth::policy
