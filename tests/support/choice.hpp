#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "berth/kernel/choice.hpp"

/// Owners of the columns behind the views of berth/kernel/choice.hpp, for tests.
namespace berth::test {

struct ChoiceOption {
  std::int32_t type;
  std::int32_t gpus;
  std::int64_t value;
};
bool operator==(const ChoiceOption& a, const ChoiceOption& b);

struct ChoiceProblem {
  /// jobs: the options of each.
  ChoiceProblem(std::vector<std::int64_t> capacity, const std::vector<std::vector<ChoiceOption>>& jobs);

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(option_begin.size()) - 1; }
  std::int32_t n_types() const { return static_cast<std::int32_t>(capacity.size()); }
  kernel::ChoiceView view() const;

  std::vector<std::int64_t> capacity;
  std::vector<std::int32_t> option_begin, type, gpus;
  std::vector<std::int64_t> value;
};

/// Owns the output columns. Filled with rubbish at first, so that a column that a backend forgets is seen.
struct ChoiceBuffers {
  explicit ChoiceBuffers(const ChoiceProblem& problem);
  kernel::ChoiceResult view();

  std::vector<std::int32_t> option;
  std::vector<std::int64_t> price, used;
  std::int64_t value = -7, bound = -7;
  std::int32_t evaluations = -7;
};
bool operator==(const ChoiceBuffers& a, const ChoiceBuffers& b);
void PrintTo(const ChoiceBuffers& result, std::ostream* out);

/// How to choose; what kernel::ChoiceRequest says, as one writes it in a test.
struct Choosing {
  std::int64_t gap_ppm = 0;
  std::int32_t most_evaluations = 1000;
  std::vector<std::int64_t> prices = {};  // of an earlier decision; empty: none
  bool bound_only = false;
  std::function<bool()> stop = {};
};

/// The oracle's answer.
ChoiceBuffers choose_by_oracle(const ChoiceProblem& problem, const Choosing& how = {});

/// What is wrong with an answer, or empty: it keeps within the capacities, the columns say what was chosen, the bound is that of the
/// prices, and the value is not above it.
std::string objection(const ChoiceProblem& problem, const ChoiceBuffers& result);

/// The greatest value by trying everything; for a few jobs.
std::int64_t best_by_enumeration(const ChoiceProblem& problem);

}  // namespace berth::test
