#pragma once

#include "berth/kernel/delay_replay/workspace.hpp"
#include "cuda/replays.cuh"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

struct DelayReplayOp {
  using View = kernel::DelayReplayView;
  using Request = kernel::DelayReplayRequest;
  using Result = kernel::DelayReplayResult;
  using Workspace = kernel::DelayReplayWorkspace;
  using Task = cuda_abi::AbiDelayReplayTask;

  static std::size_t carve(void* block, const View& problem, const Request&, Workspace& workspace) {
    return kernel::carve_delay_workspace(block, problem, kernel::gpus_of(problem), workspace);
  }
  static void launch(unsigned n, const View& problem, const ReplayArguments<DelayReplayOp>* arguments, const Stream& stream);
};

using DelayReplayer = Replays<DelayReplayOp>;

}  // namespace berth::cuda
