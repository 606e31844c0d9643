#pragma once

#include <cassert>
#include <type_traits>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/never_stop.hpp"
#include "berth/kernel/price/bundle.hpp"
#include "berth/kernel/price/displace.hpp"
#include "berth/kernel/price/evaluate.hpp"
#include "berth/kernel/price/exchange.hpp"

/// Shapes by prices: docs/prices.md. Threads share the evaluations; one thread does the work between them.
namespace berth::kernel {

/// The evaluations of a search, counted and limited. The best one is the centre.
template <class Group, class StopToken>
struct PriceSearch {
  Group& group;
  const PriceView& c;
  const PriceRequest& request;
  const PriceWorkspace& ws;
  StopToken& stop_token;
  std::int64_t top = 0;          // no job pays this much for a GPU
  std::int32_t evaluations = 0;  // the same in all threads
  bool ended = false;            // no further evaluation is allowed
  bool at_centre = false;        // options are the choice at the centre's prices

  /// Evaluates the prices of the trial, which thread 0 has set.
  BERTH_HD void evaluate() {
    group.sync();
    if (group.rank() == 0) ws.shared[0] = evaluations > 0 && (evaluations >= request.most_evaluations || stop_token.stop()) ? 1 : 0;
    group.sync();
    ended = ws.shared[0] != 0;
    if (ended) return;
    ++evaluations;
    at_centre = false;
    evaluate_prices(group, c, *ws.trial, ws.option);
  }

  /// The trial becomes the centre if thread 0 decides so.
  BERTH_HD void settle(bool better) {
    group.sync();
    if (group.rank() == 0) {
      ws.shared[0] = better ? 1 : 0;
      if (better) *ws.centre = *ws.trial;
    }
    group.sync();
    at_centre = ws.shared[0] != 0;
  }

  /// The trial becomes the centre when it is better, or is the first.
  BERTH_HD void keep() { settle(!ended && (evaluations == 1 || ws.trial->bound < ws.centre->bound)); }

  /// Sets the options to the choice at the centre.
  BERTH_HD void take_centre() {
    if (!at_centre) evaluate_prices(group, c, *ws.centre, ws.option);
  }

  BERTH_HD std::int64_t used() const {
    std::int64_t all = 0;
    for (std::int32_t t = 0; t < c.n_types; ++t) all += ws.trial->used[t];
    return all;
  }
};

/// 1 + the maximum that any option pays for a GPU; 0: no option has a positive value.
template <class Group>
BERTH_HD std::int64_t top_price(Group& group, const PriceView& c) {
  std::int64_t most = -1;
  for (std::int32_t k = c.option_begin[0] + group.rank(); k < c.option_begin[c.n_jobs]; k += group.size()) {
    if (c.value[k] > 0 && c.value[k] >= (most + 1) * c.gpus[k]) most = c.value[k] / c.gpus[k];  // most options need no division
  }
  const Key least = group.min(Key{static_cast<std::uint64_t>(INT64_MAX - 1 - most), 0});
  return INT64_MAX - static_cast<std::int64_t>(least.hi);
}

/// Whether top_price() is at least a limit. The first options usually decide this.
template <class Group>
BERTH_HD bool some_job_pays(Group& group, const PriceView& c, std::int64_t price) {
  bool found = price <= 0;
  for (std::int32_t k = c.option_begin[0] + group.rank(); !found && price <= kMaxPriceValue && k < c.option_begin[c.n_jobs];
       k += group.size()) {
    found = c.value[k] > 0 && saturating_mul(price - 1, c.gpus[k]) <= c.value[k];
  }
  return group.min(Key{found ? 0U : 1U, 0}).hi == 0;
}

/// Tries the same price for all types, or a price for each. @returns false when no further evaluation is allowed.
template <class Group, class StopToken>
BERTH_HD bool try_prices(PriceSearch<Group, StopToken>& search, const std::int64_t* prices, std::int64_t all) {
  search.group.sync();
  for (std::int32_t t = 0; search.group.rank() == 0 && t < search.c.n_types; ++t) {
    search.ws.trial->price[t] = prices != nullptr ? within(prices[t], 0, search.top) : all;
  }
  search.evaluate();
  search.keep();
  return !search.ended;
}

/// Section 3, starting from prices 0. @returns whether a search follows.
template <class Group, class StopToken>
BERTH_HD bool first_prices(PriceSearch<Group, StopToken>& search) {
  const PriceView& c = search.c;
  const PriceWorkspace& ws = search.ws;
  if (!try_prices(search, nullptr, 0)) return false;
  bool fits = true;
  std::int64_t capacity = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    fits = fits && ws.trial->used[t] <= c.capacity[t];
    capacity += c.capacity[t];
  }
  if (fits) {
    search.settle(true);
    return false;
  }
  if (search.request.prices != nullptr) return true;
  std::int64_t lo = 0, hi = search.top;
  for (std::int32_t i = 0; i < 24; ++i) {
    const std::int64_t m = lo == 0 ? hi / 8 : (lo + hi) / 2;
    if (m == lo) break;
    if (!try_prices(search, nullptr, m)) return false;
    const std::int64_t beyond = search.used() - capacity;
    if (10 * (beyond < 0 ? -beyond : beyond) <= capacity) break;
    (beyond > 0 ? lo : hi) = m;
  }
  return true;
}

