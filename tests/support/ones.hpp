#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "berth/kernel/ones/columns.hpp"

/// Owners of the columns behind the views of berth/kernel/ones/columns.hpp, for tests.
namespace berth::test {

struct TestOnesOption {
  std::int32_t gpus;
  std::int64_t rate;
};

/// -7 in columns that must not be read: `start` of a job that is not fresh, the other columns of one that is.
struct TestOnesJob {
  std::vector<TestOnesOption> options = {};
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
  OnesProblem(std::int32_t n_gpus, std::int32_t population, const std::vector<TestOnesJob>& jobs);

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(option_begin.size()) - 1; }
  kernel::OnesView view() const;
  /// The greatest option of a job that is at most `gpus_at_most`, or 0.
  std::int32_t fit(std::int32_t job, std::int32_t gpus_at_most) const;

  std::int32_t n_gpus, population;
  std::int32_t theta_ppm = 300'000;
  std::uint64_t seed = 1;
  std::int64_t waiting = 0;
  std::vector<std::int32_t> option_begin, option_gpus;
  std::vector<std::int64_t> option_rate;
  std::vector<std::uint8_t> fresh;
  std::vector<std::int32_t> start, limit, most;
  std::vector<std::int64_t> work;
  std::vector<std::int32_t> progress, deployed_first, deployed_count;
};

/// Blocks of a population, one individual after the other.
struct TestOnesPopulation {
  std::vector<std::int32_t> first, count;
};

/// Settings of an evolution; a kernel::OnesRequest in a form convenient for tests.
struct OnesEvolving {
  std::int32_t first_generation = 0;
  std::int32_t generations = 1;
  std::optional<TestOnesPopulation> population = {};  // the population to continue
  std::function<bool()> stop = {};

  kernel::OnesRequest request() const;
};

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct OnesBuffers {
  OnesBuffers(const OnesProblem& problem, std::int32_t generations_at_most);

  kernel::OnesResult view();
  TestOnesPopulation population() const { return {first, count}; }
  /// Counts of the jobs in individual i.
  std::vector<std::int32_t> counts_of(std::int32_t i) const;
  std::vector<std::int32_t> firsts_of(std::int32_t i) const;

  std::vector<std::int32_t> first, count;
  std::vector<std::int64_t> score, least;
  std::int32_t generations = -7;
};
/// Ignores columns of generations that were not made.
bool operator==(const OnesBuffers& a, const OnesBuffers& b);
void PrintTo(const OnesBuffers& result, std::ostream* out);

/// The answer of the oracle.
OnesBuffers evolve_by_oracle(const OnesProblem& problem, const OnesEvolving& how = {});

/// The error of an answer, or empty. Blocks are disjoint and within the GPUs, counts are options, scores ascend.
/// After a generation fresh jobs have `start`, and others at most their limits. No job could use an idle GPU within them.
std::string objection(const OnesProblem& problem, const OnesBuffers& result);

}  // namespace berth::test
