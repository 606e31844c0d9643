#include "host/reference/ones/reorder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace berth::reference {
namespace {

using OnesOrder = std::vector<std::size_t>;  // jobs in the order of their blocks

constexpr std::int32_t kMaxGpusAsPublished = 16;
constexpr std::int64_t kNumbersOfRound = 32;

struct ArrangedBlocks {
  std::int64_t cost;
  OnesBlockList blocks;
};

// A state f[i][k] of the published program.
struct LaidBlocks {
  ArrangedBlocks arrangement;
  OnesOrder list;
};

class OnesReorder {
 public:
  OnesReorder(std::int32_t n_gpus, const OnesBlockList& deployed, const OnesCounts& counts)
      : n_gpus_(n_gpus), deployed_(deployed), counts_(counts) {
    for (std::size_t j = 0; j < counts.size(); ++j) {
      if (counts[j] > 0) laid_.push_back(j);
    }
  }

  OnesBlockList run() const {
    ArrangedBlocks best = beginning();
    search(best);
    return best.blocks;
  }

 private:
  ArrangedBlocks arrangement(OnesBlockList blocks) const { return {ones_cost(deployed_, blocks), std::move(blocks)}; }

  OnesBlockList nowhere() const { return OnesBlockList(counts_.size()); }

  bool is_deployed(std::size_t job) const { return deployed_[job].count > 0; }

  // Sorts jobs of ascending rank by (count, greatest first; then rank).
  void largest_first(OnesOrder& jobs) const {
    std::stable_sort(jobs.begin(), jobs.end(), [&](std::size_t a, std::size_t b) { return counts_[a] > counts_[b]; });
  }

  ArrangedBlocks lay(const OnesOrder& order) const {
    OnesBlockList blocks = nowhere();
    std::int32_t left = 0;  // the total count of the blocks that are not laid yet
    for (const std::size_t j : order) left += counts_[j];
    std::int32_t x = 0;
    for (const std::size_t j : order) {
      const std::int32_t w = is_deployed(j) ? deployed_[j].first : x;
      const std::int32_t z = n_gpus_ - left;
      blocks[j] = {std::min(std::max(x, w), z), counts_[j]};
      x = blocks[j].first + counts_[j];
      left -= counts_[j];
    }
    return arrangement(std::move(blocks));
  }

  // The largest run of free GPUs; of equal ones the lowest.
  OnesBlock largest_run(const std::vector<bool>& taken) const {
    OnesBlock best, run;
    for (std::int32_t x = 0; x < n_gpus_; ++x) {
      if (taken[static_cast<std::size_t>(x)]) {
        run = {x + 1, 0};
      } else if (++run.count > best.count) {
        best = run;
      }
    }
    return best;
  }

  std::optional<ArrangedBlocks> stay() const {
    OnesBlockList blocks = nowhere();
    std::vector<bool> taken(static_cast<std::size_t>(n_gpus_), false);
    const auto put = [&](std::size_t j, std::int32_t first) {
      blocks[j] = {first, counts_[j]};
      for (std::int32_t x = first; x < first + counts_[j]; ++x) taken[static_cast<std::size_t>(x)] = true;
    };
    OnesOrder others;
    for (const std::size_t j : laid_) {
      if (deployed_[j].count >= counts_[j]) {
        put(j, deployed_[j].first);
      } else {
        others.push_back(j);
      }
    }
    largest_first(others);
    for (const std::size_t j : others) {
      const OnesBlock run = largest_run(taken);
      if (run.count < counts_[j]) return std::nullopt;
      put(j, run.first);
    }
    return arrangement(std::move(blocks));
  }

