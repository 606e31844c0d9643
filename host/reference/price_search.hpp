#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "host/reference/price_problem.hpp"

/// Sections 3 and 4 of docs/prices.md.
namespace berth::reference {

/// Evaluations, counted, and the best of them. After the last one that is allowed, or when the caller stops, there are no more.
class Evaluator {
 public:
  /// Evaluates at the first prices.
  Evaluator(const PricedProblem& problem, const Prices& first, std::int32_t most, const std::function<bool()>& stop);

  std::optional<Evaluation> at(const Prices& price);
  /// Makes it the centre.
  void prefer(Evaluation evaluation) { centre_ = std::move(evaluation); }
  /// The least D, the earlier of equal ones.
  const Evaluation& centre() const { return centre_; }
  std::int32_t made() const { return made_; }
  /// Whether another was asked for and not made.
  bool cut_short() const { return cut_short_; }

 private:
  const PricedProblem& problem_;
  std::int32_t most_;
  const std::function<bool()>& stop_;
  std::int32_t made_ = 1;
  bool cut_short_ = false;
  Evaluation centre_;
};

/// A price that no GPU is worth.
std::int64_t top_price(const PricedProblem& problem);

/// Earlier prices, cut.
Prices earlier_prices(const kernel::ChoiceRequest& request, std::size_t types, std::int64_t top);

/// From step 2 of section 3 on, after the evaluation at earlier prices or, without these, at 0. The prices to decide at, and what jobs
/// take at them, are the evaluator's centre afterwards.
void search_prices(const PricedProblem& problem, const kernel::ChoiceRequest& request, Evaluator& evaluator);

/// Section 4; `top` is a price that no GPU is worth.
void search_from_centre(const PricedProblem& problem, const kernel::ChoiceRequest& request, std::int64_t top, Evaluator& evaluator);

}  // namespace berth::reference
