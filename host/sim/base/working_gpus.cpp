#include "host/sim/base/working_gpus.hpp"

#include <algorithm>

namespace berth::sim {

std::int64_t working_gpus(const Snapshot& cluster) {
  std::int64_t gpus = 0;
  for (const Node& node : cluster.nodes) {
    if (node.state == NodeState::kFailed) continue;
    const auto works = [](const Gpu& gpu) { return gpu.state != GpuState::kFailed; };
    gpus += node.gpu_list.empty() ? node.gpus : std::count_if(node.gpu_list.begin(), node.gpu_list.end(), works);
  }
  return gpus;
}

}  // namespace berth::sim
