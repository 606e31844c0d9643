#include "host/reference/price.hpp"

#include "host/reference/price_choice.hpp"
#include "host/reference/price_search.hpp"

namespace berth::reference {

void choose_by_price(const kernel::ChoiceView& problem, const kernel::ChoiceRequest& request, const kernel::ChoiceResult& result,
                     const std::function<bool()>& stop) {
  const PricedProblem p(problem);
  Evaluator evaluator(p, request.most_evaluations, stop);
  search_prices(p, request, evaluator);
  const Evaluation& centre = evaluator.centre();
  const std::vector<std::size_t> taken = choose(p, centre, request.gap_ppm);

  core::Wide value = 0;
  for (std::size_t t = 0; t < p.capacity.size(); ++t) {
    result.price[t] = centre.price[t];
    result.used[t] = 0;
  }
  for (std::size_t j = 0; j < taken.size(); ++j) {
    const PricedOption& option = p.jobs[j][taken[j]];
    result.option[j] = static_cast<std::int32_t>(taken[j]) - 1;
    if (option.gpus > 0) result.used[option.type] += option.gpus;
    value += option.value;
  }
  *result.value = core::saturate(value);
  *result.bound = core::saturate(centre.bound);
  *result.evaluations = evaluator.made();
}

}  // namespace berth::reference
