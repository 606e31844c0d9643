#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/place/place.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/mirror.cuh"
#include "cuda/tuning.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// One scheduling pass as its block sees it; all addresses are on the device.
struct PlaceArguments {
  kernel::PlaceRequest request;
  const kernel::TakenRow* taken;
  std::int32_t n_taken;
  kernel::PlaceWorkspace workspace;
  kernel::PlaceResult result;
};

/// Scheduling passes of one problem on one device, one thread block each. Keeps its memory between calls.
class Placer {
 public:
  /// Runs all tasks and returns when their results are on the host.
  /// It runs them in chunks when device memory is too small for all at once. Chunks never change an answer.
  /// @param host    The problem on the host.
  /// @param device  The same on the device, brought up to date on `stream`.
  void run(const kernel::ProblemView& host, const DeviceProblem& device, std::span<const cuda_abi::AbiPlaceTask> tasks,
           const Tuning& tuning, const Stream& stream);

 private:
  /// Memory that a chunk needs.
  struct Sizes {
    std::size_t passes = 0, results = 0, entries = 0, workspace = 0, inputs = 0;
    Sizes& operator+=(const Sizes& more);
    std::size_t bytes() const;
    std::size_t pinned() const;
  };
  static Sizes size_of(const kernel::ProblemView& problem, const cuda_abi::AbiPlaceTask& task);

  void run_chunk(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes, const Tuning& tuning);
  void upload(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes);
  void download(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes);
  void download_entries(std::span<const cuda_abi::AbiPlaceTask> tasks);

  const kernel::ProblemView* host_ = nullptr;
  const DeviceProblem* device_ = nullptr;
  const Stream* stream_ = nullptr;

  ColumnPack requests_;
  std::vector<std::size_t> places_;  // in the pack
  PinnedBuffer<PlaceArguments> host_arguments_;
  DeviceBuffer<PlaceArguments> arguments_;
  DeviceBuffer<std::byte> workspace_;
  DeviceBuffer<std::byte> columns_;  // every result column except the entries
  PinnedBuffer<std::byte> host_columns_;
  DeviceBuffer<kernel::PlacedRow> entries_, packed_;
  PinnedBuffer<kernel::PlacedRow> host_entries_;
  PinnedBuffer<std::int64_t> host_starts_;
  DeviceBuffer<std::int64_t> starts_;
};

}  // namespace berth::cuda
