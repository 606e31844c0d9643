#include "cuda/device_columns.cuh"

#include <algorithm>
#include <cstring>

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;   // alignment of cudaMalloc, so that packed columns are as aligned as separate ones
constexpr std::size_t kBlock = 4096;  // bytes compared at a time

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void FollowedColumn::follow(const void* from, std::size_t bytes, cudaStream_t stream) {
  sent_ = 0;
  const auto* source = static_cast<const std::byte*>(from);
  const bool shrinks = excess_.note(bytes, host_.capacity());
  if (bytes > host_.capacity() || device_.data() == nullptr || shrinks) {
    excess_ = {};
    host_.release();
    device_.release();
    const std::size_t room = round_up(std::max(bytes + bytes / 4, kAlign), kAlign);
    bytes_ = 0;
    host_.reserve(room, "reserve host memory for a column");
    device_.reserve(room, "reserve device memory for a column");
  }
  // The first and the last block that differ; a block that the device does not have yet differs.
  const std::size_t both = std::min(bytes, bytes_);
  std::size_t first = 0, last = bytes;
  const auto same = [&](std::size_t at, std::size_t end) { return std::memcmp(host_.data() + at, source + at, end - at) == 0; };
  while (first < both && same(first, std::min(both, first + kBlock))) first = std::min(both, first + kBlock);
  if (bytes <= bytes_) {
    while (last > first) {
      const std::size_t at = std::max(first, (last - 1) / kBlock * kBlock);
      if (!same(at, last)) break;
      last = at;
    }
  }
  bytes_ = 0;  // unless all of this succeeds
  if (first < last) {
    std::memcpy(host_.data() + first, source + first, last - first);
    sent_ = last - first;
    check(cudaMemcpyAsync(device_.data() + first, host_.data() + first, sent_, cudaMemcpyHostToDevice, stream), "upload a column");
  }
  bytes_ = bytes;
}

void ColumnPack::clear() {
  pieces_.clear();
  known_.clear();
  bytes_ = 0;
}

std::size_t ColumnPack::add(const void* from, std::size_t bytes) {
  if (bytes == 0) return 0;
  const auto range = known_.equal_range(from);
  for (auto it = range.first; it != range.second; ++it) {
    if (pieces_[it->second].bytes == bytes) return pieces_[it->second].place;
  }
  const std::size_t place = bytes_;
  known_.emplace(from, pieces_.size());
  pieces_.push_back({from, bytes, place});
  bytes_ += round_up(bytes, kAlign);
  return place;
}

void ColumnPack::upload(cudaStream_t stream) {
  host_.reserve(std::max(bytes_, kAlign), "reserve host memory for a batch");
  device_.reserve(std::max(bytes_, kAlign), "reserve device memory for a batch");
  for (const Piece& piece : pieces_) std::memcpy(host_.data() + piece.place, piece.from, piece.bytes);
  if (bytes_ != 0) check(cudaMemcpyAsync(device_.data(), host_.data(), bytes_, cudaMemcpyHostToDevice, stream), "upload a batch");
}

}  // namespace berth::cuda
