#include "cuda/delay_replay.cuh"

#include "berth/kernel/delay_replay/delay_replay.hpp"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

/// One warp per replay.
__global__ void __launch_bounds__(WarpGroup::kThreads)
    delay_replay_kernel(const __grid_constant__ kernel::DelayReplayView problem, const ReplayArguments<DelayReplayOp>* arguments) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const ReplayArguments<DelayReplayOp>& one = arguments[blockIdx.x];
  kernel::delay_replay(group, problem, one.request, one.workspace, one.result);
}

}  // namespace

void DelayReplayOp::launch(unsigned n, const View& problem, const ReplayArguments<DelayReplayOp>* arguments, const Stream& stream) {
  cuda::launch(delay_replay_kernel, n, WarpGroup::kThreads, 0, stream.get())(problem, arguments);
  check_launch(stream.get(), "launch delay_replay_kernel");
}

}  // namespace berth::cuda
