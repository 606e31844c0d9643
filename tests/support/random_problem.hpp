#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/score/columns.hpp"
#include "tests/support/problem_builder.hpp"

/// Adversarial problems: many ties, jobs that fit nowhere, uneven trees in several topologies, almost full nodes.
namespace berth::test {

struct RandomSpec {
  std::int32_t nodes = 12;
  std::int32_t jobs = 24;
  std::int32_t types = 2;
  std::int32_t max_gpus = 8;  // per node, up to 64
  std::int32_t queues = 4;
  std::int32_t running_percent = 40;  // of the jobs
  std::int32_t demands = 10;          // number of demands that options use
  std::int32_t tree_percent = 35;     // of the demands: with several groups
  bool topologies = true;             // topologies besides the switch topology
  bool constraints = true;            // require, prefer, segment, spread
  bool shares = true;
  bool cpu_memory = true;
  bool until = true;
  bool inner = true;
};

/// Instants of random problems are close to this one.
inline constexpr TimeUs kRandomNow = 1000 * kSecond;

/// A pure function of its arguments.
Problem random_problem(std::uint64_t seed, const RandomSpec& spec = {});
/// The same problem with limits that leave queues a few GPUs more than they use, or none.
Problem random_problem_near_limits(std::uint64_t seed, const RandomSpec& spec = {});

/// Order, flags, disciplines and taken GPUs for a scheduling pass over `problem`.
PassCase random_pass(std::uint64_t seed, const Problem& problem);
/// The same pass with EASY backfill.
PassCase random_easy_pass(std::uint64_t seed, const Problem& problem);
/// The same pass with conservative backfill, of jobs that more often end.
PassCase random_conservative_pass(std::uint64_t seed, const Problem& problem);

/// Owner of a ScoreQuery.
struct ScoreCase {
  std::vector<std::int32_t> jobs;
  std::vector<TimeUs> option_run;
  std::vector<std::int64_t> domain_cost;
  std::int32_t topology = 0, level = 0, k = 1;
  std::int64_t leftover_weight = 0;
  TimeUs now = 0;

  kernel::ScoreQuery view() const;
};
ScoreCase random_score(std::uint64_t seed, const Problem& problem);

}  // namespace berth::test
