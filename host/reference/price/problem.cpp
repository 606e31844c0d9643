#include "host/reference/price/problem.hpp"

#include <tuple>

namespace berth::reference {

PricedProblem::PricedProblem(const kernel::PriceView& view) : capacity(view.capacity, view.capacity + view.n_types) {
  for (std::int32_t j = 0; j < view.n_jobs; ++j) {
    std::vector<PricedOption> options{{}};
    for (std::int32_t row = view.option_begin[j]; row < view.option_begin[j + 1]; ++row) {
      options.push_back({view.value[row], view.gpus[row], static_cast<std::size_t>(view.type[row])});
    }
    jobs.push_back(std::move(options));
  }
}

kernel::Wide net_value(const PricedOption& option, const Prices& price) {
  return option.gpus == 0 ? 0 : option.value - kernel::Wide{price[option.type]} * option.gpus;
}

Evaluation evaluate(const PricedProblem& problem, const Prices& price) {
  Evaluation e{price, {}, std::vector<std::int64_t>(price.size()), 0};
  for (std::size_t t = 0; t < price.size(); ++t) e.bound += kernel::Wide{price[t]} * problem.capacity[t];
  for (const auto& options : problem.jobs) {
    // "None" uses the fewest GPUs, so an option replaces it only with a net value above 0.
    std::size_t best = 0;
    for (std::size_t k = 1; k < options.size(); ++k) {
      const auto rank = [&](std::size_t option) { return std::tuple(-net_value(options[option], price), options[option].gpus, option); };
      if (rank(k) < rank(best)) best = k;
    }
    e.taken.push_back(best);
    e.bound += net_value(options[best], price);
    for (std::size_t t = 0; t < price.size(); ++t) e.use[t] += gpus_of(options[best], t);
  }
  e.bound = kernel::saturate(e.bound);
  return e;
}

}  // namespace berth::reference
