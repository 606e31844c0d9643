#include "host/core/quota/queue_shares.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

std::int64_t divide_share(std::int64_t amount, std::int64_t unit, std::span<ShareRequest> takers, ShareMemory& memory) {
  std::int64_t left = std::max<std::int64_t>(0, amount);
  for (ShareRequest& one : takers) {
    one.gets = std::clamp<std::int64_t>(std::min(one.first, one.most), 0, left);
    left -= one.gets;
  }
  const auto wants = [](const ShareRequest& one) { return one.most - one.gets; };
  std::vector<std::size_t>& order = memory.order;
  order.clear();
  Wide weights = 0;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    if (wants(takers[i]) <= 0 || takers[i].weight <= 0) continue;
    order.push_back(i);
    weights += takers[i].weight;
  }
  // Those first that are satisfied at the lowest level.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Wide level_a = Wide{wants(takers[a])} * takers[b].weight, level_b = Wide{wants(takers[b])} * takers[a].weight;
    return level_a != level_b ? level_a < level_b : a < b;
  });
  std::size_t at = 0;
  for (; at < order.size(); ++at) {
    ShareRequest& one = takers[order[at]];
    if (Wide{wants(one)} * weights > Wide{left} * one.weight) break;
    left -= wants(one);
    weights -= one.weight;
    one.gets = one.most;
  }
  // The others are offered the same for each weight.
  std::vector<ShareMemory::Remainder>& remainders = memory.remainders;
  remainders.clear();
  const std::int64_t rest = left;
  for (; at < order.size(); ++at) {
    ShareRequest& one = takers[order[at]];
    const Wide offer = Wide{rest} * one.weight;
    const auto whole = static_cast<std::int64_t>(offer / (weights * unit)) * unit;
    one.gets += whole;
    left -= whole;
    remainders.push_back({offer - whole * weights, order[at]});
  }
  std::sort(remainders.begin(), remainders.end(), [](const ShareMemory::Remainder& a, const ShareMemory::Remainder& b) {
    return a.parts != b.parts ? a.parts > b.parts : a.taker < b.taker;
  });
  for (const ShareMemory::Remainder& one : remainders) {
    const std::int64_t more = std::min({unit, left, wants(takers[one.taker])});
    takers[one.taker].gets += more;
    left -= more;
  }
  return left;
}

bool QueueShares::any_guarantee(const StateImpl& s) {
  return std::any_of(s.queues.begin(), s.queues.end(), [](const Queue& queue) {
    return std::any_of(queue.quotas.begin(), queue.quotas.end(), [](const Quota& quota) { return quota.guarantee > 0; });
  });
}

// Parents are before their children.
void QueueShares::sum_up(const StateImpl& s, std::span<const std::int64_t> demand) {
  const auto n = static_cast<std::int32_t>(s.queues.size());
  columns_ = static_cast<std::int32_t>(s.gpu_types.size()) + 1;
  const std::size_t cells = to_index(n) * to_index(columns_);
  own_.assign(demand.begin(), demand.end());
  asked_ = own_;
  guarantee_.assign(cells, 0);
  stated_.assign(cells, 0);
  children_.resize(to_index(n) + 1);
  for (std::vector<std::int32_t>& one : children_) one.clear();
  for (std::int32_t q = 0; q < n; ++q) {
    const std::int32_t parent = s.queue_parent[to_index(q)];
    children_[to_index(parent < 0 ? n : parent)].push_back(q);
    for (const Quota& quota : s.queues[to_index(q)].quotas) {
      const std::int32_t column = quota.gpu_type == "*" ? columns_ - 1 : s.type_index.at(quota.gpu_type);
      guarantee_[at(q, column)] = saturating_mul(quota.guarantee, kWholeGpu);
      stated_[at(q, column)] = quota.guarantee > 0 ? 1 : 0;
    }
    for (std::int32_t c = 0; parent >= 0 && c < columns_; ++c) stated_[at(q, c)] |= stated_[at(parent, c)];
  }
  of_children_.assign(cells, 0);
  for (std::int32_t q = n - 1; q >= 0; --q) {
    const std::int32_t parent = s.queue_parent[to_index(q)];
    for (std::int32_t c = 0; c < columns_; ++c) {
      guarantee_[at(q, c)] = std::max(guarantee_[at(q, c)], of_children_[at(q, c)]);
      asked_[at(q, c)] = std::min(asked_[at(q, c)], s.queue_cap[at(q, c)]);
      own_[at(q, c)] = std::min(own_[at(q, c)], s.queue_cap[at(q, c)]);
      if (parent < 0) continue;
      of_children_[at(parent, c)] = saturating_add(of_children_[at(parent, c)], guarantee_[at(q, c)]);
      asked_[at(parent, c)] = saturating_add(asked_[at(parent, c)], asked_[at(q, c)]);
    }
  }
}

// Hands `all` down, or with `beyond` false the guarantees alone.
void QueueShares::divide(const StateImpl& s, std::int32_t column, std::int64_t all, bool beyond, std::vector<std::int64_t>& out) {
  const auto n = static_cast<std::int32_t>(s.queues.size());
  has_.assign(to_index(n), 0);
  const auto hand_down = [&](std::int32_t from, std::int64_t amount) {
    const std::vector<std::int32_t>& children = children_[to_index(from < 0 ? n : from)];
    takers_.clear();
    for (const std::int32_t child : children) {
      const std::int64_t weight = from < 0 && !beyond ? 0 : s.queues[to_index(child)].weight_ppm;
      takers_.push_back({asked_[at(child, column)], weight, guarantee_[at(child, column)]});
    }
    if (from >= 0) {
      const std::int64_t own = own_[at(from, column)];
      takers_.push_back({own, s.queues[to_index(from)].weight_ppm, children.empty() ? own : 0});
    }
    divide_share(amount, kWholeGpu, takers_, memory_);
    for (std::size_t i = 0; i < children.size(); ++i) has_[to_index(children[i])] = takers_[i].gets;
    if (from >= 0) out[at(from, column)] = takers_.back().gets;
  };
  hand_down(-1, all);
  for (std::int32_t q = 0; q < n; ++q) hand_down(q, has_[to_index(q)]);
}

void QueueShares::set(const StateImpl& s, std::span<const std::int64_t> demand) {
  sum_up(s, demand);
  guaranteed_.assign(guarantee_.size(), 0);
  fair_.assign(guarantee_.size(), 0);
  gpus_.assign(to_index(columns_), 0);
  for (std::size_t node = 0; node < s.nodes.size(); ++node) {
    const std::int64_t works = std::int64_t{std::popcount(s.node.usable[node])} * kWholeGpu;
    if (s.node.type[node] >= 0) gpus_[to_index(s.node.type[node])] += works;
    gpus_.back() += works;
  }
  for (std::int32_t c = 0; c < columns_; ++c) {
    divide(s, c, INT64_MAX, false, guaranteed_);
    divide(s, c, gpus_[to_index(c)], true, fair_);
  }
}

}  // namespace berth::core
