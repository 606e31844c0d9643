#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/kernel/contend/index.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// Contention for links (docs/contention.md) on one device. Keeps its memory between calls, and sends only what changed.
class Contender {
 public:
  /// Returns when all columns of the result that are wanted are on the host. At least one candidate.
  void run(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result,
           const Tuning& tuning, const Stream& stream);

 private:
  void upload(const kernel::ContendView& problem, const kernel::ContendRequest& request, cudaStream_t stream);
  void index(std::int32_t entries, cudaStream_t stream);
  void chunk(std::int32_t first, std::int32_t rows, const kernel::ContendResult& result, const Stream& stream);

  std::array<FollowedColumn, 11> columns_;
  kernel::ContendView problem_{};  // on the device, as are these
  kernel::ContendRequest request_{};
  kernel::ContendIndex index_{};
  DeviceBuffer<std::byte> index_memory_, sort_, results_;
};

}  // namespace berth::cuda
