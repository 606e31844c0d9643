#include "host/core/kept/victim_order.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {

void VictimOrder::add(const OrderPlace& place) {
  if (place_of_.size() <= to_index(place.job)) place_of_.resize(to_index(place.job) + 1);
  place_of_[to_index(place.job)] = place;
  fresh_.push_back(place);
}

void VictimOrder::remove(std::int32_t job) {
  if (!has(job)) return;
  gone_.push_back(place_of_[to_index(job)]);
  place_of_[to_index(job)].job = -1;
}

// Moving the jobs behind each change for itself would take time that is quadratic where most jobs change at one instant.
void VictimOrder::end_changes() {
  std::sort(gone_.begin(), gone_.end());
  std::sort(fresh_.begin(), fresh_.end());
  if (!gone_.empty()) {
    auto to = std::lower_bound(order_.begin(), order_.end(), gone_.front());
    auto next = gone_.cbegin();
    for (auto from = to; from != order_.end(); ++from) {
      if (next != gone_.cend() && from->job == next->job) {
        ++next;
      } else {
        *to++ = *from;
      }
    }
    order_.erase(to, order_.end());
  }
  auto old = static_cast<std::ptrdiff_t>(order_.size());
  order_.resize(order_.size() + fresh_.size());
  for (auto left = std::ssize(fresh_); left > 0;) {
    const bool is_old = old > 0 && fresh_[to_index(left - 1)] < order_[to_index(old - 1)];
    order_[to_index(old + left - 1)] = is_old ? order_[to_index(old - 1)] : fresh_[to_index(left - 1)];
    --(is_old ? old : left);
  }
  gone_.clear();
  fresh_.clear();
  exact_ = 0;
}

// A current key is at most the stored one. So a job that is last by its current key is last.
void VictimOrder::settle(std::size_t at, KeySource& keys) {
  if (moves_left_ == 0) return settle_all(keys);
  OrderPlace one = order_[at];
  one.key = keys.key_of(one.job);
  place_of_[to_index(one.job)] = one;
  std::size_t to = at;
  for (; to > 0 && one < order_[to - 1]; --to) order_[to] = order_[to - 1];
  order_[to] = one;
  if (to == at) ++exact_;
  moves_left_ -= std::min(moves_left_, at - to);
}

void VictimOrder::settle_all(KeySource& keys) {
  for (OrderPlace& one : order_) {
    one.key = keys.key_of(one.job);
    place_of_[to_index(one.job)] = one;
  }
  std::sort(order_.begin(), order_.end());
  exact_ = order_.size();
}

}  // namespace berth::core
