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

// Jobs between two changes move together, by as many as came before them less those that left. So jobs behind the last change stay
// where as many came as left.
void VictimOrder::end_changes(Part& part) {
  std::vector<OrderPlace>& order = part.order;
  std::vector<OrderPlace>& gone = part.gone;
  std::vector<OrderPlace>& fresh = part.fresh;
  if (gone.empty() && fresh.empty()) return;
  std::sort(gone.begin(), gone.end());
  std::sort(fresh.begin(), fresh.end());
  runs_.clear();
  std::ptrdiff_t from = 0, by = 0;
  const auto end_run = [&](std::ptrdiff_t to) {
    if (from < to && by != 0) runs_.push_back({from, to, by});
  };
  const auto index_of = [&](const OrderPlace& place) { return std::lower_bound(order.begin() + from, order.end(), place) - order.begin(); };
  to_.clear();
  auto left = gone.cbegin();
  for (auto next = fresh.cbegin(); left != gone.cend() || next != fresh.cend();) {
    if (left == gone.cend() || (next != fresh.cend() && *next < *left)) {
      const std::ptrdiff_t at = index_of(*next++);
      end_run(at);
      from = at;
      to_.push_back(at + by++);
    } else {
      const std::ptrdiff_t at = index_of(*left++);
      end_run(at);
      from = at + 1;
      --by;
    }
  }
  const std::ptrdiff_t old = std::ssize(order);
  end_run(old);
  order.resize(to_index(std::max(old, old + by)));
  for (const Run& run : runs_) {
    if (run.by < 0) std::move(order.begin() + run.from, order.begin() + run.to, order.begin() + run.from + run.by);
  }
  for (auto run = runs_.crbegin(); run != runs_.crend(); ++run) {
    if (run->by > 0) std::move_backward(order.begin() + run->from, order.begin() + run->to, order.begin() + run->to + run->by);
  }
  order.resize(to_index(old + by));
  for (std::size_t i = 0; i < to_.size(); ++i) order[to_index(to_[i])] = fresh[i];
  gone.clear();
  fresh.clear();
  part.exact = 0;
}

// A current key is at most the stored one. So a job that is last by its current key is last.
void VictimOrder::settle(Part& part, KeySource& keys) {
  if (part.moves_left == 0) return settle_all(part, keys);
  std::vector<OrderPlace>& order = part.order;
  const std::size_t at = order.size() - 1 - part.exact;
  OrderPlace one = order[at];
  one.key = keys.key_of(one.job);
  place_of_[to_index(one.job)] = one;
  std::size_t to = at, step = 1;  // it mostly moves a few places
  for (; step <= to && one < order[to - step]; step *= 2) to -= step;
  const auto in = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  to = to_index(std::upper_bound(in(to - std::min(step, to)), in(to), one) - order.begin());
  std::move_backward(in(to), in(at), in(at + 1));
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
