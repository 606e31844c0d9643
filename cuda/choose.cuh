#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/price_state.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"
#include "host/core/cuda_abi.hpp"

namespace berth::cuda {

/// One choice as its block sees it; all addresses are the device's.
struct ChooseSlot {
  kernel::ChoiceView problem;
  kernel::ChoiceRequest request;
  kernel::PriceWorkspace workspace;
  kernel::ChoiceResult result;
};

/// Choices of shapes by prices on one device, a thread block each; keeps its memory between calls.
class Chooser {
 public:
  /// Runs all tasks and returns when their results are on the host. When the device has not enough memory for all at once they run in
  /// chunks; chunks never change an answer. Columns that several tasks share are sent once a chunk.
  void run(std::span<const cuda_abi::ChooseTask> tasks, const Tuning& tuning, const Stream& stream);

 private:
  /// What a chunk takes.
  struct Sizes {
    std::size_t tasks = 0, types = 0, jobs = 0, workspace = 0, inputs = 0;
    Sizes& operator+=(const Sizes& more);
    std::size_t bytes() const;
  };
  static Sizes size_of(const cuda_abi::ChooseTask& task);

  void run_chunk(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Tuning& tuning, const Stream& stream);
  void upload(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Stream& stream);
  void download(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Stream& stream);

  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  PinnedBuffer<ChooseSlot> host_slots_;
  DeviceBuffer<ChooseSlot> slots_;
  DeviceBuffer<std::byte> workspace_, results_;
  PinnedBuffer<std::byte> host_results_;
};

}  // namespace berth::cuda
