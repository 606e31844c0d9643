#pragma once

#include <functional>
#include <optional>

#include "host/reference/price_problem.hpp"

/// Sections 3 and 4 of docs/prices.md.
namespace berth::reference {

/// Evaluations, counted, and the best of them. After the last one that is allowed, or when the caller stops, there are no more.
class Evaluator {
 public:
  /// Evaluates at prices 0.
  Evaluator(const PricedProblem& problem, std::int32_t most, const std::function<bool()>& stop);

  std::optional<Evaluation> at(const Prices& price);
  /// The least D, the earlier of equal ones.
  const Evaluation& centre() const { return centre_; }
  std::int32_t made() const { return made_; }

 private:
  const PricedProblem& problem_;
  std::int32_t most_;
  const std::function<bool()>& stop_;
  std::int32_t made_ = 1;
  Evaluation centre_;
};

/// The prices to decide at, and what jobs take at them, are the evaluator's centre afterwards.
void search_prices(const PricedProblem& problem, const kernel::ChoiceRequest& request, Evaluator& evaluator);

/// Section 4; `top` is a price that no GPU is worth.
void search_from_centre(const PricedProblem& problem, const kernel::ChoiceRequest& request, std::int64_t top, Evaluator& evaluator);

}  // namespace berth::reference
