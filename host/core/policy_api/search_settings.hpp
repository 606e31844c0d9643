#pragma once

#include <cstdint>

namespace berth::core {

/// Initial options of a search besides those chosen by prices.
enum class SearchSeed : std::int32_t { kRunning, kFill, kKept };

/// Settings of the search over whole plans that follows the choice by prices (docs/ones-plus.md).
struct SearchSettings {
  std::int32_t population = 0;  // individuals of an island; 0: no search
  std::int32_t islands = 1;
  std::int32_t steps = 64;       // of an individual in a generation
  std::int32_t migration = 8;    // generations
  std::int32_t generations = 0;  // at most; 0: as many as budget and limit of iterations allow
  std::uint32_t operators = 0;   // set of kernel::PlanSearchOperator
  std::uint32_t seeds = 0;       // set of SearchSeed
};

constexpr bool has_seed(std::uint32_t set, SearchSeed one) { return (set >> static_cast<std::int32_t>(one) & 1U) != 0; }

}  // namespace berth::core
