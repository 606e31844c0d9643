#include "host/core/kept/victim_order.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {

void VictimOrder::add(const OrderPlace& place) {
  if (place_of_.size() <= to_index(place.job)) place_of_.resize(to_index(place.job) + 1);
  place_of_[to_index(place.job)] = place;
  order_.insert(filling_ ? order_.end() : std::upper_bound(order_.begin(), order_.end(), place), place);
  exact_ = 0;
}

void VictimOrder::end_filling() {
  std::sort(order_.begin(), order_.end());
  filling_ = false;
}

void VictimOrder::remove(std::int32_t job) {
  if (to_index(job) >= place_of_.size() || place_of_[to_index(job)].job < 0) return;
  order_.erase(std::lower_bound(order_.begin(), order_.end(), place_of_[to_index(job)]));
  place_of_[to_index(job)].job = -1;
  exact_ = 0;
}

// A current key is at most the stored one. So a job that is last by its current key is last.
void VictimOrder::settle(std::size_t at, KeySource& keys) {
  OrderPlace one = order_[at];
  one.key = keys.key_of(one.job);
  place_of_[to_index(one.job)] = one;
  std::size_t to = at;
  for (; to > 0 && one < order_[to - 1]; --to) order_[to] = order_[to - 1];
  order_[to] = one;
  if (to == at) ++exact_;
}

}  // namespace berth::core
