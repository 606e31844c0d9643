#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/kernel/problem.hpp"
#include "cuda/device_columns.cuh"

namespace berth::cuda {

/// A problem whose columns are on the device.
struct DeviceProblem {
  kernel::ProblemView view;
};

/// The device's copy of a problem. It stays between calls and follows the host's columns: only what changed is sent.
class Mirror {
 public:
  /// Brings the device up to date; ordered on `stream`. The host's columns may change as soon as this returns; the next
  /// call must come after the stream is done.
  DeviceProblem follow(const kernel::ProblemView& problem, cudaStream_t stream);
  /// Bytes sent by the last call.
  std::size_t sent() const { return sent_; }

 private:
  template <class T>
  void follow_column(const T*& column, std::int64_t n);

  static constexpr std::size_t kMostColumns = 64;
  std::array<FollowedColumn, kMostColumns> columns_;
  std::size_t next_ = 0;
  std::size_t sent_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace berth::cuda
