#pragma once

#include "berth/kernel/price/state.hpp"

/// What jobs take at given prices: docs/prices.md section 2.
namespace berth::kernel {

/// The option that a job takes, -1: none; `net` is its value minus the price.
BERTH_HD inline std::int32_t best_option(const PriceView& c, const std::int64_t* price, std::int32_t job, std::int64_t& net) {
  std::int32_t best = -1;
  std::int64_t most = 0;
  for (std::int32_t k = c.option_begin[job], end = c.option_begin[job + 1]; k < end; ++k) {
    const std::int64_t r = c.value[k] - price[c.type[k]] * c.gpus[k];
    if (r < most || (r == most && (best < 0 || c.gpus[k] >= c.gpus[best]))) continue;
    best = k;
    most = r;
  }
  net = most;
  return best;
}

/// Computes `used` and `bound` of a point from its prices, in every thread's view.
/// @param option  [n_jobs] Out: what each job takes.
template <class Group>
BERTH_HD void evaluate_prices(Group& group, const PriceView& c, PricePoint& at, std::int32_t* option) {
  group.sync();
  std::int64_t price[kMaxPriceTypes];
  std::int64_t used[kMaxPriceTypes];
  std::int64_t bound = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    price[t] = at.price[t];
    used[t] = 0;
  }
  for (std::int32_t j = group.rank(); j < c.n_jobs; j += group.size()) {
    std::int64_t net = 0;
    const std::int32_t k = best_option(c, price, j, net);
    option[j] = k;
    if (k < 0) continue;
    used[c.type[k]] += c.gpus[k];
    bound += net;
  }
  Wide total = group.sum(bound);
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    const std::int64_t all = group.sum(used[t]);
    total += Wide{price[t]} * c.capacity[t];
    if (group.rank() == 0) at.used[t] = all;
  }
  if (group.rank() == 0) at.bound = saturate(total);
  group.sync();
}

}  // namespace berth::kernel
