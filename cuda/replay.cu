#include "cuda/replay.cuh"

#include "berth/kernel/replay/replay.hpp"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

/// One warp per replay.
__global__ void __launch_bounds__(WarpGroup::kThreads)
    replay_kernel(const __grid_constant__ kernel::ReplayView problem, const ReplayArguments<ReplayOp>* arguments) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const ReplayArguments<ReplayOp>& one = arguments[blockIdx.x];
  kernel::replay(group, problem, one.request, one.workspace, one.result);
}

}  // namespace

void ReplayOp::launch(unsigned n, const View& problem, const ReplayArguments<ReplayOp>* arguments, const Stream& stream) {
  cuda::launch(replay_kernel, n, WarpGroup::kThreads, 0, stream.get())(problem, arguments);
  check_launch(stream.get(), "launch replay_kernel");
}

}  // namespace berth::cuda
