#pragma once

#include <cstdint>
#include <vector>

#include "host/policy/pollux_draws.hpp"
#include "host/policy/pollux_problem.hpp"

/// Crossover and mutation of Pollux's search (OSDI'21). What they leave need be no allocation: repair follows.
namespace berth::policy {

/// Jobs before `cut` from the one parent, the others from the other.
void cross_rows(const PolluxProblem& problem, ConstPolluxRows first, ConstPolluxRows second, std::int32_t cut, PolluxRows child);

/// 1. With one chance in ten, each for itself, a job's row becomes what the job has now.
/// 2. With one chance in ten a row is thinned: each of its entries becomes 0 with one chance in ten.
/// 3. Of the n nodes that a job does not use and that have room, each is picked with one chance in n; so is, of those m that it uses,
///    each with one in m: on average one of either. The entry becomes a number from what it is to what the node has room for and the job
///    may have, all as likely. Our reading of "on average", and of room: what the jobs before it left, one job after another. Where all
///    jobs grew into the same room at once, those whose GPUs repair took from them left no child of forty jobs better than its parents.
class PolluxMutation {
 public:
  void apply(const PolluxProblem& problem, const PolluxIndividual& who, PolluxRows rows);

 private:
  std::vector<std::int32_t> used_;  // [nodes]
};

}  // namespace berth::policy
