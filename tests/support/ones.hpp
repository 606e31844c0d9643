#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "berth/kernel/ones.hpp"

/// Owners of the columns behind the views of berth/kernel/ones.hpp, for tests.
namespace berth::test {

struct OnesStep {
  std::int32_t gpus;
  std::int64_t rate;
};

/// -7 in columns that nobody may read: `start` of a job that is not fresh, the rest of one that is.
struct OnesJob {
  std::vector<OnesStep> steps = {};
  bool fresh = false;
  std::int32_t start = -7;
  std::int32_t limit = -7;
  std::int32_t most = -7;
  std::int64_t work = -7;
  std::vector<std::int32_t> progress = std::vector<std::int32_t>(kernel::kOnesQuantiles, -7);
  std::int32_t deployed_first = 0;
  std::int32_t deployed_count = 0;
};

struct OnesProblem {
  OnesProblem(std::int32_t slots, std::int32_t population, const std::vector<OnesJob>& jobs);

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(step_begin.size()) - 1; }
  kernel::OnesView view() const;
  /// The greatest step of a job that is at most that many GPUs, or 0.
  std::int32_t fit(std::int32_t job, std::int32_t gpus_at_most) const;

  std::int32_t slots, population;
  std::int32_t theta_ppm = 300'000;
  std::uint64_t seed = 1;
  std::vector<std::int32_t> step_begin, step_gpus;
  std::vector<std::int64_t> step_rate;
  std::vector<std::uint8_t> fresh;
  std::vector<std::int32_t> start, limit, most;
  std::vector<std::int64_t> work;
  std::vector<std::int32_t> progress, deployed_first, deployed_count;
};

/// Blocks of a population, one individual after the other.
struct OnesPopulation {
  std::vector<std::int32_t> first, count;
};

/// How to evolve; what kernel::OnesRequest says, as one writes it in a test.
struct OnesEvolving {
  std::int32_t first_generation = 0;
  std::int32_t generations = 1;
  std::optional<OnesPopulation> population = {};  // to go on from
  std::function<bool()> stop = {};

  kernel::OnesRequest request() const;
};

/// Owns the output columns. Filled with rubbish at first, so that a column that a backend forgets is seen.
struct OnesBuffers {
  OnesBuffers(const OnesProblem& problem, std::int32_t generations_at_most);

  kernel::OnesResult view();
  OnesPopulation population() const { return {first, count}; }
  /// Of each job in individual i.
  std::vector<std::int32_t> counts_of(std::int32_t i) const;
  std::vector<std::int32_t> firsts_of(std::int32_t i) const;

  std::vector<std::int32_t> first, count;
  std::vector<std::int64_t> score, least;
  std::int32_t generations = -7;
};
/// Whatever was written for generations that were not made does not count.
bool operator==(const OnesBuffers& a, const OnesBuffers& b);
void PrintTo(const OnesBuffers& result, std::ostream* out);

/// The oracle's answer.
OnesBuffers evolve_by_oracle(const OnesProblem& problem, const OnesEvolving& how = {});

/// What is wrong with an answer, or empty: blocks are disjoint and within the slots, counts are steps, scores ascend. After a generation,
/// too: fresh jobs have `start`, others no more than their limits, and no job could use an idle GPU within them.
std::string objection(const OnesProblem& problem, const OnesBuffers& result);

}  // namespace berth::test
