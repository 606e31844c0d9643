#include "host/sim/generate/synthetic_placement.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {
namespace {

std::uint64_t lowest_bits(std::uint64_t mask, std::int32_t count) {
  std::uint64_t taken = 0;
  for (; count > 0; --count) {
    const std::uint64_t bit = mask & (~mask + 1);
    taken |= bit;
    mask ^= bit;
  }
  return taken;
}

}  // namespace

SyntheticPlacement::SyntheticPlacement(const ClusterLayout& layout) : layout_(layout) {
  const std::size_t nodes = layout.nodes.size();
  free_.assign(nodes, 0);
  unit_free_.assign(to_index(layout.units()), 0);
  used_ppm_.assign(nodes * to_index(layout.gpus_per_node), 0);
  by_free_.resize(layout.pools.size() * to_index(layout.gpus_per_node + 1));
  by_used_.resize(layout.pools.size());
  const std::uint64_t all = layout.gpus_per_node == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << layout.gpus_per_node) - 1;
  // Backwards, because lists are read from their ends.
  for (std::int32_t n = static_cast<std::int32_t>(nodes) - 1; n >= 0; --n) {
    if (layout.nodes[to_index(n)].state == NodeState::kReady) set_free(n, all);
  }
}

void SyntheticPlacement::set_free(std::int32_t node, std::uint64_t mask) {
  const std::int32_t change = std::popcount(mask) - std::popcount(free_[to_index(node)]);
  free_[to_index(node)] = mask;
  unit_free_[to_index(layout_.unit[to_index(node)])] += change;
  free_total_ += change;
  by_free_[to_index(layout_.pool[to_index(node)] * (layout_.gpus_per_node + 1) + std::popcount(mask))].push_back(node);
}

void SyntheticPlacement::take(std::int32_t node, std::int32_t gpus) {
  const std::uint64_t mask = lowest_bits(free_[to_index(node)], gpus);
  set_free(node, free_[to_index(node)] & ~mask);
  taken_.push_back({node, mask, kWholeGpu});
  row_of_.push_back(row_);
}

void SyntheticPlacement::give(const Taken& one) {
  if (one.share_ppm == kWholeGpu) {
    set_free(one.node, free_[to_index(one.node)] | one.mask);
    return;
  }
  const std::int32_t gpu = one.node * layout_.gpus_per_node + std::countr_zero(one.mask);
  std::int32_t& used = used_ppm_[to_index(gpu)];
  used -= one.share_ppm;
  if (used == 0) {
    set_free(one.node, free_[to_index(one.node)] | one.mask);
  } else {
    by_used_[to_index(layout_.pool[to_index(one.node)])][used].push_back(gpu);
  }
}

void SyntheticPlacement::roll_back(std::size_t to) {
  while (taken_.size() > to) {
    give(taken_.back());
    taken_.pop_back();
    row_of_.pop_back();
  }
}

void SyntheticPlacement::leave(const std::vector<Taken>& taken) {
  for (const Taken& one : taken) give(one);
}

bool SyntheticPlacement::place(const Shape& shape, const std::vector<std::uint8_t>& pool_ok, Allocation& allocation,
                               std::vector<Taken>& taken) {
  taken_.clear();
  row_of_.clear();
  row_ = 0;
  if (shape.share_ppm == kWholeGpu && shape.gpus > free_total_) return false;
  bool placed = false;
  for (std::int32_t type = 0; type < static_cast<std::int32_t>(layout_.gpu_types.size()) && !placed; ++type) {
    if (!shape.gpu_type.empty() && shape.gpu_type != layout_.gpu_types[to_index(type)].id) continue;
    bool any = false;
    type_ok_.assign(layout_.pools.size(), 0);
    for (std::size_t p = 0; p < type_ok_.size(); ++p) {
      type_ok_[p] = pool_ok[p] != 0 && layout_.pools[p].type == type;
      any = any || type_ok_[p] != 0;
    }
    placed = any && place_type(shape, type);
  }
  if (!placed) return false;

  allocation.shape = shape.id;
  std::int32_t member = 0;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const bool flat = shape.groups.empty();
    if (i > 0 && !flat && row_of_[i] != row_of_[i - 1]) member = 0;
    AllocationEntry entry;
    if (!flat) entry.group = shape.groups[row_of_[i]].name;
    entry.member = member;
    entry.node = layout_.nodes[to_index(taken_[i].node)].id;
    for (std::uint64_t mask = taken_[i].mask; mask != 0; mask &= mask - 1) entry.gpus.push_back(std::countr_zero(mask));
    entry.share_ppm = taken_[i].share_ppm;
    entry.time_shared = entry.share_ppm != kWholeGpu;
    member += static_cast<std::int32_t>(entry.gpus.size()) / (flat ? 1 : shape.groups[row_of_[i]].gpus_per_member);
    allocation.entries.push_back(std::move(entry));
  }
  taken = taken_;
  return true;
}

