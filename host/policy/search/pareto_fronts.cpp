#include "host/policy/search/pareto_fronts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"

namespace berth::policy {

std::span<const std::int32_t> ParetoFronts::survivors(std::span<const TwoObjectives> all, std::int32_t most) {
  order_.resize(all.size());
  std::iota(order_.begin(), order_.end(), 0);
  best_ = order_;
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(all[to_index(a)].first, all[to_index(a)].second, a) < std::tuple(all[to_index(b)].first, all[to_index(b)].second, b);
  });
  set_ranks(all);
  set_crowding(all);
  std::sort(best_.begin(), best_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(rank_[to_index(a)], crowding_[to_index(b)], a) < std::tuple(rank_[to_index(b)], crowding_[to_index(a)], b);
  });
  if (best_.size() > to_index(most)) best_.resize(to_index(most));
  return best_;
}

// In this order no individual is dominated by a later one. The last one in a front has its smallest second objective, so only it is
// compared.
void ParetoFronts::set_ranks(std::span<const TwoObjectives> all) {
  rank_.assign(all.size(), 0);
  last_.clear();
  for (const std::int32_t i : order_) {
    const TwoObjectives& here = all[to_index(i)];
    const auto free = std::find_if(last_.begin(), last_.end(), [&](std::int32_t other) {
      const TwoObjectives& there = all[to_index(other)];
      return here.second < there.second || (here.second == there.second && here.first == there.first);
    });
    rank_[to_index(i)] = static_cast<std::int32_t>(free - last_.begin());
    if (free == last_.end()) {
      last_.push_back(i);
    } else {
      *free = i;
    }
  }
}

void ParetoFronts::set_crowding(std::span<const TwoObjectives> all) {
  crowding_.assign(all.size(), std::numeric_limits<double>::infinity());
  for (std::int32_t rank = 0; to_index(rank) < last_.size(); ++rank) {
    front_.clear();
    for (const std::int32_t i : order_) {
      if (rank_[to_index(i)] == rank) front_.push_back(i);
    }
    const TwoObjectives& low = all[to_index(front_.front())];
    const TwoObjectives& high = all[to_index(front_.back())];
    const double across = high.first - low.first, down = low.second - high.second;
    for (std::size_t k = 1; k + 1 < front_.size(); ++k) {
      const TwoObjectives& before = all[to_index(front_[k - 1])];
      const TwoObjectives& after = all[to_index(front_[k + 1])];
      crowding_[to_index(front_[k])] =
          (across > 0 ? (after.first - before.first) / across : 0.0) + (down > 0 ? (before.second - after.second) / down : 0.0);
    }
  }
}

}  // namespace berth::policy
