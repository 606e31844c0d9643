#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/check.hpp"
#include "cuda/excess.hpp"

namespace berth::cuda {

struct DeviceMemory {
  static cudaError_t allocate(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
  static cudaError_t free(void* data) { return cudaFree(data); }
};

/// Of the host; the GPU can read and write it directly.
struct PinnedMemory {
  static cudaError_t allocate(void** data, std::size_t bytes) { return cudaMallocHost(data, bytes); }
  static cudaError_t free(void* data) { return cudaFreeHost(data); }
};

/// Memory that grows, and shrinks where it was far too large for a while (excess.hpp). Both discard the contents. Move-only.
template <class T, class Memory>
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  /// Makes room for n elements, once in an operation. @param what  Names the memory in the error message.
  void reserve(std::size_t n, const char* what) {
    const bool shrinks = excess_.note(n * sizeof(T), capacity_ * sizeof(T));
    if (n <= capacity_ && !shrinks) return;
    const std::size_t room = shrinks ? std::max(n, excess_.largest() / sizeof(T)) : n;
    release();
    if (room == 0) return;
    check(Memory::allocate(reinterpret_cast<void**>(&data_), room * sizeof(T)), what);
    capacity_ = room;
  }
  void release() noexcept {
    if (data_ != nullptr) check_noexcept(Memory::free(data_));
    data_ = nullptr;
    capacity_ = 0;
    excess_ = {};
  }
  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  static_assert(std::is_trivially_copyable_v<T>, "filled by copies of bytes");
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
  Excess excess_;
};

template <class T>
using DeviceBuffer = Buffer<T, DeviceMemory>;
template <class T>
using PinnedBuffer = Buffer<T, PinnedMemory>;

}  // namespace berth::cuda
