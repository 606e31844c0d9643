#pragma once

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"

namespace berth::cuda {

/// Launches that are captured once and then repeated as one. What they do may change from time to time only through device memory.
class Graph {
 public:
  Graph() = default;
  ~Graph() { release(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Records what `launch_all` launches on `stream` and forgets what was recorded before, which must be done. Nothing runs.
  /// @param launch_all  launches only: whatever waits or allocates would spoil the capture. Its kernels have run before, so that none
  ///                    is loaded meanwhile.
  template <class Fn>
  void capture(const Stream& stream, const Fn& launch_all) {
    release();
    Recorded recorded;
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "begin to capture a graph");
    try {
      launch_all();
    } catch (...) {
      check_noexcept(cudaStreamEndCapture(stream.get(), &recorded.graph));  // else the stream stays in capture
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &recorded.graph), "capture a graph");
    check(cudaGraphInstantiate(&graph_, recorded.graph), "prepare a graph");
  }
  void launch(const Stream& stream) const { check(cudaGraphLaunch(graph_, stream.get()), "launch a graph"); }

 private:
  struct Recorded {
    cudaGraph_t graph = nullptr;
    ~Recorded() {
      if (graph != nullptr) check_noexcept(cudaGraphDestroy(graph));
    }
  };

  void release() noexcept {
    if (graph_ != nullptr) check_noexcept(cudaGraphExecDestroy(graph_));
    graph_ = nullptr;
  }

  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace berth::cuda
