#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/problem.hpp"
#include "cuda/device_columns.cuh"

namespace berth::cuda {

/// A problem whose columns are on the device.
struct DeviceProblem {
  kernel::ProblemView view;
};

/// The device copy of a problem. It persists between calls and mirrors the host columns: only changes are sent.
class Mirror {
 public:
  /// Brings the device up to date, ordered on `stream`.
  /// The host columns may change as soon as this returns. The next call must come after the stream is done.
  DeviceProblem follow(const kernel::ProblemView& problem, cudaStream_t stream);
  /// Bytes sent by the last call.
  std::size_t sent() const { return sent_; }

 private:
  static constexpr std::size_t kMostColumns = 64;
  std::array<FollowedColumn, kMostColumns> columns_;
  std::size_t sent_ = 0;
};

}  // namespace berth::cuda
