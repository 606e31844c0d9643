#include "host/reference/price/price.hpp"

#include "host/reference/price/choice.hpp"
#include "host/reference/price/search.hpp"

namespace berth::reference {

void price(const kernel::PriceView& problem, const kernel::PriceRequest& request, const kernel::PriceResult& result,
           const std::function<bool()>& stop) {
  const PricedProblem p(problem);
  const std::size_t types = p.capacity.size();
  const Prices first = request.prices == nullptr ? Prices(types, 0) : earlier_prices(request, types, top_price(p));
  Evaluator evaluator(p, first, request.most_evaluations, stop);
  TakenOptions taken = repair(p, evaluator.centre());
  if (request.prices == nullptr || !within_gap(evaluator.centre().bound, value_of(p, taken), request.gap_ppm)) {
    search_prices(p, request, evaluator);
    taken = choose(p, evaluator.centre(), request.gap_ppm, evaluator.cut_short() ? 1 : 64);
  }
  const Evaluation& centre = evaluator.centre();
  if (request.bound_only) taken.assign(taken.size(), 0);

  for (std::size_t t = 0; t < p.capacity.size(); ++t) {
    result.price[t] = centre.price[t];
    result.used[t] = 0;
  }
  for (std::size_t j = 0; j < taken.size(); ++j) {
    const PricedOption& option = p.jobs[j][taken[j]];
    result.option[j] = static_cast<std::int32_t>(taken[j]) - 1;
    if (option.gpus > 0) result.used[option.type] += option.gpus;
  }
  *result.value = kernel::saturate(value_of(p, taken));
  *result.bound = kernel::saturate(centre.bound);
  *result.evaluations = evaluator.made();
}

}  // namespace berth::reference
