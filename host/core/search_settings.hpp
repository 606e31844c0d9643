#pragma once

#include <cstdint>

namespace berth::core {

/// Shapes with which a search begins besides those that prices chose.
enum class SearchSeed : std::int32_t { kRunning, kGreedy, kKept };

/// How a search over whole plans goes on once prices have chosen (docs/ones-plus.md).
struct SearchSettings {
  std::int32_t population = 0;  // individuals of an island; 0: nothing is searched
  std::int32_t islands = 1;
  std::int32_t steps = 64;       // of an individual in a generation
  std::int32_t migration = 8;    // generations
  std::int32_t generations = 0;  // at most; 0: as many as budget and limit of work allow
  std::uint32_t operators = 0;   // set of kernel::PlusOperator
  std::uint32_t seeds = 0;       // set of SearchSeed
};

constexpr bool has_seed(std::uint32_t set, SearchSeed one) { return (set >> static_cast<std::int32_t>(one) & 1U) != 0; }

}  // namespace berth::core
