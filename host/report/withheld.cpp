#include "host/report/withheld.hpp"

#include <bit>
#include <cstddef>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::report {
namespace {

std::uint64_t gpus_in_state(const Node& node, GpuState state) {
  std::uint64_t mask = 0;
  for (const Gpu& gpu : node.gpu_list) mask |= gpu.state == state ? std::uint64_t{1} << gpu.index : 0;
  return mask;
}

}  // namespace

WithheldGpus withheld_gpus(const ClusterState& state, const Plan& plan) {
  const StateView s = state;
  std::vector<std::uint64_t> in_use(s.nodes().size(), 0);
  for (const Decision& d : plan.decisions) {
    if (!runs_now(d.action)) continue;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      in_use[to_index(plan.entries[to_index(e)].node)] |= plan.entries[to_index(e)].gpus;
    }
  }
  const core::SupplyView all = s.total_supply();
  WithheldGpus out;
  for (std::size_t n = 0; n < s.nodes().size(); ++n) {
    const Node& node = s.nodes()[n];
    const std::uint64_t broken = node.state == NodeState::kFailed ? all.free[n] : gpus_in_state(node, GpuState::kFailed);
    const std::uint64_t left = all.free[n] & ~broken & ~in_use[n];
    // GPUs of a job of the state that were being released, and the plan displaces the job: no job gets or holds them.
    const std::uint64_t others = left & gpus_in_state(node, GpuState::kReleasing) & ~s.node().held[n];
    out.failed += std::popcount(broken);
    out.held_by_others += std::popcount(others);
    out.closed += std::popcount(left & ~others & ~s.node().open[n]);
  }
  return out;
}

}  // namespace berth::report