/// Section 4.
template <class Group, class StopToken>
BERTH_HD void search_prices(PriceSearch<Group, StopToken>& search) {
  const PriceView& c = search.c;
  const PriceWorkspace& ws = search.ws;
  const bool leads = search.group.rank() == 0;
  const auto enough = static_cast<std::int64_t>(Wide{kPriceUnit} * search.request.gap_ppm / 1'000'000 / 4);
  search.group.sync();
  if (leads) begin_bundle(c, *ws.centre, search.top, search.request.prices != nullptr, *ws.bundle);
  for (;;) {
    if (leads) {
      set_weights(c, *ws.centre, *ws.bundle);
      for (; ws.bundle->hope <= enough && ws.bundle->step < kLongStep; set_weights(c, *ws.centre, *ws.bundle)) ws.bundle->step *= 4;
      ws.shared[1] = ws.bundle->hope <= enough || !next_prices(c, *ws.centre, *ws.bundle, search.top, *ws.trial) ? 1 : 0;
    }
    search.group.sync();
    if (ws.shared[1] != 0) return;
    search.evaluate();
    if (search.ended) return;
    search.settle(leads && learn(c, *ws.centre, *ws.trial, *ws.bundle));
  }
}

/// Whether the gap of the choice is as small as requested.
BERTH_HD inline bool within_gap(const PriceRequest& request, std::int64_t bound, std::int64_t value) {
  return Wide{bound - value} * 1'000'000 <= Wide{request.gap_ppm} * bound;
}

/// Sections 5.1 and 5.2, from the choice at the centre. One thread runs it.
BERTH_HD inline Moves repair_choice(const PriceView& c, const PriceWorkspace& ws, const PriceResult& result) {
  const PricePoint& centre = *ws.centre;
  Moves m{c, centre.price, result.used, ws.option, 0};
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    result.price[t] = centre.price[t];
    result.used[t] = centre.used[t];
  }
  for (std::int32_t j = 0; j < c.n_jobs; ++j) m.value += m.value_of(ws.option[j]);
  repair(m, ws.heap);
  fill(m, ws.heap);
  for (std::int32_t t = 0; t < c.n_types; ++t) assert(m.room(t) >= 0);
  return m;
}

/// Sections 5.3 and 5.4. One thread runs it.
BERTH_HD inline void exchange_all(Moves& m, const PriceRequest& request, const PriceWorkspace& ws, bool cut_short) {
  const std::int32_t passes = cut_short ? 1 : 64;
  bool exchanged = false;
  for (std::int32_t pass = 0; pass < passes; ++pass) {
    if (within_gap(request, ws.centre->bound, m.value) || !exchange(m, ws.give)) break;
    exchanged = true;
  }
  if (exchanged) fill(m, ws.heap);
  for (std::int32_t pass = 0; pass < passes; ++pass) {
    if (within_gap(request, ws.centre->bound, m.value) || !displace(m, ws.heap, ws.place)) break;
    fill(m, ws.heap);
  }
}

/// Runs the search of docs/prices.md.
template <class Group, class StopToken = NeverStop>
BERTH_HD void price(Group& group, const PriceView& c, const PriceRequest& request, const PriceWorkspace& ws, const PriceResult& result,
                    StopToken&& stop_token = StopToken{}) {
  PriceSearch<Group, std::remove_reference_t<StopToken>> search{group, c, request, ws, stop_token};
  const bool leads = group.rank() == 0;
  bool good = false;
  std::int64_t dearest = 0;
  for (std::int32_t t = 0; request.prices != nullptr && t < c.n_types; ++t)
    dearest = request.prices[t] > dearest ? request.prices[t] : dearest;
  const bool paid = request.prices != nullptr && some_job_pays(group, c, dearest);
  search.top = paid ? dearest : top_price(group, c);
  if (request.prices != nullptr) {
    try_prices(search, request.prices, 0);
    if (leads) {
      *result.value = repair_choice(c, ws, result).value;
      ws.shared[1] = within_gap(request, ws.centre->bound, *result.value) ? 1 : 0;
    }
    search.at_centre = false;  // options now hold the repaired choice
    group.sync();
    good = ws.shared[1] != 0;
  }
  if (!good) {
    if (paid) search.top = top_price(group, c);
    if (first_prices(search)) search_prices(search);
    if (!request.bound_only) search.take_centre();
    if (leads && !request.bound_only) {
      Moves m = repair_choice(c, ws, result);
      exchange_all(m, request, ws, search.ended);
      *result.value = m.value;
    }
  }
  if (leads) {
    for (std::int32_t j = 0; j < c.n_jobs; ++j) {
      result.option[j] = request.bound_only || ws.option[j] < 0 ? -1 : ws.option[j] - c.option_begin[j];
    }
    for (std::int32_t t = 0; request.bound_only && t < c.n_types; ++t) {
      result.price[t] = ws.centre->price[t];
      result.used[t] = 0;
    }
    if (request.bound_only) *result.value = 0;
    assert(request.bound_only || *result.value <= ws.centre->bound);
    *result.bound = ws.centre->bound;
    *result.evaluations = search.evaluations;
  }
  group.sync();
}

}  // namespace berth::kernel
