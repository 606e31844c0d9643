#include "host/core/contention/link_priorities.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

constexpr int kOrders = 10;
constexpr std::int64_t kMostOrderSteps = std::int64_t{kOrders} * 2'000 * 2'000;

using Edges = std::vector<std::vector<const PriorityEdge*>>;

// Any gang of those above which nothing is left comes next.
std::vector<std::int32_t> random_order(const Edges& down, std::vector<std::int32_t> above, std::mt19937_64& random) {
  std::vector<std::int32_t> ready, order;
  for (std::size_t j = 0; j < above.size(); ++j)
    if (above[j] == 0) ready.push_back(static_cast<std::int32_t>(j));
  while (!ready.empty()) {
    std::swap(ready[static_cast<std::size_t>(random() % ready.size())], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const PriorityEdge* edge : down[to_index(order.back())])
      if (--above[to_index(edge->low)] == 0) ready.push_back(edge->low);
  }
  return order;
}

// The best cuts of the first i gangs of an order into k levels.
class LevelProgram {
 public:
  LevelProgram(std::span<const std::int32_t> order, const Edges& up, std::int32_t levels)
      : n_(order.size()),
        levels_(std::min(to_index(levels), std::max<std::size_t>(1, n_))),
        cut_((levels_ + 1) * (n_ + 1), 0),
        from_((levels_ + 1) * (n_ + 1), 0) {
    std::vector<std::size_t> at(n_);
    for (std::size_t i = 0; i < n_; ++i) at[to_index(order[i])] = i;
    std::vector<std::int64_t> crossing(n_ + 1, 0);  // [j] weight from the first j gangs to those from j to i
    std::vector<std::int64_t> into(n_ + 1);
    for (std::size_t i = 1; i <= n_; ++i) {
      std::fill(into.begin(), into.end(), 0);
      for (const PriorityEdge* edge : up[to_index(order[i - 1])]) into[at[to_index(edge->high)] + 1] += edge->weight;
      for (std::size_t j = 1; j < i; ++j) {
        into[j] += into[j - 1];
        crossing[j] += into[j];
      }
      for (std::size_t k = 2; k <= levels_; ++k) {
        std::int64_t best = -1;
        for (std::size_t j = 0; j < i; ++j) {
          const std::int64_t cut = cut_[(k - 1) * (n_ + 1) + j] + crossing[j];
          if (cut <= best) continue;
          best = cut;
          from_[k * (n_ + 1) + i] = j;
        }
        cut_[k * (n_ + 1) + i] = best;
      }
    }
  }
  std::int64_t cut() const { return cut_[levels_ * (n_ + 1) + n_]; }
  std::vector<std::int32_t> levels(std::span<const std::int32_t> order) const {
    std::vector<std::int32_t> level(n_, 0);
    std::size_t end = n_;
    for (std::size_t k = levels_; k >= 1; --k) {
      const std::size_t begin = k == 1 ? 0 : from_[k * (n_ + 1) + end];
      for (std::size_t i = begin; i < end; ++i) level[to_index(order[i])] = static_cast<std::int32_t>(k - 1);
      end = begin;
    }
    return level;
  }

 private:
  std::size_t n_, levels_;
  std::vector<std::int64_t> cut_;
  std::vector<std::size_t> from_;
};

}  // namespace

FavouredPair favoured_pair(const LinkJob& reference, const LinkJob& other, std::int64_t window_ns) {
  const std::array gangs{reference, other};
  const std::vector<LinkTime> first = link_schedule(gangs, std::array{0, 1}, window_ns);
  const std::vector<LinkTime> second = link_schedule(gangs, std::array{1, 0}, window_ns);
  return {first[0].sent_ns - second[0].sent_ns, second[1].sent_ns - first[1].sent_ns};
}

std::int64_t correction_ppm(const FavouredPair& pair, std::int64_t window_ns) {
  const std::int64_t x = std::max<std::int64_t>(0, pair.reference_extra_ns), y = std::max<std::int64_t>(0, pair.other_extra_ns);
  if (std::max(x, y) < window_ns / 100 || std::max(x, y) == 0) return 1'000'000;
  if (x == 0) return kMostCorrectionPpm;
  return std::min(kMostCorrectionPpm, mul_div(y, 1'000'000, x));
}

PriorityLevels compressed_levels(std::int32_t gangs, std::span<const PriorityEdge> edges, std::int32_t levels, std::uint64_t seed) {
  PriorityLevels best;
  best.level.assign(to_index(gangs), 0);
  best.cut = -1;
  Edges up(to_index(gangs)), down(to_index(gangs));
  std::vector<std::int32_t> above(to_index(gangs), 0);
  for (const PriorityEdge& edge : edges) {
    up[to_index(edge.low)].push_back(&edge);
    down[to_index(edge.high)].push_back(&edge);
    ++above[to_index(edge.low)];
  }
  std::mt19937_64 random(seed);
  const std::int64_t steps = std::max<std::int64_t>(1, std::int64_t{gangs} * gangs);
  const std::int64_t orders = std::clamp<std::int64_t>(kMostOrderSteps / steps, 1, kOrders);
  for (std::int64_t m = 0; m < orders; ++m) {
    const std::vector<std::int32_t> order = random_order(down, above, random);
    const LevelProgram program(order, up, levels);
    if (program.cut() <= best.cut) continue;
    best.cut = program.cut();
    best.level = program.levels(order);
  }
  return best;
}

}  // namespace berth::core
