#include "host/core/contention/virtual_clos.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

// Spines to which the leaf has enough links free, as bits.
std::uint64_t spines_with(const ClosFabric& fabric, std::int32_t leaf, std::int32_t links) {
  std::uint64_t mask = 0;
  for (std::int32_t spine = 0; spine < fabric.spines; ++spine) mask |= std::uint64_t{fabric.at(leaf, spine) >= links} << spine;
  return mask;
}

void take_first_spines(VirtualClos& clos, std::uint64_t mask, std::int32_t n) {
  for (; n > 0; --n, mask &= mask - 1) clos.spines.push_back(std::countr_zero(mask));
}

// Tries sets of leaves that have `spines` spines in common.
class LeafSearch {
 public:
  LeafSearch(const ClosFabric& fabric, std::int32_t leaves, std::int32_t gpus, std::int32_t spines, std::int64_t& steps)
      : leaves_(to_index(leaves)), spines_(spines), steps_(steps) {
    for (std::int32_t leaf = 0; leaf < static_cast<std::int32_t>(fabric.free_gpus.size()); ++leaf) {
      const std::uint64_t mask = spines_with(fabric, leaf, (gpus + spines - 1) / spines);
      if (fabric.free_gpus[to_index(leaf)] >= gpus && std::popcount(mask) >= spines) usable_.push_back({leaf, mask});
    }
  }
  bool find(std::size_t from = 0, std::uint64_t common = ~std::uint64_t{0}) {
    if (chosen_.size() == leaves_) {
      mask_ = common;
      return true;
    }
    for (std::size_t i = from; i + leaves_ <= usable_.size() + chosen_.size(); ++i) {
      if (--steps_ < 0) return false;
      const std::uint64_t left = common & usable_[i].mask;
      if (std::popcount(left) < spines_) continue;
      chosen_.push_back(usable_[i].leaf);
      if (find(i + 1, left)) return true;
      chosen_.pop_back();
    }
    return false;
  }
  const std::vector<std::int32_t>& chosen() const { return chosen_; }
  std::uint64_t mask() const { return mask_; }

 private:
  struct UsableLeaf {
    std::int32_t leaf;
    std::uint64_t mask;
  };
  std::size_t leaves_;
  std::int32_t spines_;
  std::int64_t& steps_;
  std::vector<UsableLeaf> usable_;
  std::vector<std::int32_t> chosen_;
  std::uint64_t mask_ = 0;
};

}  // namespace

std::optional<VirtualClos> virtual_clos_of(const ClosFabric& fabric, std::span<const LeafGpus> leaves) {
  VirtualClos clos;
  clos.leaves.assign(leaves.begin(), leaves.end());
  if (leaves.size() < 2) return clos;
  for (std::int32_t n = 1; n <= fabric.spines; ++n) {
    std::uint64_t mask = ~std::uint64_t{0};
    for (const LeafGpus& one : leaves) mask &= spines_with(fabric, one.leaf, (one.gpus + n - 1) / n);
    if (std::popcount(mask) < n) continue;
    take_first_spines(clos, mask, n);
    return clos;
  }
  return std::nullopt;
}

std::optional<VirtualClos> virtual_clos(const ClosFabric& fabric, std::int32_t gpus, bool& decided) {
  assert(gpus > 0 && fabric.spines <= kMostSpines);
  decided = true;
  VirtualClos clos;
  std::int32_t best = -1;
  const auto leaves = static_cast<std::int32_t>(fabric.free_gpus.size());
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
    const std::int32_t free = fabric.free_gpus[to_index(leaf)];
    if (free >= gpus && (best < 0 || free < fabric.free_gpus[to_index(best)])) best = leaf;
  }
  if (best >= 0) {
    clos.leaves.push_back({best, gpus});
    return clos;
  }
  std::int64_t steps = kMostClosSteps;
  for (std::int32_t m = 2; m <= std::min(leaves, gpus); ++m) {
    if (gpus % m != 0) continue;
    for (std::int32_t n = 1; n <= fabric.spines; ++n) {
      LeafSearch search(fabric, m, gpus / m, n, steps);
      if (search.find()) {
        for (const std::int32_t leaf : search.chosen()) clos.leaves.push_back({leaf, gpus / m});
        take_first_spines(clos, search.mask(), n);
        return clos;
      }
      if (steps < 0) {
        decided = false;
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

void reserve(ClosFabric& fabric, const VirtualClos& clos, bool and_gpus) {
  for (const LeafGpus& one : clos.leaves) {
    if (and_gpus) fabric.free_gpus[to_index(one.leaf)] -= one.gpus;
    for (const std::int32_t spine : clos.spines) fabric.at(one.leaf, spine) -= clos.links(one);
  }
}

}  // namespace berth::core
