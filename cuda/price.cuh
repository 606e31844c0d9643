#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/price/state.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// One choice as its warp sees it; all addresses are on the device.
struct PriceArguments {
  kernel::PriceView problem;
  kernel::PriceRequest request;
  kernel::PriceWorkspace workspace;
  kernel::PriceResult result;
};

/// Choices of shapes by prices on one device, a block of one warp each. Keeps its memory between calls.
class Pricer {
 public:
  /// Runs all tasks and returns when their results are on the host.
  /// It runs them in chunks when device memory is too small for all at once. Chunks never change an answer.
  /// Columns that several tasks share are sent once per chunk.
  void run(std::span<const cuda_abi::AbiPriceTask> tasks, const Tuning& tuning, const Stream& stream);

 private:
  /// Memory that a chunk needs.
  struct Sizes {
    std::size_t tasks = 0, results = 0, workspace = 0, inputs = 0;
    Sizes& operator+=(const Sizes& more);
    std::size_t bytes() const;
    std::size_t pinned() const;
  };
  static Sizes size_of(const cuda_abi::AbiPriceTask& task);

  void run_chunk(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream);
  void upload(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream);
  void download(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream);

  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  PinnedBuffer<PriceArguments> host_arguments_;
  DeviceBuffer<PriceArguments> arguments_;
  DeviceBuffer<std::byte> workspace_, results_;
  PinnedBuffer<std::byte> host_results_;
};

}  // namespace berth::cuda
