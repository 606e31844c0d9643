#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "berth/kernel/base/columns.hpp"
#include "cuda/device_buffer.cuh"

namespace berth::cuda {

/// One column on the device that mirrors a column on the host. It keeps a copy of the last state and sends only what differs.
/// Between two decisions most columns, and most of each column, stay the same.
class FollowedColumn {
 public:
  /// Brings the device up to date with the n bytes at `from`, ordered on `stream`.
  /// `from` may change as soon as this returns. The next call must come after the stream is done.
  void follow(const void* from, std::size_t bytes, cudaStream_t stream);
  void* device() const { return device_.data(); }
  /// Bytes sent by the last call.
  std::size_t sent() const { return sent_; }

 private:
  PinnedBuffer<std::byte> host_;
  DeviceBuffer<std::byte> device_;
  std::size_t bytes_ = 0;
  std::size_t sent_ = 0;
  Excess excess_;
};

/// Columns of the caller packed into one transfer. A column that is added twice is sent once.
class ColumnPack {
 public:
  void clear();
  /// Adds n bytes and returns their position in the pack. `from` must not change until `upload`.
  std::size_t add(const void* from, std::size_t bytes);
  /// Bytes of the columns added so far.
  std::size_t bytes() const { return bytes_; }
  void upload(cudaStream_t stream);
  /// A visitor of columns (berth/kernel/base/columns.hpp) that adds them and appends their positions to `places`.
  auto adding(std::vector<std::size_t>& places) {
    return [this, &places](std::int64_t n, const auto* column) {
      places.push_back(add(column, column == nullptr ? 0 : static_cast<std::size_t>(n) * sizeof(*column)));
    };
  }
  /// A visitor that replaces the addresses of those columns by the device's, in the same order; after `upload`. Null stays null.
  auto placing(const std::size_t*& place) const {
    return [this, &place](std::int64_t, auto*& column) {
      if (column != nullptr) column = at<kernel::ElementOf<decltype(column)>>(*place);
      ++place;
    };
  }
  /// Device address of the data at that position; after `upload`.
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
