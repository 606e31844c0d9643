#include <utility>

#include "tests/cuda_on_threads/runtime.hpp"

/// Streams, which are queues of work, and graphs, which are recorded work.
///
/// Promise: the work of a stream is done in its order, by the thread that waits for it, as late as CUDA allows or as the
/// settings say. A stream that is captured records work and does none. What CUDA forbids during a capture breaks it.
namespace berth::cuda_on_threads {

cudaError_t run_all(Runtime& runtime, cudaStream_t stream) {
  if (stream->queue.empty()) return cudaSuccess;
  const Arena::Open open(*runtime.devices[static_cast<std::size_t>(stream->device)].arena);
  while (!stream->queue.empty()) {
    const Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    const cudaError_t error = work.run();
    if (error == cudaSuccess) continue;
    runtime.sticky = error;
    stream->queue.clear();
    return error;
  }
  return cudaSuccess;
}

cudaError_t run_all_of_device(Runtime& runtime, int device) {
  for (const cudaStream_t stream : runtime.streams) {
    if (stream->device != device) continue;
    const cudaError_t error = run_all(runtime, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t enqueue(Runtime& runtime, cudaStream_t stream, Work work) {
  if (runtime.streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
  if (stream->device != HostThread::get().device) return cudaErrorInvalidResourceHandle;
  if (stream->recording != nullptr) {
    if (stream->broken) return cudaErrorStreamCaptureInvalidated;
    stream->recording->work.push_back(std::move(work));
    return cudaSuccess;
  }
  stream->queue.push_back(std::move(work));
  const Lateness lateness = runtime.settings.lateness;
  // Errors of the work come out later, as they do on a device.
  if (lateness == Lateness::kEager || (lateness == Lateness::kRandom && runtime.coin())) static_cast<void>(run_all(runtime, stream));
  return cudaSuccess;
}

namespace {

/// What was recorded; null: nothing was captured.
std::unique_ptr<CUgraph_st> end_capture(cudaStream_t stream) {
  HostThread& thread = HostThread::get();
  if (thread.capturing == stream) thread.capturing = nullptr;
  return std::move(stream->recording);
}

}  // namespace
}  // namespace berth::cuda_on_threads

using namespace berth::cuda_on_threads;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags", Needs::kContextNoRecord, [&](Runtime& runtime, Device&) {
    if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = new CUstream_st;
    (*stream)->device = HostThread::get().device;
    runtime.streams.insert(*stream);
    ++runtime.counts.streams;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", Needs::kContext, [&](Runtime& runtime, Device&) {
    if (runtime.streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
    if (end_capture(stream) != nullptr) runtime.misuse += "cudaStreamDestroy of a stream that is captured\n";
    const cudaError_t error = run_all(runtime, stream);
    runtime.streams.erase(stream);
    --runtime.counts.streams;
    delete stream;
    return error;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", Needs::kContextNoRecord, [&](Runtime& runtime, Device&) {
    if (runtime.streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
    return run_all(runtime, stream);
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  return call("cudaStreamBeginCapture", Needs::kContextNoRecord, [&](Runtime& runtime, Device&) {
    if (runtime.streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
    stream->recording = std::make_unique<CUgraph_st>();
    stream->broken = false;
    HostThread::get().capturing = stream;
    return cudaSuccess;
  });
}

// Whether it fails or not, the capture is over.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(
      "cudaStreamEndCapture", Needs::kContext,
      [&](Runtime& runtime, Device&) {
        const std::unique_ptr<CUgraph_st> recorded = end_capture(stream);
        if (recorded == nullptr) return cudaErrorInvalidValue;
        if (stream->broken) return cudaErrorStreamCaptureInvalidated;
        *graph = new CUgraph_st(*recorded);
        ++runtime.counts.graphs;
        return cudaSuccess;
      },
      [&] { end_capture(stream); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph, cudaGraph_t recorded, unsigned long long /*flags*/) {
  return call("cudaGraphInstantiate", Needs::kContext, [&](Runtime& runtime, Device&) {
    *graph = new CUgraphExec_st{std::make_shared<const std::vector<Work>>(recorded->work)};
    ++runtime.counts.graphs;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return call("cudaGraphLaunch", Needs::kContext, [&](Runtime& runtime, Device&) {
    ++runtime.counts.graph_launches;
    return enqueue(runtime, stream, {[all = graph->work] {
                     for (const Work& work : *all) {
                       const cudaError_t error = work.run();
                       if (error != cudaSuccess) return error;
                     }
                     return cudaSuccess;
                   }});
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", Needs::kNothing, [&](Runtime& runtime, Device&) {
    delete graph;
    --runtime.counts.graphs;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return call("cudaGraphExecDestroy", Needs::kNothing, [&](Runtime& runtime, Device&) {
    delete graph;
    --runtime.counts.graphs;
    return cudaSuccess;
  });
}
