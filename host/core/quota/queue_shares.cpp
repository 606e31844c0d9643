#include "host/core/quota/queue_shares.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

namespace {

std::int64_t wants(const ShareRequest& one) { return one.most - one.gets; }

// a / b for a >= 0, b > 0 and quotients of 63 bits. A division of 128 bits takes ten times as long.
std::int64_t whole_part(Wide a, Wide b) {
  const double near = static_cast<double>(a) / static_cast<double>(b);
  if (near >= 0x1p50) return static_cast<std::int64_t>(a / b);
  auto n = static_cast<std::int64_t>(near);
  while (n * b > a) --n;
  while ((n + 1) * b <= a) ++n;
  return n;
}

// What is left for takers, and the sum of their weights.
struct ShareRest {
  Wide left = 0, weights = 0;
};

// The level of a taker is what it wants over its weight. Puts those first whose level is not above what the rest has for each weight
// once all of a lower level are satisfied. @returns how many; `rest` is without them. Quickselect: O(n) on average
std::size_t satisfy(std::span<const ShareRequest> takers, std::vector<std::size_t>& order, ShareRest& rest) {
  std::size_t first = 0, last = order.size();
  std::uint64_t random = 1;
  while (first < last) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const ShareRequest pivot = takers[order[first + static_cast<std::size_t>((random >> 33) % (last - first))]];
    const auto level = [&](std::size_t i) { return Wide{wants(takers[i])} * pivot.weight; };     // of taker i, to compare with
    const auto of_pivot = [&](std::size_t i) { return Wide{wants(pivot)} * takers[i].weight; };  // that of the pivot
    const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto is_up_to = [&](std::size_t i) { return level(i) <= of_pivot(i); };
    const auto is_below = [&](std::size_t i) { return level(i) < of_pivot(i); };
    const auto upper = std::partition(at(first), at(last), is_up_to);
    ShareRest then = rest;
    for (auto i = at(first); i != upper; ++i) {
      then.left -= wants(takers[*i]);
      then.weights -= takers[*i].weight;
    }
    if (then.left >= 0 && wants(pivot) * then.weights <= then.left * pivot.weight) {
      rest = then;
      first = static_cast<std::size_t>(upper - order.begin());
    } else {
      last = static_cast<std::size_t>(std::partition(at(first), upper, is_below) - order.begin());
    }
  }
  return first;
}

}  // namespace

