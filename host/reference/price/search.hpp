#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "host/reference/price/problem.hpp"

/// Sections 3 and 4 of docs/prices.md.
namespace berth::reference {

/// Counts evaluations and keeps the best. None follows the last one allowed, or a stop by the caller.
class Evaluator {
 public:
  /// Evaluates at the first prices.
  Evaluator(const PricedProblem& problem, const Prices& first, std::int32_t most, const std::function<bool()>& stop);

  std::optional<Evaluation> at(const Prices& price);
  /// Makes an evaluation the centre.
  void prefer(Evaluation evaluation) { centre_ = std::move(evaluation); }
  /// The evaluation with the least D; of equal ones the earliest.
  const Evaluation& centre() const { return centre_; }
  std::int32_t made() const { return made_; }
  /// Whether a requested evaluation was not made.
  bool cut_short() const { return cut_short_; }

 private:
  const PricedProblem& problem_;
  std::int32_t most_;
  const std::function<bool()>& stop_;
  std::int32_t made_ = 1;
  bool cut_short_ = false;
  Evaluation centre_;
};

/// A price above the value of any GPU.
std::int64_t top_price(const PricedProblem& problem);

/// The earlier prices, limited to the valid range.
Prices earlier_prices(const kernel::PriceRequest& request, std::size_t types, std::int64_t top);

/// From step 2 of section 3 on, after the evaluation at earlier prices or, without them, at 0.
/// Afterwards the evaluator's centre has the final prices and the choice at them.
void search_prices(const PricedProblem& problem, const kernel::PriceRequest& request, Evaluator& evaluator);

/// Section 4; `top` is a price above the value of any GPU.
void search_from_centre(const PricedProblem& problem, const kernel::PriceRequest& request, std::int64_t top, Evaluator& evaluator);

}  // namespace berth::reference
