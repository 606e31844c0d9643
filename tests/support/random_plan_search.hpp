#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "berth/kernel/plan_search/columns.hpp"
#include "tests/support/problem.hpp"
#include "tests/support/random_problem.hpp"

/// Owners of the columns behind the views of berth/kernel/plan_search/columns.hpp, for tests.
namespace berth::test {

struct RandomPlanSearchSpec {
  RandomSpec problem;
  bool classes = false;             // values depend on the locality of a gang
  bool fragments = false;           // idle GPUs lower the score
  std::int32_t equal_percent = 30;  // options with the same value as others
};

struct PlanSearchProblem {
  Problem problem;
  kernel::Packing packing = kernel::Packing::kTopology;
  std::int32_t n_classes = 1, n_blocks = 0;
  std::vector<std::int32_t> problem_job, option_begin{0}, demand, rank_begin{0}, ranked, preferred, fill_order, current, type_begin,
      type_node, room, node_room, block;
  std::vector<TimeUs> run;
  std::vector<std::int64_t> value, placed_value, moved_value, fragment;

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(problem_job.size()); }
  /// Valid while this object lives.
  kernel::PlanSearchView view() const;
};

/// Settings of a search; a kernel::PlanSearchRequest in a form convenient for tests.
struct PlanSearching {
  std::uint64_t seed = 1;
  std::int32_t population = 4, islands = 2, steps = 8, migration = 2, generations = 4;
  std::uint32_t operators = ~0U;
  std::vector<std::int32_t> option, entry_begin;
  std::vector<kernel::PlacedRow> entries;
  std::int32_t n_starts = 0;
  std::vector<std::int32_t> start_option, start_order;

  kernel::PlanSearchRequest request() const;
};

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct PlanSearchBuffers {
  PlanSearchBuffers(const PlanSearchProblem& problem, const PlanSearching& how);
  kernel::PlanSearchResult view();
  /// Compares only what is defined.
  bool operator==(const PlanSearchBuffers& other) const;

  std::vector<std::int32_t> option, entry_begin, entry_end, island_option;
  std::vector<kernel::PlacedRow> entries;
  std::vector<std::int64_t> score;
  std::int32_t generations = -7;
};
std::ostream& operator<<(std::ostream& out, const PlanSearchBuffers& buffers);

/// Pure functions of their arguments.
PlanSearchProblem random_plan_search(std::uint64_t seed, const RandomPlanSearchSpec& spec = {});
PlanSearching random_searching(std::uint64_t seed, const PlanSearchProblem& problem);

}  // namespace berth::test
