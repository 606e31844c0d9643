#include "host/reference/price/search.hpp"

#include <algorithm>
#include <numeric>

namespace berth::reference {
namespace {

// Step 3, one price for all types. Returns false when no evaluations are left.
bool try_one_price(const PricedProblem& problem, std::int64_t top, Evaluator& evaluator) {
  const auto total = [](const std::vector<std::int64_t>& gpus) { return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0}); };
  const std::int64_t capacity = total(problem.capacity);
  std::int64_t lo = 0, hi = top;
  for (int times = 0; times < 24; ++times) {
    const std::int64_t middle = lo == 0 ? hi / 8 : (lo + hi) / 2;
    if (middle == lo) return true;
    const auto e = evaluator.at(Prices(problem.capacity.size(), middle));
    if (!e) return false;
    const std::int64_t use = total(e->use);
    if (10 * std::abs(use - capacity) <= capacity) return true;
    (use > capacity ? lo : hi) = middle;
  }
  return true;
}

}  // namespace

std::int64_t top_price(const PricedProblem& problem) {
  std::int64_t top = 0;
  for (const auto& options : problem.jobs) {
    for (const PricedOption& option : options) {
      if (option.value > 0) top = std::max(top, 1 + option.value / option.gpus);
    }
  }
  return top;
}

Prices earlier_prices(const kernel::PriceRequest& request, std::size_t types, std::int64_t top) {
  Prices earlier(request.prices, request.prices + types);
  for (std::int64_t& price : earlier) price = std::clamp<std::int64_t>(price, 0, top);
  return earlier;
}

Evaluator::Evaluator(const PricedProblem& problem, const Prices& first, std::int32_t most, const std::function<bool()>& stop)
    : problem_(problem), most_(most), stop_(stop), centre_(evaluate(problem, first)) {}

std::optional<Evaluation> Evaluator::at(const Prices& price) {
  cut_short_ = made_ >= most_ || (stop_ && stop_());
  if (cut_short_) return std::nullopt;
  ++made_;
  Evaluation e = evaluate(problem_, price);
  if (e.bound < centre_.bound) centre_ = e;
  return e;
}

void search_prices(const PricedProblem& problem, const kernel::PriceRequest& request, Evaluator& evaluator) {
  const std::size_t types = problem.capacity.size();
  const std::optional<Evaluation> free = request.prices == nullptr ? evaluator.centre() : evaluator.at(Prices(types, 0));
  if (!free) return;
  bool fits = true;
  for (std::size_t t = 0; t < types; ++t) fits = fits && free->use[t] <= problem.capacity[t];
  if (fits) return evaluator.prefer(*free);
  const std::int64_t top = top_price(problem);
  if (request.prices == nullptr && !try_one_price(problem, top, evaluator)) return;
  search_from_centre(problem, request, top, evaluator);
}

}  // namespace berth::reference
