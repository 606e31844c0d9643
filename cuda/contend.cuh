#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/kernel/contend/dense.hpp"
#include "berth/kernel/contend/index.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/product.hpp"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// Contention for links (docs/contention.md) on one device. Keeps its memory between calls, and sends only what changed.
class DeviceContention {
 public:
  /// Returns when all columns of the result that are wanted are on the host. At least one candidate.
  void run(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result,
           const Tuning& tuning, const Stream& stream);

 private:
  void upload(const kernel::ContendView& problem, const kernel::ContendRequest& request, cudaStream_t stream);
  void index(std::int32_t entries, cudaStream_t stream);
  bool dense(const kernel::ContendView& problem, const kernel::ContendRequest& request);
  /// Products of some candidates; `request` has the first of them first.
  void multiply(const kernel::ContendRequest& request, std::int32_t most_rows, cudaStream_t stream);
  void chunk(std::int32_t first, std::int32_t rows, std::int32_t most_rows, const kernel::ContendResult& result, const Stream& stream);

  std::array<FollowedColumn, 11> columns_;
  kernel::ContendView problem_{};  // on the device, as are these
  kernel::ContendRequest request_{};
  kernel::ContendIndex index_{};
  kernel::ContendDense dense_{};
  bool by_pairs_ = false, stores_products_ = false;
  ByteProduct product_;
  DeviceBuffer<std::byte> index_memory_, sort_, results_, dense_memory_;
};

}  // namespace berth::cuda
