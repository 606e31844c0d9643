#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/replay/workspace.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// One replay as its warp sees it; all addresses are on the device.
struct ReplayArguments {
  kernel::ReplayRequest request;
  kernel::ReplayWorkspace workspace;
  kernel::ReplayResult result;
};

/// Replays of a trace on one device, one warp each. Keeps its memory between calls.
class Replayer {
 public:
  /// Runs all tasks and returns when their results are on the host.
  /// It runs them in chunks when device memory is too small for all at once. Chunks never change an answer.
  /// Columns that several tasks share are sent once per chunk.
  void run(const kernel::ReplayView& problem, std::span<const cuda_abi::AbiReplayTask> tasks, const Tuning& tuning, const Stream& stream);

 private:
  /// Memory that a chunk needs.
  struct Sizes {
    std::size_t tasks = 0, results = 0, workspace = 0, inputs = 0;
    Sizes& operator+=(const Sizes& more);
    std::size_t bytes() const;
    std::size_t pinned() const;
  };
  Sizes size_of(const cuda_abi::AbiReplayTask& task) const;

  void run_chunk(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream);
  kernel::ReplayView upload(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream);
  void download(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream);

  const kernel::ReplayView* host_ = nullptr;
  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  PinnedBuffer<ReplayArguments> host_arguments_;
  DeviceBuffer<ReplayArguments> arguments_;
  DeviceBuffer<std::byte> workspace_, results_;
  PinnedBuffer<std::byte> host_results_;
};

}  // namespace berth::cuda
