#include "host/sim/base/node_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {
namespace {

constexpr std::int32_t kNoRank = -1;

/// Usable GPUs of a node.
std::uint64_t usable(const Node& node) {
  if (node.state != NodeState::kReady) return 0;
  std::uint64_t mask = 0;
  if (node.gpu_list.empty()) {
    mask = node.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
  }
  for (const Gpu& gpu : node.gpu_list) {
    if (gpu.state == GpuState::kOk) mask |= std::uint64_t{1} << gpu.index;
  }
  return mask;
}

std::uint64_t lowest(std::uint64_t mask, int n) {
  std::uint64_t taken = 0;
  for (; n > 0; --n) {
    taken |= mask & (~mask + 1);
    mask &= mask - 1;
  }
  return taken;
}

}  // namespace

NodePool::NodePool(const Snapshot& cluster) : rank_of_(cluster.nodes.size(), kNoRank) {
  constexpr auto kSwitch = static_cast<std::size_t>(TopologyKind::kSwitch);
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    if (usable(cluster.nodes[i]) != 0) node_of_.push_back(static_cast<std::int32_t>(i));
  }
  std::sort(node_of_.begin(), node_of_.end(), [&](std::int32_t a, std::int32_t b) {
    const Node &left = cluster.nodes[to_index(a)], &right = cluster.nodes[to_index(b)];
    return std::tie(left.domain[kSwitch], left.id) < std::tie(right.domain[kSwitch], right.id);
  });
  for (const GpuType& type : cluster.gpu_types) types_.push_back(type.id);
  std::sort(types_.begin(), types_.end());
  std::map<std::tuple<std::string, std::vector<std::string>, int>, int> known;
  for (std::size_t r = 0; r < node_of_.size(); ++r) {
    const Node& node = cluster.nodes[to_index(node_of_[r])];
    const std::uint64_t mask = usable(node);
    const int size = std::popcount(mask);
    std::vector<std::string> serves = node.virtual_clusters;
    std::sort(serves.begin(), serves.end());
    owners_.insert(serves.begin(), serves.end());
    const auto [found, fresh] = known.try_emplace(std::make_tuple(node.gpu_type, serves, size), static_cast<int>(classes_.size()));
    if (fresh) classes_.push_back({node.gpu_type, serves, size, std::vector<std::set<std::int32_t>>(to_index(size) + 1)});
    Class& home = classes_[to_index(found->second)];
    home.by_free[to_index(size)].insert(static_cast<std::int32_t>(r));
    class_of_.push_back(found->second);
    free_.push_back(mask);
    rank_of_[to_index(node_of_[r])] = static_cast<std::int32_t>(r);
    free_gpus_ += size;
  }
}

int NodePool::kind(const std::vector<std::string>& gpu_types, const std::string& virtual_cluster) {
  const auto [found, fresh] = kinds_.try_emplace(std::make_pair(gpu_types, virtual_cluster), static_cast<int>(kinds_.size()));
  if (!fresh) return found->second;
  std::vector<std::vector<int>> by_type;
  for (const std::string& type : types_) {
    if (!gpu_types.empty() && std::find(gpu_types.begin(), gpu_types.end(), type) == gpu_types.end()) continue;
    std::vector<int> classes;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const Class& one = classes_[c];
      const bool serves =
          one.virtual_clusters.empty() || std::binary_search(one.virtual_clusters.begin(), one.virtual_clusters.end(), virtual_cluster);
      if (one.gpu_type == type && serves) classes.push_back(static_cast<int>(c));
    }
    std::stable_sort(classes.begin(), classes.end(), [&](int a, int b) { return classes_[to_index(a)].size > classes_[to_index(b)].size; });
    if (!classes.empty()) by_type.push_back(std::move(classes));
  }
  eligible_.push_back(std::move(by_type));
  return found->second;
}

/// The node with the fewest free GPUs that are enough, or kNoRank.
std::int32_t NodePool::best_fit(const std::vector<int>& classes, std::int64_t gpus, const std::set<std::int32_t>& without) const {
  const int largest = classes_[to_index(classes.front())].size;
  for (auto free = static_cast<int>(std::min<std::int64_t>(gpus, largest + 1)); free <= largest; ++free) {
    std::int32_t best = kNoRank;
    for (const int c : classes) {
      const Class& one = classes_[to_index(c)];
      if (free > one.size) break;  // largest first
      for (const std::int32_t rank : one.by_free[to_index(free)]) {
        if (without.count(rank) > 0) continue;
        if (best == kNoRank || rank < best) best = rank;
        break;
      }
    }
    if (best != kNoRank) return best;
  }
  return kNoRank;
}

/// The first completely free node of this size after rank `after`, or kNoRank.
std::int32_t NodePool::next_whole(const std::vector<int>& classes, int size, std::int32_t after) const {
  std::int32_t best = kNoRank;
  for (const int c : classes) {
    const Class& one = classes_[to_index(c)];
    if (one.size != size) continue;
    const auto next = one.by_free[to_index(size)].upper_bound(after);
    if (next != one.by_free[to_index(size)].end() && (best == kNoRank || *next < best)) best = *next;
  }
  return best;
}

bool NodePool::choose(const std::vector<int>& classes, std::int64_t gpus, Choice& choice) const {
  choice.clear();
  std::set<std::int32_t> taken;
  std::int64_t left = gpus;
  if (left > classes_[to_index(classes.front())].size) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const int size = classes_[to_index(classes[i])].size;
      if (i > 0 && size == classes_[to_index(classes[i - 1])].size) continue;
      std::int32_t rank = kNoRank;
      while (left >= size) {
        rank = next_whole(classes, size, rank);
        if (rank == kNoRank) break;
        taken.insert(rank);
        choice.emplace_back(rank, size);
        left -= size;
      }
    }
  }
  if (left == 0) return true;
  const std::int32_t rank = best_fit(classes, left, taken);
  if (rank == kNoRank) return false;
  choice.emplace_back(rank, static_cast<int>(left));
  return true;
}

bool NodePool::take(int kind, std::int64_t gpus, std::vector<PooledGpus>& taken) {
  if (gpus > free_gpus_) return false;
  Choice best, choice;
  std::int64_t best_over = 0;
  for (const std::vector<int>& classes : eligible_[to_index(kind)]) {
    if (!choose(classes, gpus, choice)) continue;
    std::int64_t over = -gpus;
    for (const auto& one : choice) over += std::popcount(free_[to_index(one.first)]);
    if (!best.empty() && std::make_pair(best.size(), best_over) <= std::make_pair(choice.size(), over)) continue;
    best = choice;
    best_over = over;
  }
  if (best.empty()) return false;
  taken.clear();
  for (const auto& one : best) {
    const std::uint64_t mask = lowest(free_[to_index(one.first)], one.second);
    taken.push_back({node_of_[to_index(one.first)], mask});
    move(one.first, free_[to_index(one.first)] & ~mask);
  }
  return true;
}

void NodePool::give(const std::vector<PooledGpus>& taken) {
  for (const PooledGpus& one : taken) {
    const std::int32_t rank = rank_of_[to_index(one.node)];
    move(rank, free_[to_index(rank)] | one.mask);
  }
}

void NodePool::move(std::int32_t rank, std::uint64_t free) {
  Class& home = classes_[to_index(class_of_[to_index(rank)])];
  const int before = std::popcount(free_[to_index(rank)]), after = std::popcount(free);
  home.by_free[to_index(before)].erase(rank);
  home.by_free[to_index(after)].insert(rank);
  free_gpus_ += after - before;
  free_[to_index(rank)] = free;
}

}  // namespace berth::sim
