#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "berth/kernel/price/columns.hpp"

/// Owners of the columns behind the views of berth/kernel/price/columns.hpp, for tests.
namespace berth::test {

struct TestOption {
  std::int32_t type;
  std::int32_t gpus;
  std::int64_t value;
};
bool operator==(const TestOption& a, const TestOption& b);

struct ChoiceProblem {
  /// jobs: the options of each job.
  ChoiceProblem(std::vector<std::int64_t> capacity, const std::vector<std::vector<TestOption>>& jobs);

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(option_begin.size()) - 1; }
  std::int32_t n_types() const { return static_cast<std::int32_t>(capacity.size()); }
  kernel::PriceView view() const;

  std::vector<std::int64_t> capacity;
  std::vector<std::int32_t> option_begin, type, gpus;
  std::vector<std::int64_t> value;
};

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct ChoiceBuffers {
  explicit ChoiceBuffers(const ChoiceProblem& problem);
  kernel::PriceResult view();

  std::vector<std::int32_t> option;
  std::vector<std::int64_t> price, used;
  std::int64_t value = -7, bound = -7;
  std::int32_t evaluations = -7;
};
bool operator==(const ChoiceBuffers& a, const ChoiceBuffers& b);
void PrintTo(const ChoiceBuffers& result, std::ostream* out);

/// Settings of a choice; a PriceRequest in a form convenient for tests.
struct Choosing {
  std::int64_t gap_ppm = 0;
  std::int32_t most_evaluations = 1000;
  std::vector<std::int64_t> prices = {};  // of an earlier decision; empty: none
  bool bound_only = false;
  std::function<bool()> stop = {};
};

/// The answer of the oracle.
ChoiceBuffers choose_by_oracle(const ChoiceProblem& problem, const Choosing& how = {});

/// The error of an answer, or empty. The choice must be within the capacities, and the columns must describe it.
/// The bound must follow from the prices, and the value must not exceed it.
std::string objection(const ChoiceProblem& problem, const ChoiceBuffers& result);

/// The greatest value, by enumeration; for a few jobs.
std::int64_t best_by_enumeration(const ChoiceProblem& problem);

}  // namespace berth::test