std::int64_t divide_share(std::int64_t amount, std::int64_t unit, std::span<ShareRequest> takers, ShareMemory& memory) {
  std::int64_t left = std::max<std::int64_t>(0, amount);
  for (ShareRequest& one : takers) {
    one.gets = std::clamp<std::int64_t>(std::min(one.kept, one.most), 0, left);
    left -= one.gets;
  }
  for (ShareRequest& one : takers) {
    const std::int64_t more = std::clamp<std::int64_t>(std::min(one.first, one.most) - one.gets, 0, left);
    one.gets += more;
    left -= more;
  }
  if (left == 0) return 0;
  std::vector<std::size_t>& order = memory.order;
  order.clear();
  ShareRest rest{left, 0};
  Wide wanted = 0;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    const ShareRequest& one = takers[i];
    if (wants(one) <= 0 || one.weight <= 0) continue;
    order.push_back(i);
    rest.weights += one.weight;
    wanted += wants(one);
  }
  if (wanted <= left) {
    for (const std::size_t i : order) takers[i].gets = takers[i].most;
    return left - static_cast<std::int64_t>(wanted);
  }
  const std::size_t satisfied = satisfy(takers, order, rest);
  for (std::size_t i = 0; i < satisfied; ++i) takers[order[i]].gets = takers[order[i]].most;
  left = static_cast<std::int64_t>(rest.left);
  // The others are offered the same for each weight.
  std::vector<ShareMemory::Remainder>& remainders = memory.remainders;
  remainders.clear();
  for (std::size_t i = satisfied; i < order.size(); ++i) {
    ShareRequest& one = takers[order[i]];
    const Wide offer = rest.left * one.weight;
    const std::int64_t whole = whole_part(offer, rest.weights * unit) * unit;
    one.gets += whole;
    left -= whole;
    remainders.push_back({offer - whole * rest.weights, order[i]});
  }
  const auto by_parts = [](const ShareMemory::Remainder& a, const ShareMemory::Remainder& b) {
    return a.parts != b.parts ? a.parts > b.parts : a.taker < b.taker;
  };
  // Where each of the first takes a whole unit, their order does not matter.
  const auto units = std::min<std::int64_t>(left / unit, std::ssize(remainders));
  std::nth_element(remainders.begin(), remainders.begin() + units, remainders.end(), by_parts);
  const bool even = left % unit == 0 && std::all_of(remainders.begin(), remainders.begin() + units,
                                                    [&](const ShareMemory::Remainder& one) { return wants(takers[one.taker]) >= unit; });
  if (!even) std::sort(remainders.begin(), remainders.end(), by_parts);
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
void QueueShares::read_queues(const StateImpl& s) {
  const auto n = static_cast<std::int32_t>(s.queues.size());
  columns_ = static_cast<std::int32_t>(s.gpu_types.size()) + 1;
  const std::size_t cells = to_index(n) * to_index(columns_);
  guarantee_.assign(cells, 0);
  stated_.assign(cells, 0);
  counts_.assign(to_index(columns_), 0);
  counts_.back() = 1;
  states_all_.assign(to_index(n), 0);
  child_begin_.assign(to_index(n) + 1, 0);
  for (std::int32_t q = 0; q < n; ++q) {
    const std::int32_t parent = s.queue_parent[to_index(q)];
    if (parent >= 0) ++child_begin_[to_index(parent) + 1];
    for (const Quota& quota : s.queues[to_index(q)].quotas) {
      const std::int32_t column = quota.gpu_type == "*" ? columns_ - 1 : s.type_index.at(quota.gpu_type);
      counts_[to_index(column)] = 1;
      guarantee_[at(q, column)] = saturating_mul(quota.guarantee, kWholeGpu);
      stated_[at(q, column)] = quota.guarantee > 0 ? 1 : 0;
      if (is_all(column)) states_all_[to_index(q)] = stated_[at(q, column)];
    }
    for (std::int32_t c = 0; parent >= 0 && c < columns_; ++c) stated_[at(q, c)] |= stated_[at(parent, c)];
  }
  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  child_.resize(child_begin_.back());
  path_.assign(to_index(n), 0);  // children found so far
  for (std::int32_t q = 0; q < n; ++q) {
    const std::int32_t parent = s.queue_parent[to_index(q)];
    if (parent >= 0) child_[child_begin_[to_index(parent)] + to_index(path_[to_index(parent)]++)] = q;
  }
}

std::int64_t QueueShares::asked_by_own(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  return std::min(demand_[at(queue, column)], s.queue_cap[at(queue, column)]);
}

std::int64_t QueueShares::idle_above(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  if (idle_.empty()) return 0;
  const std::size_t i = at(queue, column);
  const std::int64_t below = kept_below_[i] > s.queue_cap[i] ? kept_below_[i] : idle_[i];
  return std::max(below, s.queue_kept[i] - asked_[i]);
}

std::int64_t QueueShares::claim(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  const std::size_t i = at(queue, column);
  return idle_.empty() ? 0 : std::min(asked_[i], std::max(s.queue_kept[i], kept_below_[i]) - idle_[i]);
}

// What is asked for of a queue.
std::int64_t QueueShares::within_limit(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  const std::size_t i = at(queue, column);
  const std::int64_t cap = s.queue_cap[i];
  if (idle_.empty() || cap == kernel::kNoLimit) return static_cast<std::int64_t>(std::min<Wide>(sum_[i], cap));
  // Where the queues below keep more than the limit nothing starts.
  return kept_below_[i] > cap ? 0 : static_cast<std::int64_t>(std::min<Wide>(sum_[i], cap - idle_[i]));
}

// Where a limit is above, a queue cannot use the part of its guarantee that queues below it keep idle.
std::int64_t QueueShares::usable_first(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  const std::int64_t stated = first(queue, column), idle = idle_above(s, queue, column);
  if (idle <= 0) return stated;
  for (std::int32_t up = s.queue_parent[to_index(queue)]; up >= 0; up = s.queue_parent[to_index(up)]) {
    if (s.queue_cap[at(up, column)] != kernel::kNoLimit) return std::max<std::int64_t>(0, stated - idle);
  }
  return stated;
}

// Of the guarantees alone: there is enough for each.
std::int64_t QueueShares::has_at_root(std::int32_t queue, std::int32_t column) const {
  return std::min(first(queue, column), asked_[at(queue, column)]);
}

