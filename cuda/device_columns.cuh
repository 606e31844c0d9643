#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "cuda/device_buffer.cuh"

namespace berth::cuda {

/// One column on the device that follows a column on the host. It keeps what it sent last, and sends only the part that
/// differs: from one decision to the next most columns, and most of each, stay as they are.
class FollowedColumn {
 public:
  /// Brings the device up to date with the n bytes at `from`; ordered on `stream`.
  /// `from` may be changed as soon as this returns; the next call must come after the stream is done.
  void follow(const void* from, std::size_t bytes, cudaStream_t stream);
  void* device() const { return device_.data(); }
  /// Bytes sent by the last call.
  std::size_t sent() const { return sent_; }

 private:
  PinnedBuffer<std::byte> host_;
  DeviceBuffer<std::byte> device_;
  std::size_t bytes_ = 0;
  std::size_t sent_ = 0;
};

/// Columns of the caller packed into one transfer. A column that is added twice is sent once.
class ColumnPack {
 public:
  void clear();
  /// Adds n bytes; returns their place in the pack. `from` must stay as it is until `upload`.
  std::size_t add(const void* from, std::size_t bytes);
  /// Bytes that the columns added so far take.
  std::size_t bytes() const { return bytes_; }
  void upload(cudaStream_t stream);
  /// Device address of what stands at that place; after `upload`.
  template <class T>
  T* at(std::size_t place) const {
    return reinterpret_cast<T*>(device_.data() + place);
  }

 private:
  struct Piece {
    const void* from;
    std::size_t bytes, place;
  };
  std::vector<Piece> pieces_;
  std::unordered_multimap<const void*, std::size_t> known_;  // address -> index in pieces_
  std::size_t bytes_ = 0;
  PinnedBuffer<std::byte> host_;
  DeviceBuffer<std::byte> device_;
};

}  // namespace berth::cuda
