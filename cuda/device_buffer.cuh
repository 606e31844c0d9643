#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/check.hpp"

namespace berth::cuda {

/// Device memory that grows and never shrinks; growing forgets the contents. Move-only.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  /// Room for n elements. @param what  For the message when there is no memory.
  void reserve(std::size_t n, const char* what) {
    if (n <= capacity_) return;
    release();
    check(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), what);
    capacity_ = n;
  }
  void release() noexcept {
    if (data_ != nullptr) check_noexcept(cudaFree(data_));
    data_ = nullptr;
    capacity_ = 0;
  }
  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// The same for host memory that the GPU can read and write directly.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  ~PinnedBuffer() { release(); }
  PinnedBuffer(PinnedBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  void reserve(std::size_t n, const char* what) {
    if (n <= capacity_) return;
    release();
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), n * sizeof(T)), what);
    capacity_ = n;
  }
  void release() noexcept {
    if (data_ != nullptr) check_noexcept(cudaFreeHost(data_));
    data_ = nullptr;
    capacity_ = 0;
  }
  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  static_assert(std::is_trivially_copyable_v<T>, "filled by copies of bytes");
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace berth::cuda
