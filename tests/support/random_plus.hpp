#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "berth/kernel/plus.hpp"
#include "tests/support/problem.hpp"
#include "tests/support/random_problem.hpp"

/// Owners of the columns behind the views of berth/kernel/plus.hpp, for tests.
namespace berth::test {

struct RandomPlusSpec {
  RandomSpec problem;
  bool classes = false;             // worth depends on how a gang lies
  bool fragments = false;           // idle GPUs take something
  std::int32_t equal_percent = 30;  // rows that are worth as much as others
};

struct PlusProblem {
  Problem problem;
  kernel::Packing packing = kernel::Packing::kTopology;
  std::int32_t n_classes = 1, n_blocks = 0;
  std::vector<std::int32_t> slot, row_begin{0}, demand, rank_begin{0}, ranked, want, turn, current, type_begin, type_node, room, node_room,
      block;
  std::vector<TimeUs> run;
  std::vector<std::int64_t> value, worth, moved_worth, fragment;

  std::int32_t n_jobs() const { return static_cast<std::int32_t>(slot.size()); }
  /// Valid while this object lives.
  kernel::PlusView view() const;
};

/// How to search; what kernel::PlusRequest says.
struct PlusSearching {
  std::uint64_t seed = 1;
  std::int32_t population = 4, islands = 2, steps = 8, migration = 2, generations = 4;
  std::uint32_t operators = ~0U;
  std::vector<std::int32_t> row, entry_begin;
  std::vector<kernel::PlacedRow> entries;
  std::int32_t n_genes = 0;
  std::vector<std::int32_t> gene, order;

  kernel::PlusRequest request() const;
};

/// Owns the output columns. Filled with rubbish at first, so that a column that a backend forgets is seen.
struct PlusBuffers {
  PlusBuffers(const PlusProblem& problem, const PlusSearching& how);
  kernel::PlusResult view();
  /// Only what is to be read.
  bool operator==(const PlusBuffers& other) const;

  std::vector<std::int32_t> row, entry_begin, entry_end, gene;
  std::vector<kernel::PlacedRow> entries;
  std::vector<std::int64_t> score;
  std::int32_t generations = -7;
};
std::ostream& operator<<(std::ostream& out, const PlusBuffers& buffers);

/// Pure functions of their arguments.
PlusProblem random_plus(std::uint64_t seed, const RandomPlusSpec& spec = {});
PlusSearching random_searching(std::uint64_t seed, const PlusProblem& problem);

}  // namespace berth::test
