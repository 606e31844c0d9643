#include "host/sim/counts/node_counts.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/state.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/measures/stays.hpp"

namespace berth::sim {
namespace {

/// Adds GPUs of a node to a set of GPUs of its pool.
void add_bits(std::span<std::uint64_t> set, std::int64_t first, std::uint64_t mask) {
  if (mask == 0) return;
  const auto word = static_cast<std::size_t>(first / 64);
  const int shift = static_cast<int>(first % 64);
  set[word] |= mask << shift;
  if (shift > 0 && mask >> (64 - shift) != 0) set[word + 1] |= mask >> (64 - shift);
}

/// The GPUs of a node in a set of GPUs of its pool.
std::uint64_t read_bits(std::span<const std::uint64_t> set, std::int64_t first, std::int32_t n) {
  if (n == 0) return 0;
  const auto word = static_cast<std::size_t>(first / 64);
  const int shift = static_cast<int>(first % 64);
  std::uint64_t bits = set[word] >> shift;
  if (shift > 0 && word + 1 < set.size()) bits |= set[word + 1] << (64 - shift);
  return n == 64 ? bits : bits & ((std::uint64_t{1} << n) - 1);
}

/// The first GPU of a set from one on. There is one.
std::int64_t next_bit(std::span<const std::uint64_t> set, std::int64_t from) {
  auto word = static_cast<std::size_t>(from / 64);
  std::uint64_t bits = set[word] >> (from % 64) << (from % 64);
  while (bits == 0) bits = set[++word];
  return static_cast<std::int64_t>(64 * word) + std::countr_zero(bits);
}

bool plain(const Node& node) {
  const auto works = [](const Gpu& gpu) { return gpu.state == GpuState::kOk; };
  return node.state == NodeState::kReady && std::all_of(node.gpu_list.begin(), node.gpu_list.end(), works) && node.available_from_us == 0 &&
         node.available_until_us == kNever && node.virtual_clusters.size() <= 1;
}

}  // namespace

bool NodeCounts::begin(const Snapshot& cluster, const TraceFacts& facts, kernel::Packing packing) {
  by_rank_ = packing == kernel::Packing::kCount;
  emptiest_ = packing == kernel::Packing::kEmptiest;
  Snapshot empty = cluster;
  empty.jobs.clear();
  empty.history.clear();
  if (facts.waits || !empty.reservations.empty() || (!facts.queues.empty() && !empty.queues.empty())) return false;
  state_.emplace(std::move(empty), "cluster");
  columns_ = StateView(*state_).problem();
  inner_groups_ = columns_.inner_begin[columns_.n_nodes] > 0;
  bool cpu = false, memory = false, several = false;
  for (std::int32_t n = 0; n < state_->node_count(); ++n) {
    const Node& node = state_->node(n);
    if (!plain(node) || (n > 0 && node.virtual_clusters.empty() == owned_)) return false;
    owned_ = !node.virtual_clusters.empty();
    several = several || (n > 0 && node.gpu_type != only_type_);
    only_type_ = node.gpu_type;
    cpu = cpu || node.cpu_milli != kUnlimited;
    memory = memory || node.memory_bytes != kUnlimited;
    const auto [found, fresh] = pool_at_[node.gpu_type].try_emplace(owned_ ? node.virtual_clusters.front() : std::string(), pools());
    if (fresh) pools_.emplace_back();
    Pool& pool = pools_[to_index(found->second)];
    nodes_.push_back(
        {columns_.node_free[n], node.gpus, node.gpus, found->second, static_cast<std::int32_t>(pool.nodes.size()), pool.total});
    pool.nodes.push_back(n);
    pool.node_of.insert(pool.node_of.end(), to_index(node.gpus), n);
    pool.free = pool.total += node.gpus;
    gpus_ += node.gpus;
  }
  begin_pools();
  return !facts.hard_deadlines && !facts.deadline_steps && !facts.profiles && !facts.shapes && !(several && facts.any_type) &&
         !(cpu && facts.cpu) && !(memory && facts.memory);
}

void NodeCounts::clear() {
  for (std::int32_t n = 0; n < state_->node_count(); ++n) {
    nodes_[to_index(n)].free = columns_.node_free[n];
    nodes_[to_index(n)].n_free = nodes_[to_index(n)].gpus;
  }
  for (Pool& pool : pools_) pool.free = pool.total;
  begin_pools();
}

void NodeCounts::begin_pools() {
  const kernel::TopologyView& topology = columns_.topology[static_cast<std::size_t>(TopologyKind::kSwitch)];
  for (Pool& pool : pools_) {
    pool.some = IndexSet(pool.nodes.size());
    std::vector<std::int32_t> free;
    std::vector<std::vector<std::int32_t>> domains(static_cast<std::size_t>(std::max(0, topology.levels - 2)));
    for (std::size_t place = 0; place < pool.nodes.size(); ++place) {
      const std::int32_t n = pool.nodes[place];
      free.push_back(nodes_[to_index(n)].n_free);
      if (free.back() > 0) pool.some.insert(static_cast<std::int32_t>(place));
      for (std::size_t l = 0; l < domains.size(); ++l)
        domains[l].push_back(topology.node_domain[static_cast<std::int64_t>(l + 1) * columns_.n_nodes + n]);
    }
    if (by_rank_) continue;
    pool.tree.begin(free, domains);
    pool.other_tree = pool.tree;
    pool.other_free = free;
  }
}

std::int32_t NodeCounts::pool_of(const TraceJob& job) const {
  if (pools_.size() == 1 && !owned_ && (job.gpu_type.empty() || job.gpu_type == only_type_)) return 0;
  const std::string unowned;
  const auto type = pool_at_.find(job.gpu_type.empty() ? only_type_ : job.gpu_type);
  if (type == pool_at_.end()) return -1;
  const auto found = type->second.find(owned_ ? job.virtual_cluster : unowned);
  return found == type->second.end() ? -1 : found->second;
}

void NodeCounts::stop_token(const Fragmentation& with) {
  fragmentation_ = &with;
  fragmented_micro_ = 0;
  for (const NodeGpus& node : nodes_) fragmented_micro_ += fragmented(node);
}

// Updates only the node; its pool must be updated too.
inline void NodeCounts::hold(NodeGpus& node, const CountedGpus& one) {
  if (fragmentation_ != nullptr) fragmented_micro_ -= fragmented(node);
  node.free &= ~one.mask;
  node.n_free -= one.gpus;
  if (fragmentation_ != nullptr) fragmented_micro_ += fragmented(node);
}

void NodeCounts::take(const CountedGpus& one) {
  NodeGpus& node = nodes_[to_index(one.node)];
  Pool& pool = pools_[to_index(node.pool)];
  hold(node, one);
  pool.free -= one.gpus;
  if (by_rank_) {
    pool.some.put(node.place, node.free != 0);
  } else {
    pool.tree.change(node.place, -one.gpus);
  }
}

void NodeCounts::give(const CountedGpus& one) {
  NodeGpus& node = nodes_[to_index(one.node)];
  Pool& pool = pools_[to_index(node.pool)];
  if (fragmentation_ != nullptr) fragmented_micro_ -= fragmented(node);
  node.free |= one.mask;
  node.n_free += one.gpus;
  pool.free += one.gpus;
  if (fragmentation_ != nullptr) fragmented_micro_ += fragmented(node);
  if (by_rank_) {
    pool.some.insert(node.place);
  } else {
    pool.tree.change(node.place, one.gpus);
  }
}

inline std::uint64_t NodeCounts::pick(std::int32_t n, const NodeGpus& node, std::int32_t gpus) const {
  return gpus == node.n_free ? node.free : pick(n, node.free, gpus);
}

inline std::uint64_t NodeCounts::pick(std::int32_t n, std::uint64_t free, std::int32_t gpus) const {
  return inner_groups_ ? kernel::pick_gpus(columns_, n, free, gpus) : kernel::lowest_bits(free, gpus);
}

bool NodeCounts::take(std::int32_t pool, std::int64_t gpus, std::vector<CountedGpus>& taken) {
  Pool& from = pools_[to_index(pool)];
  if (from.free < gpus) return false;
  taken.clear();
  from.free -= gpus;
  if (by_rank_) {
    take_by_rank(from, gpus, taken);
  } else {
    take_from_tree(from, gpus, taken);
  }
  return true;
}

void NodeCounts::take_by_rank(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken) {
  for (std::int32_t place = 0; gpus > 0; ++place) {
    place = from.some.next(place);
    const std::int32_t n = from.nodes[to_index(place)];
    NodeGpus& node = nodes_[to_index(n)];
    const auto here = static_cast<std::int32_t>(std::min<std::int64_t>(gpus, node.n_free));
    const CountedGpus one{n, here, pick(n, node, here)};
    hold(node, one);
    from.some.put(place, node.free != 0);
    taken.push_back(one);
    gpus -= here;
  }
}

void NodeCounts::take_from_tree(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken) {
  parts_.clear();
  emptiest_ ? from.tree.take_emptiest(gpus, parts_) : from.tree.take(gpus, parts_);
  for (const PackingTree::Part& part : parts_) {
    const std::int32_t n = from.nodes[to_index(part.node)];
    NodeGpus& node = nodes_[to_index(n)];
    const CountedGpus one{n, part.gpus, pick(n, node, part.gpus)};
    hold(node, one);
    taken.push_back(one);
  }
}

void NodeCounts::give(const std::vector<CountedGpus>& taken) {
  for (const CountedGpus& one : taken) give(one);
}

CountedGpus NodeCounts::take_node(std::int32_t node) {
  const NodeGpus& of = nodes_[to_index(node)];
  const CountedGpus all{node, of.n_free, of.free};
  if (all.gpus > 0) take(all);
  return all;
}

bool NodeCounts::take_again(const std::vector<CountedGpus>& taken) {
  for (const CountedGpus& one : taken) {
    if ((one.mask & ~nodes_[to_index(one.node)].free) != 0) return false;
  }
  for (const CountedGpus& one : taken) take(one);
  return true;
}

std::int64_t NodeCounts::free_of(const std::vector<CountedGpus>& gpus) const {
  std::int64_t free = 0;
  for (const CountedGpus& one : gpus) free += std::popcount(one.mask & nodes_[to_index(one.node)].free);
  return free;
}

void NodeCounts::take_beside(const std::vector<CountedGpus>& reserved, std::int32_t pool, std::int64_t gpus,
                             std::vector<CountedGpus>& taken) {
  withheld_.clear();
  for (const CountedGpus& one : reserved) {
    const std::uint64_t free = one.mask & nodes_[to_index(one.node)].free;
    if (free == 0) continue;
    withheld_.push_back({one.node, std::popcount(free), free});
    take(withheld_.back());
  }
  [[maybe_unused]] const bool fits = take(pool, gpus, taken);
  assert(fits);
  give(withheld_);
}

void NodeCounts::add_free(std::int32_t pool, std::span<std::uint64_t> set) const {
  for (const std::int32_t n : pools_[to_index(pool)].nodes) add_bits(set, nodes_[to_index(n)].first_gpu, nodes_[to_index(n)].free);
}

void NodeCounts::add_to(std::span<std::uint64_t> set, const std::vector<CountedGpus>& gpus) const {
  for (const CountedGpus& one : gpus) add_bits(set, nodes_[to_index(one.node)].first_gpu, one.mask);
}

void NodeCounts::choose(std::int32_t pool, std::int64_t gpus, std::span<std::uint64_t> set, std::vector<CountedGpus>& taken) {
  Pool& from = pools_[to_index(pool)];
  taken.clear();
  const auto take = [&](std::int32_t n, std::int32_t here) {
    const NodeGpus& node = nodes_[to_index(n)];
    const std::uint64_t free = read_bits(set, node.first_gpu, node.gpus);
    const std::int32_t many = std::min(here, std::popcount(free));
    if (many == 0) return 0;
    taken.push_back({n, many, many == std::popcount(free) ? free : pick(n, free, many)});
    return many;
  };
  if (by_rank_) {
    for (std::int64_t gpu = 0; gpus > 0;) {
      const std::int32_t n = from.node_of[static_cast<std::size_t>(next_bit(set, gpu))];
      gpus -= take(n, static_cast<std::int32_t>(std::min<std::int64_t>(gpus, kMaxGpusPerNode)));
      gpu = nodes_[to_index(n)].first_gpu + nodes_[to_index(n)].gpus;
    }
  } else {
    for (std::size_t place = 0; place < from.nodes.size(); ++place) {
      const NodeGpus& node = nodes_[to_index(from.nodes[place])];
      const std::int32_t free = std::popcount(read_bits(set, node.first_gpu, node.gpus));
      if (free != from.other_free[place]) from.other_tree.change(static_cast<std::int32_t>(place), free - from.other_free[place]);
      from.other_free[place] = free;
    }
    parts_.clear();
    emptiest_ ? from.other_tree.take_emptiest(gpus, parts_) : from.other_tree.take(gpus, parts_);
    for (const PackingTree::Part& part : parts_) {
      from.other_free[to_index(part.node)] -= part.gpus;
      take(from.nodes[to_index(part.node)], part.gpus);
    }
  }
  std::fill(set.begin(), set.end(), 0);
  add_to(set, taken);
}

void NodeCounts::name(Stays& stays) const {
  for (std::int32_t n = 0; n < state_->node_count(); ++n) stays.add_node(state_->node(n).id, state_->node(n).gpus);
}

std::string NodeCounts::names_of(const std::vector<CountedGpus>& taken) const {
  std::string names;
  for (const CountedGpus& one : taken) names += (names.empty() ? "" : " ") + state_->node(one.node).id;
  return names;
}

}  // namespace berth::sim
