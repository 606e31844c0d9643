#include "host/core/kept/victim_order.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {

void VictimOrder::add(const OrderPlace& place, std::size_t part) {
  if (parts_.size() <= part) parts_.resize(part + 1);
  if (place_of_.size() <= to_index(place.job)) {
    place_of_.resize(to_index(place.job) + 1);
    part_of_.resize(to_index(place.job) + 1);
  }
  place_of_[to_index(place.job)] = place;
  part_of_[to_index(place.job)] = static_cast<std::uint32_t>(part);
  parts_[part].fresh.push_back(place);
  ++size_;
}

void VictimOrder::remove(std::int32_t job) {
  if (!has(job)) return;
  parts_[part_of_[to_index(job)]].gone.push_back(place_of_[to_index(job)]);
  place_of_[to_index(job)].job = -1;
  --size_;
}

void VictimOrder::begin() {
  for (Part& part : parts_) {
    part.exact = 0;
    part.moves_left = kMovesPerJob * part.order.size();
  }
}

void VictimOrder::end_changes() {
  for (Part& part : parts_) end_changes(part);
}

// Moving the jobs behind each change for itself would take time that is quadratic where most jobs change at one instant.
void VictimOrder::end_changes(Part& part) {
  auto& [order, gone, fresh, exact, moves_left] = part;
  std::sort(gone.begin(), gone.end());
  std::sort(fresh.begin(), fresh.end());
  if (!gone.empty()) {
    auto to = std::lower_bound(order.begin(), order.end(), gone.front());
    auto next = gone.cbegin();
    for (auto from = to; from != order.end(); ++from) {
      if (next != gone.cend() && from->job == next->job) {
        ++next;
      } else {
        *to++ = *from;
      }
    }
    order.erase(to, order.end());
  }
  auto old = static_cast<std::ptrdiff_t>(order.size());
  order.resize(order.size() + fresh.size());
  for (auto left = std::ssize(fresh); left > 0;) {
    const bool is_old = old > 0 && fresh[to_index(left - 1)] < order[to_index(old - 1)];
    order[to_index(old + left - 1)] = is_old ? order[to_index(old - 1)] : fresh[to_index(left - 1)];
    --(is_old ? old : left);
  }
  gone.clear();
  fresh.clear();
  exact = 0;
}

// A current key is at most the stored one. So a job that is last by its current key is last.
void VictimOrder::settle(Part& part, KeySource& keys) {
  if (part.moves_left == 0) return settle_all(part, keys);
  std::vector<OrderPlace>& order = part.order;
  const std::size_t at = order.size() - 1 - part.exact;
  OrderPlace one = order[at];
  one.key = keys.key_of(one.job);
  place_of_[to_index(one.job)] = one;
  std::size_t to = at;
  for (; to > 0 && one < order[to - 1]; --to) order[to] = order[to - 1];
  order[to] = one;
  if (to == at) ++part.exact;
  part.moves_left -= std::min(part.moves_left, at - to);
}

void VictimOrder::settle_all(Part& part, KeySource& keys) {
  for (OrderPlace& one : part.order) {
    one.key = keys.key_of(one.job);
    place_of_[to_index(one.job)] = one;
  }
  std::sort(part.order.begin(), part.order.end());
  part.exact = part.order.size();
}

}  // namespace berth::core
