#include "host/sim/node_counts.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/bits.hpp"
#include "berth/state.hpp"
#include "host/core/at.hpp"

namespace berth::sim {
namespace {

bool plain(const Node& node) {
  return node.state == NodeState::kReady && node.gpu_list.empty() && node.available_from_us == 0 && node.available_until_us == kNever &&
         node.virtual_clusters.size() <= 1;
}

}  // namespace

bool NodeCounts::begin(const Snapshot& cluster, const TraceFacts& facts) {
  Snapshot empty = cluster;
  empty.jobs.clear();
  empty.history.clear();
  if (!empty.reservations.empty()) return false;
  const ClusterState state(std::move(empty), "cluster");
  bool cpu = false, memory = false, several = false;
  for (std::int32_t n = 0; n < state.node_count(); ++n) {
    const Node& node = state.node(n);
    if (!plain(node) || (n > 0 && node.virtual_clusters.empty() == owned_)) return false;
    owned_ = !node.virtual_clusters.empty();
    several = several || (n > 0 && node.gpu_type != only_type_);
    only_type_ = node.gpu_type;
    cpu = cpu || node.cpu_milli != kUnlimited;
    memory = memory || node.memory_bytes != kUnlimited;
    const auto [found, fresh] = pool_at_.try_emplace({node.gpu_type, owned_ ? node.virtual_clusters.front() : std::string()}, pools());
    if (fresh) pools_.emplace_back();
    Pool& pool = pools_[at(found->second)];
    pool_.push_back(found->second);
    place_.push_back(static_cast<std::int32_t>(pool.nodes.size()));
    pool.nodes.push_back(n);
    pool.words.resize((pool.nodes.size() + 63) / 64);
    free_.push_back(0);
    node_gpus_.push_back(node.gpus);
    pool.total += node.gpus;
    gpus_ += node.gpus;
    set_free(n, node.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1);
  }
  return !facts.hard_deadlines && !facts.profiles && !(several && facts.any_type) && !(cpu && facts.cpu) && !(memory && facts.memory);
}

std::int32_t NodeCounts::pool_of(const TraceJob& job) const {
  if (pools_.size() == 1 && !owned_ && (job.gpu_type.empty() || job.gpu_type == only_type_)) return 0;
  const auto found = pool_at_.find({job.gpu_type.empty() ? only_type_ : job.gpu_type, owned_ ? job.virtual_cluster : std::string()});
  return found == pool_at_.end() ? -1 : found->second;
}

void NodeCounts::watch(const Fragmentation& with) {
  fragmentation_ = &with;
  fragmented_micro_ = 0;
  for (std::size_t n = 0; n < free_.size(); ++n) fragmented_micro_ += with.of(node_gpus_[n], std::popcount(free_[n]));
}

void NodeCounts::set_free(std::int32_t node, std::uint64_t mask) {
  if (fragmentation_ != nullptr) {
    const std::int32_t gpus = node_gpus_[at(node)];
    fragmented_micro_ += fragmentation_->of(gpus, std::popcount(mask)) - fragmentation_->of(gpus, std::popcount(free_[at(node)]));
  }
  Pool& pool = pools_[at(pool_[at(node)])];
  pool.free += std::popcount(mask) - std::popcount(free_[at(node)]);
  free_[at(node)] = mask;
  const std::size_t word = at(place_[at(node)]) / 64;
  const std::uint64_t bit = std::uint64_t{1} << (place_[at(node)] % 64);
  if (mask == 0) {
    pool.words[word] &= ~bit;
  } else {
    pool.words[word] |= bit;
    pool.first = std::min(pool.first, word);
  }
}

bool NodeCounts::take(std::int32_t pool, std::int64_t gpus, std::vector<TakenGpus>& taken) {
  Pool& from = pools_[at(pool)];
  if (from.free < gpus) return false;
  taken.clear();
  for (std::size_t& word = from.first; gpus > 0;) {
    if (from.words[word] == 0) {
      ++word;
      continue;
    }
    const std::int32_t node = from.nodes[64 * word + static_cast<std::size_t>(std::countr_zero(from.words[word]))];
    const std::uint64_t free = free_[at(node)];
    const auto here = static_cast<std::int32_t>(std::min<std::int64_t>(gpus, std::popcount(free)));
    const std::uint64_t mask = kernel::lowest_bits(free, here);
    taken.push_back({node, mask});
    set_free(node, free & ~mask);
    gpus -= here;
  }
  return true;
}

void NodeCounts::give(const std::vector<TakenGpus>& taken) {
  for (const TakenGpus& one : taken) set_free(one.node, free_[at(one.node)] | one.mask);
}

bool NodeCounts::take_again(const std::vector<TakenGpus>& taken) {
  for (const TakenGpus& one : taken) {
    if ((one.mask & ~free_[at(one.node)]) != 0) return false;
  }
  for (const TakenGpus& one : taken) set_free(one.node, free_[at(one.node)] & ~one.mask);
  return true;
}

}  // namespace berth::sim