std::int64_t QueueShares::first_of_all(std::int32_t queue) const {
  if (states_all_[to_index(queue)] != 0) return guarantee_[at(queue, columns_ - 1)];
  std::int64_t of_types = 0;
  for (std::int32_t t = 0; !is_all(t); ++t) {
    if (counts_[to_index(t)] != 0) of_types = saturating_add(of_types, std::min(guarantee_[at(queue, t)], asked_[at(queue, t)]));
  }
  return std::max(of_types, first_below_[to_index(queue)]);
}

void QueueShares::sum_up(const StateImpl& s, std::span<const std::int64_t> demand) {
  demand_.assign(demand.begin(), demand.end());
  asked_.resize(demand_.size());
  sum_.assign(demand_.size(), 0);
  of_children_.assign(demand_.size(), 0);
  first_.assign(s.queues.size(), 0);
  first_below_.assign(s.queues.size(), 0);
  idle_.assign(s.queue_kept.size(), 0);
  kept_below_.assign(s.queue_kept.size(), 0);
  for (auto q = static_cast<std::int32_t>(s.queues.size()) - 1; q >= 0; --q) {
    const std::int32_t parent = s.queue_parent[to_index(q)];
    std::int64_t of_types = 0;
    for (std::int32_t c = 0; c < columns_; ++c) {
      if (counts_[to_index(c)] == 0) continue;
      guarantee_[at(q, c)] = std::max(guarantee_[at(q, c)], of_children_[at(q, c)]);
      if (is_all(c) && states_all_[to_index(q)] == 0) guarantee_[at(q, c)] = std::max(guarantee_[at(q, c)], of_types);
      of_types = saturating_add(of_types, guarantee_[at(q, c)]);
      sum_[at(q, c)] += asked_by_own(s, q, c);
      asked_[at(q, c)] = within_limit(s, q, c);
      if (is_all(c)) first_[to_index(q)] = first_of_all(q);
      if (parent < 0) continue;
      if (is_all(c)) first_below_[to_index(parent)] = saturating_add(first_below_[to_index(parent)], first_[to_index(q)]);
      of_children_[at(parent, c)] = saturating_add(of_children_[at(parent, c)], guarantee_[at(q, c)]);
      sum_[at(parent, c)] += asked_[at(q, c)];
      if (idle_.empty()) continue;
      idle_[at(parent, c)] += idle_above(s, q, c);
      kept_below_[at(parent, c)] += std::max(s.queue_kept[at(q, c)], kept_below_[at(q, c)]);
    }
  }
}

// The children of a queue, and last its own jobs. Of a queue without children there are none.
void QueueShares::list_takers(const StateImpl& s, std::int32_t from, std::int32_t column) {
  takers_.clear();
  first_ones_ = 0;
  const std::span<const std::int32_t> below = children(from);
  if (below.empty()) return;
  for (const std::int32_t child : below) {
    const std::int64_t asked = asked_[at(child, column)], before = usable_first(s, child, column), kept = claim(s, child, column);
    takers_.push_back({asked, s.queues[to_index(child)].weight_ppm, before, 0, kept});
    first_ones_ = saturating_add(first_ones_, std::min(asked, std::max(before, kept)));
  }
  takers_.push_back({own_part(s, from, column), s.queues[to_index(from)].weight_ppm, 0});
}

std::int64_t QueueShares::own_part(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  return std::min(asked_by_own(s, queue, column), gpus_[to_index(column)]);
}

void QueueShares::hand_down(const StateImpl& s, std::int32_t from, std::int32_t column, std::vector<std::int64_t>& has,
                            std::vector<std::int64_t>& out) {
  const std::int64_t amount = has[at(from, column)];
  if (takers_.empty()) {
    out[at(from, column)] = std::clamp<std::int64_t>(own_part(s, from, column), 0, std::max<std::int64_t>(0, amount));
    return;
  }
  divide_share(std::min(amount, std::max(first_ones_, gpus_[to_index(column)])), kWholeGpu, takers_, memory_);
  const std::span<const std::int32_t> below = children(from);
  for (std::size_t i = 0; i < below.size(); ++i) has[at(below[i], column)] = takers_[i].gets;
  out[at(from, column)] = takers_.back().gets;
}

void QueueShares::count_gpus(const StateImpl& s) {
  gpus_.assign(to_index(columns_), 0);
  for (std::int32_t node = 0; node < std::ssize(s.nodes); ++node) {
    const std::int64_t works = std::int64_t{std::popcount(s.working_gpus(node))} * kWholeGpu;
    if (s.node.type[to_index(node)] >= 0) gpus_[to_index(s.node.type[to_index(node)])] += works;
    gpus_.back() += works;
  }
}

