#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/plus_memory.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/graph.hpp"
#include "cuda/mirror.cuh"
#include "host/core/cuda_abi.hpp"

namespace berth::cuda {

/// An individual and the memory of the block that works on it; all addresses are the device's.
struct PlusSlot {
  kernel::PlusIndividual individual;
  kernel::PlusWorkspace workspace;
};

/// What the kernels of a search read and write; all addresses are the device's.
struct PlusMemory {
  kernel::PlusView v;
  kernel::PlusRequest request;
  const std::int32_t* gene_of;  // [individuals] kNone: a copy of the first
  PlusSlot* slots;              // [individuals]
  kernel::PlusResult result;    // `generations` counts while the search runs; -1: the beginning has no score yet
};

/// The search of `ones-plus` on one device, a thread block for each individual. Keeps its memory between calls.
class PlanEvolver {
 public:
  /// Makes the generations asked for, or fewer when `stop` says so, and returns when the best plan is on the host.
  /// @param device  The search's problem on the device, brought up to date on `stream`.
  void run(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Stream& stream);

 private:
  void reserve(const cuda_abi::PlusTask& task);
  void upload(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Stream& stream);
  void upload_slots(const cuda_abi::PlusTask& task, const Stream& stream);
  void begin(const Stream& stream);
  void generation(const Stream& stream) const;
  void generations(const cuda_abi::PlusTask& task, const Stream& stream);
  void download(const cuda_abi::PlusTask& task, const Stream& stream);

  PlusMemory memory_{};
  std::byte* pieces_ = nullptr;  // of the individuals, each followed by its workspace
  std::size_t individual_piece_ = 0, workspace_piece_ = 0;
  ColumnPack inputs_;
  DeviceBuffer<std::byte> block_;
  PinnedBuffer<PlusSlot> host_slots_;
  std::vector<std::int32_t> gene_of_;
  Graph generation_;
};

}  // namespace berth::cuda
