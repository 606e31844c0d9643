#include <cstring>
#include <new>
#include <utility>

#include "tests/cuda_on_threads/runtime.hpp"
#include "tests/support/fibers/sanitizers.hpp"

/// Memory of devices, pinned memory of the host, and copies.
///
/// Promise: a copy from or to pinned memory happens when its stream comes to it, and not before. What leaves the memory
/// that was allocated is an error. Copies between devices and pageable memory are done when the call returns, as CUDA
/// does them, or late where the settings say so.
namespace berth::cuda_on_threads {
namespace {

constexpr std::align_val_t kAlign{256};

/// The pinned block that has these bytes; null: it is other memory of the host.
const void* pinned_block(const Runtime& runtime, const void* data, std::size_t bytes) {
  auto found = runtime.pinned.upper_bound(data);
  if (found == runtime.pinned.begin()) return nullptr;
  --found;
  const auto* first = static_cast<const std::byte*>(found->first);
  const auto* at = static_cast<const std::byte*>(data);
  return at + bytes <= first + found->second ? found->first : nullptr;
}

cudaError_t copy_to_device(Runtime& runtime, Device& device, void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!device.arena->holds(to, bytes) || device.arena->owns(from)) return cudaErrorInvalidValue;
  if (const void* pinned = pinned_block(runtime, from, bytes); pinned != nullptr) {
    return enqueue(runtime, stream,
                   {[=] {
                      std::memcpy(to, from, bytes);
                      return cudaSuccess;
                    },
                    pinned});
  }
  // CUDA reads pageable memory before it returns.
  const auto* first = static_cast<const std::byte*>(from);
  return enqueue(runtime, stream, {[to, copy = std::vector<std::byte>(first, first + bytes)] {
                   std::memcpy(to, copy.data(), copy.size());
                   return cudaSuccess;
                 }});
}

cudaError_t copy_to_host(Runtime& runtime, Device& device, void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!device.arena->holds(from, bytes) || device.arena->owns(to)) return cudaErrorInvalidValue;
  const void* pinned = pinned_block(runtime, to, bytes);
  const cudaError_t error = enqueue(runtime, stream,
                                    {[=] {
                                       std::memcpy(to, from, bytes);
                                       return cudaSuccess;
                                     },
                                     pinned});
  if (error != cudaSuccess || pinned != nullptr || runtime.settings.late_pageable != 0) return error;
  return run_all(runtime, stream);
}

}  // namespace
}  // namespace berth::cuda_on_threads

using namespace berth::cuda_on_threads;

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return call("cudaMalloc", Needs::kContextNoRecord, [&](Runtime& runtime, Device& device) {
    Arena& arena = *device.arena;
    if (bytes + static_cast<std::size_t>(runtime.settings.taken) > arena.total() - arena.used()) return cudaErrorMemoryAllocation;
    *data = arena.allocate(bytes);
    if (*data == nullptr) return cudaErrorMemoryAllocation;
    runtime.counts.device_bytes += static_cast<std::int64_t>(bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* data) {
  return call("cudaFree", Needs::kContextNoRecord, [&](Runtime& runtime, Device& device) {
    if (data == nullptr) return cudaSuccess;
    const cudaError_t error = run_all_of_device(runtime, HostThread::get().device);
    if (error != cudaSuccess) return error;
    const std::size_t before = device.arena->used();
    if (!device.arena->free(data)) return cudaErrorInvalidValue;
    runtime.counts.device_bytes -= static_cast<std::int64_t>(before - device.arena->used());
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return call("cudaMallocHost", Needs::kContextNoRecord, [&](Runtime& runtime, Device&) {
    if (runtime.counts.pinned_bytes + static_cast<std::int64_t>(bytes) > runtime.settings.pinned_memory) return cudaErrorMemoryAllocation;
    *data = ::operator new(bytes, kAlign, std::nothrow);
    if (*data == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*data, 0xa5, bytes);
    runtime.pinned.emplace(*data, bytes);
    runtime.counts.pinned_bytes += static_cast<std::int64_t>(bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* data) {
  return call("cudaFreeHost", Needs::kContextNoRecord, [&](Runtime& runtime, Device&) {
    const auto found = runtime.pinned.find(data);
    if (found == runtime.pinned.end()) return cudaErrorInvalidValue;
    for (const cudaStream_t stream : runtime.streams) {
      for (const Work& work : stream->queue) {
        if (work.pinned != data) continue;
        runtime.misuse += "cudaFreeHost of memory that a stream has not copied yet\n";
        static_cast<void>(run_all(runtime, stream));
        break;
      }
    }
    runtime.counts.pinned_bytes -= static_cast<std::int64_t>(found->second);
    runtime.pinned.erase(found);
    ::operator delete(data, kAlign);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyAsync", Needs::kContext, [&](Runtime& runtime, Device& device) {
    return kind == cudaMemcpyHostToDevice ? copy_to_device(runtime, device, to, from, bytes, stream)
                                          : copy_to_host(runtime, device, to, from, bytes, stream);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", Needs::kContext, [&](Runtime& runtime, Device& device) {
    if (!device.arena->holds(to, bytes)) return cudaErrorInvalidValue;
    return enqueue(runtime, stream, {[=] {
                     std::memset(to, value, bytes);
                     return cudaSuccess;
                   }});
  });
}