bool SyntheticPlacement::place_type(const Shape& shape, std::int32_t type) {
  if (shape.gpus > layout_.type_gpus[to_index(type)]) return false;
  if (!shape.groups.empty()) {
    for (std::size_t row = 0; row < shape.groups.size(); ++row) {
      if (!shape.groups[row].parent.empty()) continue;
      if (place_group(shape, row, {0, layout_.units()})) continue;
      roll_back(0);
      return false;
    }
    return true;
  }
  if (shape.share_ppm != kWholeGpu) {
    for (std::int32_t i = 0; i < shape.gpus; ++i) {
      if (place_share(shape.share_ppm)) continue;
      roll_back(0);
      return false;
    }
    return true;
  }
  return shape.gpus <= layout_.gpus_per_node ? place_one(shape.gpus) : place_flat(shape.gpus);
}

std::int32_t SyntheticPlacement::tightest_node(std::int32_t gpus) {
  for (std::int32_t have = gpus; have <= layout_.gpus_per_node; ++have) {
    for (std::size_t p = 0; p < type_ok_.size(); ++p) {
      if (type_ok_[p] == 0) continue;
      auto& list = by_free_[p * to_index(layout_.gpus_per_node + 1) + to_index(have)];
      while (!list.empty() && std::popcount(free_[to_index(list.back())]) != have) list.pop_back();
      if (!list.empty()) return list.back();
    }
  }
  return -1;
}

bool SyntheticPlacement::place_one(std::int32_t gpus) {
  const std::int32_t node = tightest_node(gpus);
  if (node >= 0) take(node, gpus);
  return node >= 0;
}

bool SyntheticPlacement::place_share(std::int32_t share_ppm) {
  std::int32_t gpu = -1;
  for (std::size_t p = 0; p < type_ok_.size() && gpu < 0; ++p) {
    if (type_ok_[p] == 0) continue;
    // The most used GPU that still has room.
    auto& by_used = by_used_[p];
    for (auto it = by_used.upper_bound(kWholeGpu - share_ppm); it != by_used.begin() && gpu < 0;) {
      --it;
      auto& list = it->second;
      while (!list.empty() && used_ppm_[to_index(list.back())] != it->first) list.pop_back();
      if (!list.empty()) gpu = list.back();
    }
  }
  if (gpu < 0) {
    const std::int32_t node = tightest_node(1);
    if (node < 0) return false;
    const std::uint64_t mask = lowest_bits(free_[to_index(node)], 1);
    set_free(node, free_[to_index(node)] & ~mask);
    gpu = node * layout_.gpus_per_node + std::countr_zero(mask);
  }
  const std::int32_t node = gpu / layout_.gpus_per_node;
  std::int32_t& used = used_ppm_[to_index(gpu)];
  used += share_ppm;
  if (used < kWholeGpu) by_used_[to_index(layout_.pool[to_index(node)])][used].push_back(gpu);
  taken_.push_back({node, std::uint64_t{1} << (gpu % layout_.gpus_per_node), share_ppm});
  row_of_.push_back(row_);
  return true;
}

}  // namespace berth::sim