  ArrangedBlocks in_order() const {
    OnesOrder order, others;
    for (const std::size_t j : laid_) (is_deployed(j) ? order : others).push_back(j);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return deployed_[a].first < deployed_[b].first; });
    largest_first(others);
    order.insert(order.end(), others.begin(), others.end());
    return lay(order);
  }

  std::optional<ArrangedBlocks> as_published() const {
    if (n_gpus_ > kMaxGpusAsPublished) return std::nullopt;
    const auto n_gpus = static_cast<std::size_t>(n_gpus_);
    const std::size_t n = laid_.size();
    std::vector<std::vector<std::optional<LaidBlocks>>> f(n_gpus + 1, std::vector<std::optional<LaidBlocks>>(n + 1));
    f[0][0] = LaidBlocks{arrangement(nowhere()), {}};
    for (std::size_t i = 1; i <= n_gpus; ++i) {
      for (std::size_t k = 0; k <= n; ++k) {
        f[i][k] = f[i - 1][k];
        if (k == 0) continue;
        for (const std::size_t j : laid_) {
          const auto count = static_cast<std::size_t>(counts_[j]);
          if (count > i) continue;
          const std::optional<LaidBlocks>& before = f[i - count][k - 1];
          if (!before || std::count(before->list.begin(), before->list.end(), j) > 0) continue;
          OnesBlockList blocks = before->arrangement.blocks;
          blocks[j] = {static_cast<std::int32_t>(i - count), counts_[j]};
          LaidBlocks with{arrangement(std::move(blocks)), before->list};
          if (f[i][k] && with.arrangement.cost >= f[i][k]->arrangement.cost) continue;
          with.list.push_back(j);
          f[i][k] = std::move(with);
        }
      }
    }
    if (!f[n_gpus][n]) return std::nullopt;
    return f[n_gpus][n]->arrangement;
  }

  ArrangedBlocks beginning() const {
    std::optional<ArrangedBlocks> best;
    for (const std::optional<ArrangedBlocks>& one : {stay(), std::optional(in_order()), as_published()}) {
      if (one && (!best || one->cost < best->cost)) best = one;
    }
    return *best;
  }

  OnesOrder order_of(const OnesBlockList& blocks) const {
    OnesOrder order = laid_;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return blocks[a].first < blocks[b].first; });
    return order;
  }

  // None where the move is not possible.
  static std::optional<OnesOrder> moved(OnesOrder order, std::int64_t e) {
    const auto n = static_cast<std::int64_t>(order.size());
    const std::int64_t i = e % n, k = (i + 1 + e / n) % n;
    const bool changes = e >= n * n;
    if (i == k || (changes && i > k)) return std::nullopt;
    if (changes) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(k)]);
    } else {
      const std::size_t job = order[static_cast<std::size_t>(i)];
      order.erase(order.begin() + i);
      order.insert(order.begin() + k, job);
    }
    return order;
  }

  void search(ArrangedBlocks& now) const {
    const auto n = static_cast<std::int64_t>(laid_.size());
    const std::int64_t numbers = 2 * n * n;
    const auto most_rounds = 2 * static_cast<int>(std::bit_width(static_cast<std::uint32_t>(n_gpus_)));  // ceil(log2(C + 1)) twice
    std::int64_t next = 0;
    std::int64_t looked_at = 0;  // since the last gain
    for (int round = 0; round < most_rounds && now.cost > 0 && looked_at < numbers; ++round) {
      const OnesOrder order = order_of(now.blocks);
      std::optional<ArrangedBlocks> best;
      for (std::int64_t times = 0; times < kNumbersOfRound; ++times) {
        if (const std::optional<OnesOrder> other = moved(order, next)) {
          ArrangedBlocks one = lay(*other);
          if (!best || one.cost < best->cost) best = std::move(one);
        }
        next = (next + 1) % numbers;
      }
      looked_at += kNumbersOfRound;
      if (best && best->cost < now.cost) {
        now = std::move(*best);
        looked_at = 0;
      }
    }
  }

  const std::int32_t n_gpus_;
  const OnesBlockList& deployed_;
  const OnesCounts& counts_;
  OnesOrder laid_;  // jobs that have GPUs, by rank
};

}  // namespace

std::int64_t ones_cost(const OnesBlockList& deployed, const OnesBlockList& blocks) {
  std::int64_t cost = 0;
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    for (std::size_t other = 0; other < deployed.size(); ++other) {
      if (other == j) continue;
      const std::int32_t begin = std::max(blocks[j].first, deployed[other].first);
      const std::int32_t end = std::min(blocks[j].first + blocks[j].count, deployed[other].first + deployed[other].count);
      cost += std::max(0, end - begin);
    }
  }
  return cost;
}

OnesBlockList reorder_ones(std::int32_t n_gpus, const OnesBlockList& deployed, const OnesCounts& counts) {
  return OnesReorder(n_gpus, deployed, counts).run();
}

}  // namespace berth::reference
