#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Successive halving (here: thirds) over windows that grow: Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and
/// Hyperparameter Optimization", AISTATS 2016.
namespace berth::cli {

inline constexpr std::int64_t kThird = 3;

/// Days of the rungs, the last all of them: three where the first then has a day.
std::vector<std::int64_t> rung_days(std::int64_t days);

/// How many configurations a budget of runs is enough for, if a third of them comes to the next rung each time; 0: none.
/// @param other  runs that are made in any case
std::int64_t configurations_for(std::int64_t runs, std::int64_t other, std::size_t rungs);

/// How many of them come to the next rung.
std::int64_t kept_of(std::int64_t count);

/// The `keep` best, the smallest value first; of equals the first. Those without a value are lost.
std::vector<std::size_t> best_of(const std::vector<std::optional<std::int64_t>>& values, std::int64_t keep);

}  // namespace berth::cli
