#pragma once

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"

namespace berth::cuda {

/// Launches that are captured once and then repeated as one. Their behaviour may change only through device memory.
class Graph {
 public:
  Graph() = default;
  ~Graph() { release(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Records the launches of `launch_all` on `stream` and discards an earlier recording, which must be done. Nothing runs.
  /// @param launch_all  Launches only: waiting or allocating would break the capture. Its kernels must have run before, so that none
  ///                    is loaded during the capture.
  template <class Fn>
  void capture(const Stream& stream, const Fn& launch_all) {
    release();
    Recorded recorded;
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "begin to capture a graph");
    try {
      launch_all();
    } catch (...) {
      check_noexcept(cudaStreamEndCapture(stream.get(), &recorded.graph));  // otherwise the stream stays in capture
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
