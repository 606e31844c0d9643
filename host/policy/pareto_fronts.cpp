#include "host/policy/pareto_fronts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "host/core/at.hpp"

namespace berth::policy {

std::span<const std::int32_t> ParetoFronts::survivors(std::span<const TwoObjectives> all, std::int32_t most) {
  order_.resize(all.size());
  std::iota(order_.begin(), order_.end(), 0);
  best_ = order_;
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(all[at(a)].first, all[at(a)].second, a) < std::tuple(all[at(b)].first, all[at(b)].second, b);
  });
  set_ranks(all);
  set_crowding(all);
  std::sort(best_.begin(), best_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(rank_[at(a)], crowding_[at(b)], a) < std::tuple(rank_[at(b)], crowding_[at(a)], b);
  });
  if (best_.size() > at(most)) best_.resize(at(most));
  return best_;
}

// In this order nobody is beaten by who comes later, and the last one in a front has its least second objective: it alone is to be asked.
void ParetoFronts::set_ranks(std::span<const TwoObjectives> all) {
  rank_.assign(all.size(), 0);
  last_.clear();
  for (const std::int32_t i : order_) {
    const TwoObjectives& here = all[at(i)];
    const auto free = std::find_if(last_.begin(), last_.end(), [&](std::int32_t other) {
      const TwoObjectives& there = all[at(other)];
      return here.second < there.second || (here.second == there.second && here.first == there.first);
    });
    rank_[at(i)] = static_cast<std::int32_t>(free - last_.begin());
    if (free == last_.end()) {
      last_.push_back(i);
    } else {
      *free = i;
    }
  }
}

void ParetoFronts::set_crowding(std::span<const TwoObjectives> all) {
  crowding_.assign(all.size(), std::numeric_limits<double>::infinity());
  for (std::int32_t rank = 0; at(rank) < last_.size(); ++rank) {
    front_.clear();
    for (const std::int32_t i : order_) {
      if (rank_[at(i)] == rank) front_.push_back(i);
    }
    const TwoObjectives& low = all[at(front_.front())];
    const TwoObjectives& high = all[at(front_.back())];
    const double across = high.first - low.first, down = low.second - high.second;
    for (std::size_t k = 1; k + 1 < front_.size(); ++k) {
      const TwoObjectives& before = all[at(front_[k - 1])];
      const TwoObjectives& after = all[at(front_[k + 1])];
      crowding_[at(front_[k])] =
          (across > 0 ? (after.first - before.first) / across : 0.0) + (down > 0 ? (before.second - after.second) / down : 0.0);
    }
  }
}

}  // namespace berth::policy
