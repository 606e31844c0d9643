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
    const std::uint64_t all = node.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
    nodes_.push_back({0, 0, node.gpus, found->second, static_cast<std::int32_t>(pool.nodes.size())});
    pool.nodes.push_back(n);
    pool.words.resize((pool.nodes.size() + 63) / 64);
    pool.total += node.gpus;
    gpus_ += node.gpus;
    give(CountedGpus{n, node.gpus, all});
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
  for (const NodeGpus& node : nodes_) fragmented_micro_ += fragmented(node);
}

void NodeCounts::take(const CountedGpus& one) {
  NodeGpus& node = nodes_[at(one.node)];
  Pool& pool = pools_[at(node.pool)];
  if (fragmentation_ != nullptr) fragmented_micro_ -= fragmented(node);
  node.free &= ~one.mask;
  node.n_free -= one.gpus;
  pool.free -= one.gpus;
  if (node.free == 0) pool.words[at(node.place) / 64] &= ~(std::uint64_t{1} << (node.place % 64));
  if (fragmentation_ != nullptr) fragmented_micro_ += fragmented(node);
}

void NodeCounts::give(const CountedGpus& one) {
  if (one.gpus == 0) return;
  NodeGpus& node = nodes_[at(one.node)];
  Pool& pool = pools_[at(node.pool)];
  if (fragmentation_ != nullptr) fragmented_micro_ -= fragmented(node);
  node.free |= one.mask;
  node.n_free += one.gpus;
  pool.free += one.gpus;
  const std::size_t word = at(node.place) / 64;
  pool.words[word] |= std::uint64_t{1} << (node.place % 64);
  pool.first = std::min(pool.first, word);
  if (fragmentation_ != nullptr) fragmented_micro_ += fragmented(node);
}

bool NodeCounts::take(std::int32_t pool, std::int64_t gpus, std::vector<CountedGpus>& taken) {
  Pool& from = pools_[at(pool)];
  if (from.free < gpus) return false;
  taken.clear();
  for (std::size_t& word = from.first; gpus > 0;) {
    if (from.words[word] == 0) {
      ++word;
      continue;
    }
    const std::int32_t n = from.nodes[64 * word + static_cast<std::size_t>(std::countr_zero(from.words[word]))];
    const NodeGpus& node = nodes_[at(n)];
    const bool all = node.n_free <= gpus;
    const std::int32_t here = all ? node.n_free : static_cast<std::int32_t>(gpus);
    const CountedGpus one{n, here, all ? node.free : kernel::lowest_bits(node.free, here)};
    taken.push_back(one);
    take(one);
    gpus -= here;
  }
  return true;
}

void NodeCounts::give(const std::vector<CountedGpus>& taken) {
  for (const CountedGpus& one : taken) give(one);
}

bool NodeCounts::take_again(const std::vector<CountedGpus>& taken) {
  for (const CountedGpus& one : taken) {
    if ((one.mask & ~nodes_[at(one.node)].free) != 0) return false;
  }
  for (const CountedGpus& one : taken) take(one);
  return true;
}

}  // namespace berth::sim
