#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/backend/backend.hpp"

namespace berth::bench {

/// The owner of a choice's columns.
struct ChoiceAnswer {
  explicit ChoiceAnswer(const kernel::PriceView& p)
      : option(static_cast<std::size_t>(p.n_jobs)), price(static_cast<std::size_t>(p.n_types)), used(static_cast<std::size_t>(p.n_types)) {}
  kernel::PriceResult view() { return {option.data(), price.data(), used.data(), &value, &bound, &evaluations}; }
  bool operator==(const ChoiceAnswer&) const = default;

  std::vector<std::int32_t> option;
  std::vector<std::int64_t> price, used;
  std::int64_t value = 0, bound = 0;
  std::int32_t evaluations = 0;
};

/// @param earlier  prices of an earlier choice; empty: none.
inline ChoiceAnswer choose(core::PlacementBackend& backend, const kernel::PriceView& problem, const std::vector<std::int64_t>& earlier,
                           std::int64_t gap_ppm) {
  ChoiceAnswer answer(problem);
  const core::PriceTask task{problem, {gap_ppm, 200, false, earlier.empty() ? nullptr : earlier.data()}, nullptr};
  const kernel::PriceResult result = answer.view();
  backend.price({&task, 1}, {&result, 1});
  return answer;
}

}  // namespace berth::bench
