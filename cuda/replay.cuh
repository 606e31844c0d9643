#pragma once

#include "berth/kernel/replay/workspace.hpp"
#include "cuda/replays.cuh"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

struct ReplayOp {
  using View = kernel::ReplayView;
  using Request = kernel::ReplayRequest;
  using Result = kernel::ReplayResult;
  using Workspace = kernel::ReplayWorkspace;
  using Task = cuda_abi::AbiReplayTask;

  static std::size_t carve(void* block, const View& problem, const Request& request, Workspace& workspace) {
    const bool displaces = request.kind != kernel::ReplayKey::kFixed;
    return kernel::carve_replay_workspace(block, problem, kernel::gpus_of(problem, request), displaces, workspace);
  }
  static void launch(unsigned n, const View& problem, const ReplayArguments<ReplayOp>* arguments, const Stream& stream);
};

using Replayer = Replays<ReplayOp>;

}  // namespace berth::cuda