void QueueShares::divide_fair(const StateImpl& s) {
  fair_.assign(demand_.size(), 0);
  has_fair_.assign(demand_.size(), 0);
  for (std::int32_t c = 0; c < columns_; ++c) {
    if (counts_[to_index(c)] == 0) continue;
    path_.clear();
    takers_.clear();
    for (std::int32_t q = 0; q < std::ssize(s.queues); ++q) {
      if (s.queue_parent[to_index(q)] >= 0) continue;
      path_.push_back(q);
      takers_.push_back({asked_[at(q, c)], s.queues[to_index(q)].weight_ppm, first(q, c)});
    }
    divide_share(gpus_[to_index(c)], kWholeGpu, takers_, memory_);
    for (std::size_t i = 0; i < path_.size(); ++i) has_fair_[at(path_[i], c)] = takers_[i].gets;
  }
}

void QueueShares::set(const StateImpl& s, std::span<const std::int64_t> demand, bool fair) {
  read_queues(s);
  sum_up(s, demand);
  count_gpus(s);
  guaranteed_.assign(demand_.size(), 0);
  has_.assign(demand_.size(), 0);
  if (fair) divide_fair(s);
  for (std::int32_t q = 0; q < std::ssize(s.queues); ++q) {
    for (std::int32_t c = 0; c < columns_; ++c) {
      if (counts_[to_index(c)] == 0) continue;
      if (s.queue_parent[to_index(q)] < 0) has_[at(q, c)] = has_at_root(q, c);
      list_takers(s, q, c);
      hand_down(s, q, c, has_, guaranteed_);
      if (fair) hand_down(s, q, c, has_fair_, fair_);
    }
  }
}

// What is asked for of a type counts in guarantees over all types.
void QueueShares::change(const StateImpl& s, std::int32_t queue, std::int32_t column, std::int64_t more) {
  if (counts_[to_index(column)] == 0) return;
  const std::size_t levels = change_one(s, queue, column, more, 0);
  if (!is_all(column)) change_one(s, queue, columns_ - 1, 0, levels);
}

// What a queue asks for, and keeps idle, changes up to the first whose limit hides it. From there what it has is handed down again, as far
// as it changes.
std::size_t QueueShares::change_one(const StateImpl& s, std::int32_t queue, std::int32_t column, std::int64_t more, std::size_t levels) {
  const std::int64_t before = asked_by_own(s, queue, column);
  demand_[at(queue, column)] += more;
  std::int64_t change = asked_by_own(s, queue, column) - before, less_idle = 0;
  std::int64_t more_first = 0;  // of a child
  path_.clear();
  std::int32_t top = queue;
  for (;; top = s.queue_parent[to_index(top)]) {
    path_.push_back(top);
    const std::int64_t idle = idle_above(s, top, column), claimed = claim(s, top, column);
    sum_[at(top, column)] += change;
    if (!idle_.empty()) idle_[at(top, column)] -= less_idle;
    const std::int64_t asked = within_limit(s, top, column);
    change = asked - std::exchange(asked_[at(top, column)], asked);
    less_idle = idle - idle_above(s, top, column);
    if (is_all(column)) {
      first_below_[to_index(top)] += more_first;
      const std::int64_t now = first_of_all(top);
      more_first = now - std::exchange(first_[to_index(top)], now);
    }
    const bool same = change == 0 && less_idle == 0 && more_first == 0 && claimed == claim(s, top, column);
    if ((same && path_.size() >= levels) || s.queue_parent[to_index(top)] < 0) break;
  }
  if (s.queue_parent[to_index(top)] < 0) has_[at(top, column)] = has_at_root(top, column);
  changed_.assign(1, top);
  while (!changed_.empty()) {
    const std::int32_t from = changed_.back();
    changed_.pop_back();
    const std::span<const std::int32_t> below = children(from);
    before_.clear();
    for (const std::int32_t child : below) before_.push_back(has_[at(child, column)]);
    list_takers(s, from, column);
    hand_down(s, from, column, has_, guaranteed_);
    for (std::size_t i = 0; i < below.size(); ++i) {
      const bool is_above = std::find(path_.begin(), path_.end(), below[i]) != path_.end();
      if (is_above || has_[at(below[i], column)] != before_[i]) changed_.push_back(below[i]);
    }
  }
  return path_.size();
}

}  // namespace berth::core
