#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/plus_memory.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/graph.hpp"
#include "cuda/mirror.cuh"
#include "cuda/tuning.hpp"
#include "host/core/cuda_abi.hpp"

namespace berth::cuda {

/// Where an individual is while nobody works on it. All addresses are the device's, which reads and writes pinned memory of the host, too.
struct PlusHome {
  kernel::PlusIndividual individual;
  std::byte* piece;  // all of its columns but the score
};

/// The memory of a block, on the device.
struct PlusPlace {
  kernel::PlusWorkspace workspace;
  std::byte *own, *mate;  // for individuals that are at home in the host's memory, if any are
};

/// What the kernels of a search read and write.
struct PlusMemory {
  kernel::PlusView v;
  kernel::PlusRequest request;
  std::int32_t individuals;
  std::int32_t near;             // the first so many are at home in device memory
  std::int32_t in_shared;        // 1: steps are made in a block's shared memory
  std::size_t individual_bytes;  // a multiple of 16
  const std::int32_t* gene_of;   // [individuals] kNone: a copy of the first
  std::int64_t* score;           // [individuals]
  PlusHome* homes;               // [individuals]
  PlusPlace* places;             // [blocks]
  kernel::PlusResult result;     // `generations` counts while the search runs; -1: the beginning has no score yet
};

/// The search of `ones-plus` on one device, a thread block for each individual. Those for whom there is no room in device memory stay in
/// the host's: as many blocks as run at once work on them one after another. Keeps its memory between calls.
class PlanEvolver {
 public:
  /// Makes the generations asked for, or fewer when `stop` says so, and returns when the best plan is on the host.
  /// @param device  The search's problem on the device, brought up to date on `stream`.
  void run(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Tuning& tuning, const Stream& stream);

 private:
  std::size_t pieces_bytes() const;
  std::size_t carve(const cuda_abi::PlusTask& task, std::byte* block);
  void divide(const cuda_abi::PlusTask& task, std::size_t room, std::int32_t most_blocks);
  void reserve(const cuda_abi::PlusTask& task, const Tuning& tuning);
  void upload(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Stream& stream);
  void upload_homes(const cuda_abi::PlusTask& task, const Stream& stream);
  void begin(const Stream& stream);
  void generation(const Stream& stream) const;
  void generations(const cuda_abi::PlusTask& task, const Stream& stream);
  void download(const cuda_abi::PlusTask& task, const Stream& stream);

  PlusMemory memory_{};
  std::int32_t blocks_ = 0;
  std::byte* pieces_ = nullptr;  // of those at home on the device, then of the blocks
  std::size_t individual_piece_ = 0, workspace_piece_ = 0, place_piece_ = 0, shared_bytes_ = 0;
  ColumnPack inputs_;
  DeviceBuffer<std::byte> block_;
  PinnedBuffer<std::byte> far_;
  PinnedBuffer<PlusHome> host_homes_;
  PinnedBuffer<PlusPlace> host_places_;
  std::vector<std::int32_t> gene_of_;
  Graph generation_;
};

}  // namespace berth::cuda
