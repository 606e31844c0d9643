#include "host/core/state/state_impl.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"

// Which GPUs of a node jobs may use: by the node's state (ready, drain, failed, spare), the times in which it is
// available, and the state of each GPU. A drained node keeps its jobs and gets no new ones.
namespace berth {

void StateImpl::refresh_node(std::int32_t rank) {
  const std::size_t i = to_index(rank);
  const Node& d = nodes[i];
  std::uint64_t usable = 0;
  if (d.state != NodeState::kFailed) {
    usable = d.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << d.gpus) - 1;
    if (!d.gpu_list.empty()) {
      usable = 0;
      for (const Gpu& g : d.gpu_list) {
        if (g.state == GpuState::kOk) usable |= std::uint64_t{1} << g.index;
      }
    }
  }
  // A GPU that is being released works for its job until it is free.
  std::uint64_t leaving = 0;
  for (const Gpu& g : d.gpu_list) {
    if (d.state != NodeState::kFailed && g.state == GpuState::kReleasing) leaving |= std::uint64_t{1} << g.index;
  }
  node.usable[i] = usable | (leaving & node.held[i]);
  const bool broken = (node.held[i] & ~node.usable[i]) != 0;
  const auto at = std::lower_bound(broken_nodes_.begin(), broken_nodes_.end(), rank);
  const bool was_broken = at != broken_nodes_.end() && *at == rank;
  if (broken && !was_broken) broken_nodes_.insert(at, rank);
  if (!broken && was_broken) broken_nodes_.erase(at);
  const bool here = d.available_from_us <= now && now < d.available_until_us;
  const bool open = d.state == NodeState::kReady && here;
  node.open[i] = open ? usable : 0;
  std::uint64_t failed = d.state == NodeState::kFailed ? total_gpus_[i] : 0;
  for (const Gpu& g : d.gpu_list) failed |= g.state == GpuState::kFailed ? std::uint64_t{1} << g.index : 0;
  node.failed[i] = failed;
  node.drained[i] = here && d.state == NodeState::kDrain ? usable : 0;
  node.free[i] = node.open[i] & ~node.held[i];
  node.spare[i] = d.state == NodeState::kSpare && here ? usable & ~node.held[i] : 0;
  node.cpu[i] = d.cpu_milli < 0 ? kernel::kNoLimit : std::max<std::int64_t>(0, d.cpu_milli - node.cpu_held[i]);
  node.memory[i] = d.memory_bytes < 0 ? kernel::kNoLimit : std::max<std::int64_t>(0, d.memory_bytes - node.memory_held[i]);
  const std::uint8_t sharing = open && d.sharing ? 1 : 0;
  node.sharing_nodes += sharing - node.sharing[i];
  node.sharing[i] = sharing;
  view_stale_ = true;
  log_.node(rank);
}

void StateImpl::note_instants(std::int32_t rank) {
  const Node& d = nodes[to_index(rank)];
  for (const TimeUs at : {d.available_from_us, d.available_until_us}) {
    if (at > 0 && at != kNever) node_instants_.emplace(at, rank);
  }
}

void StateImpl::forget_instants(std::int32_t rank) {
  const Node& d = nodes[to_index(rank)];
  for (const TimeUs at : {d.available_from_us, d.available_until_us}) node_instants_.erase({at, rank});
}

void StateImpl::refresh_nodes_between(TimeUs low, TimeUs high) {
  std::vector<std::int32_t> ranks;
  for (auto next = node_instants_.upper_bound({low, INT32_MAX}); next != node_instants_.end() && next->first <= high; ++next) {
    ranks.push_back(next->second);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const std::int32_t rank : ranks) refresh_node(rank);
}

}  // namespace berth
