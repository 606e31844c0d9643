#include "host/sim/counts/packing_tree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {

void PackingTree::begin(const std::vector<std::int32_t>& free, const std::vector<std::vector<std::int32_t>>& domains) {
  free_.assign(free.size(), 0);
  const std::int32_t most = free.empty() ? 0 : *std::max_element(free.begin(), free.end());
  with_.assign(to_index(most), IndexSet(free.size()));
  many_.assign(to_index(most), 0);
  some_ = 0;
  levels_.clear();
  for (const std::vector<std::int32_t>& level : domains) add_level(level);
  add_level(std::vector<std::int32_t>(free.size(), 0));
  for (std::size_t n = 0; n < free.size(); ++n) change(static_cast<std::int32_t>(n), free[n]);
}

void PackingTree::add_level(const std::vector<std::int32_t>& domain) {
  Level level;
  level.of_node.resize(domain.size());
  for (std::size_t n = 0; n < domain.size(); ++n) {
    if (n == 0 || domain[n] != domain[n - 1]) {
      level.first.push_back(levels_.empty() ? static_cast<std::int32_t>(n) : levels_.back().of_node[n]);
      level.free.push_back(0);
    }
    level.of_node[n] = static_cast<std::int32_t>(level.free.size()) - 1;
  }
  level.first.push_back(static_cast<std::int32_t>(levels_.empty() ? domain.size() : levels_.back().free.size()));
  levels_.push_back(std::move(level));
}

void PackingTree::change(std::int32_t node, std::int32_t by) {
  const auto count = [this, node](std::int32_t gpus, std::int32_t one) {
    if (gpus == 0) return;
    std::int32_t& many = many_[to_index(gpus) - 1];
    many += one;
    const std::uint64_t bit = std::uint64_t{1} << (gpus - 1);
    some_ = many == 0 ? some_ & ~bit : some_ | bit;
    if (one > 0) {
      with_[to_index(gpus) - 1].insert(node);
    } else {
      with_[to_index(gpus) - 1].erase(node);
    }
  };
  std::int32_t& free = free_[to_index(node)];
  count(free, -1);
  free += by;
  count(free, 1);
  for (Level& level : levels_) level.free[to_index(level.of_node[to_index(node)])] += by;
}

std::int64_t PackingTree::free(std::size_t level, std::int32_t domain) const {
  return level == 0 ? free_[to_index(domain)] : levels_[level - 1].free[to_index(domain)];
}

std::int32_t PackingTree::tightest(std::size_t level, Span among, std::int64_t gpus) const {
  if (level == 0) {
    if (gpus > static_cast<std::int64_t>(with_.size())) return -1;
    for (std::uint64_t some = some_ >> (gpus - 1) << (gpus - 1); some != 0; some &= some - 1) {
      const std::int32_t node = with_[static_cast<std::size_t>(std::countr_zero(some))].next(among.first);
      if (node < among.last) return node;
    }
    return -1;
  }
  const std::vector<std::int64_t>& free = levels_[level - 1].free;
  std::int32_t best = -1;
  for (std::int32_t d = among.first; d < among.last; ++d) {
    if (free[to_index(d)] >= gpus && (best < 0 || free[to_index(d)] < free[to_index(best)])) best = d;
  }
  return best;
}

std::int32_t PackingTree::fullest(std::size_t level, Span among) const {
  if (level == 0) {
    for (std::uint64_t some = some_; some != 0;) {
      const int most = 63 - std::countl_zero(some);
      const std::int32_t node = with_[static_cast<std::size_t>(most)].next(among.first);
      if (node < among.last) return node;
      some &= ~(std::uint64_t{1} << most);
    }
    return -1;
  }
  const std::vector<std::int64_t>& free = levels_[level - 1].free;
  return static_cast<std::int32_t>(std::max_element(free.begin() + among.first, free.begin() + among.last) - free.begin());
}

void PackingTree::take(std::int64_t gpus, std::vector<Part>& parts) {
  for (std::size_t level = 0;; ++level) {
    const std::size_t domains = level == 0 ? free_.size() : levels_[level - 1].free.size();
    const std::int32_t best = tightest(level, {0, static_cast<std::int32_t>(domains)}, gpus);
    if (best >= 0) return fill(level, best, gpus, parts);
  }
}

void PackingTree::take_emptiest(std::int64_t gpus, std::vector<Part>& parts) {
  while (gpus > 0) {
    const std::int32_t node = fullest(0, {0, static_cast<std::int32_t>(free_.size())});
    const std::int64_t part = std::min(gpus, free(0, node));
    fill(0, node, part, parts);
    gpus -= part;
  }
}

void PackingTree::fill(std::size_t level, std::int32_t domain, std::int64_t gpus, std::vector<Part>& parts) {
  if (level == 0) {
    const auto here = static_cast<std::int32_t>(gpus);
    parts.push_back({domain, here});
    return change(domain, -here);
  }
  const Span children{levels_[level - 1].first[to_index(domain)], levels_[level - 1].first[to_index(domain) + 1]};
  for (std::int64_t left = gpus; left > 0;) {
    const std::int32_t whole = tightest(level - 1, children, left);
    // A child that gives all its GPUs has none left and is not chosen again.
    const std::int32_t child = whole >= 0 ? whole : fullest(level - 1, children);
    const std::int64_t part = whole >= 0 ? left : free(level - 1, child);
    fill(level - 1, child, part, parts);
    left -= part;
  }
}

}  // namespace berth::sim
