#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

/// The part of the CUDA runtime that `cuda/` uses, on threads of the host: declarations with CUDA's names and meaning.
/// It is found before CUDA's own header. The functions are in tests/cuda_on_threads.
#define CUDART_VERSION 13000

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorUnknown = 999
};

struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned in_x = 1, unsigned in_y = 1, unsigned in_z = 1) : x(in_x), y(in_y), z(in_z) {}  // NOLINT: implicit, as CUDA's
};

using cudaStream_t = struct CUstream_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  int major, minor, multiProcessorCount, memoryBusWidth;
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  int maxDynamicSharedSizeBytes;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
constexpr unsigned cudaStreamNonBlocking = 1;

cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMallocHost(void** data, std::size_t bytes);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph, cudaGraph_t recorded, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

namespace berth::cuda_on_threads {

/// A kernel with its arguments: one thread of it.
using KernelBody = std::function<void()>;

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, KernelBody body);
cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int* blocks, const void* kernel, int threads, std::size_t shared);

uint3 thread_index();
uint3 block_index();
dim3 block_size();
dim3 grid_size();
void* dynamic_shared();
void sync_threads(const char* file, int line);
int sync_threads_or(int v);
void sync_warp();

template <class... Parameters, std::size_t... I>
KernelBody with_arguments(void (*kernel)(Parameters...), void** arguments, std::index_sequence<I...> /*all*/) {
  static_cast<void>(arguments);  // of a kernel without any
  // Copied now, as CUDA does: the caller's may be gone when the stream comes to it.
  return [kernel, copies = std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[I])...)] { std::apply(kernel, copies); };
}

}  // namespace berth::cuda_on_threads

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  return berth::cuda_on_threads::launch_kernel(
      reinterpret_cast<const void*>(kernel), grid, block, shared, stream,
      berth::cuda_on_threads::with_arguments(kernel, arguments, std::index_sequence_for<Parameters...>()));
}
template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return berth::cuda_on_threads::function_attributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
  return berth::cuda_on_threads::set_function_attribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Parameters...), int threads, std::size_t shared) {
  return berth::cuda_on_threads::occupancy(blocks, reinterpret_cast<const void*>(kernel), threads, shared);
}

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
// One block at a time runs.
#define __shared__ static
#define BERTH_DYNAMIC_SHARED(Type, name) Type* const name = static_cast<Type*>(::berth::cuda_on_threads::dynamic_shared())
#define threadIdx (::berth::cuda_on_threads::thread_index())
#define blockIdx (::berth::cuda_on_threads::block_index())
#define blockDim (::berth::cuda_on_threads::block_size())
#define gridDim (::berth::cuda_on_threads::grid_size())
#define __syncwarp() ::berth::cuda_on_threads::sync_warp()
#define __syncthreads() ::berth::cuda_on_threads::sync_threads(__FILE__, __LINE__)
#define __syncthreads_or(v) ::berth::cuda_on_threads::sync_threads_or(v)
