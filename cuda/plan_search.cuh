#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/plan_search/workspace.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/graph.hpp"
#include "cuda/mirror.cuh"
#include "cuda/tuning.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// Home of an individual that no block is processing. All addresses are valid on the device, which also accesses pinned host memory.
struct PlanSearchHome {
  kernel::PlanSearchIndividual individual;
  std::byte* piece;  // all of its columns except the score
};

/// The memory of a block, on the device.
struct PlanSearchPlace {
  kernel::PlanSearchWorkspace workspace;
  std::byte *own, *parent;  // for individuals that are at home in the host's memory, if any are
};

/// Memory that the kernels of a search read and write.
struct PlanSearchMemory {
  kernel::PlanSearchView v;
  kernel::PlanSearchRequest request;
  std::int32_t individuals;
  std::int32_t near;                // the first N individuals have their home in device memory
  std::int32_t in_shared;           // 1: steps run in a block's shared memory
  std::size_t individual_bytes;     // a multiple of 16
  const std::int32_t* start_of;     // [individuals] kNone: a copy of the first
  std::int64_t* score;              // [individuals]
  PlanSearchHome* homes;            // [individuals]
  PlanSearchPlace* places;          // [blocks]
  kernel::PlanSearchResult result;  // `generations` counts while the search runs; -1: the start has no score yet
};

/// The search of `ones-plus` on one device, one block of one warp per individual.
/// Individuals that do not fit in device memory stay in host memory. As many blocks as run at once process them one after another.
/// Keeps its memory between calls.
class PlanSearcher {
 public:
  /// Runs the requested generations, or fewer when `stop` requests it. Returns when the best plan is on the host.
  /// @param device  The problem of the search on the device, brought up to date on `stream`.
  void run(const cuda_abi::AbiPlanSearchTask& task, const DeviceProblem& device, const Tuning& tuning, const Stream& stream);

 private:
  std::size_t pieces_bytes() const;
  std::size_t carve(const cuda_abi::AbiPlanSearchTask& task, std::byte* block);
  void divide(const cuda_abi::AbiPlanSearchTask& task, std::size_t room, std::int32_t most_blocks);
  void reserve(const cuda_abi::AbiPlanSearchTask& task, const Tuning& tuning);
  void upload(const cuda_abi::AbiPlanSearchTask& task, const DeviceProblem& device, const Stream& stream);
  void upload_homes(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream);
  void begin(const Stream& stream);
  void generation(const Stream& stream) const;
  void generations(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream);
  void download(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream);

  PlanSearchMemory memory_{};
  std::int32_t blocks_ = 0;
  std::byte* pieces_ = nullptr;  // homes on the device, then the copies of the blocks
  std::size_t individual_piece_ = 0, workspace_piece_ = 0, place_piece_ = 0, shared_bytes_ = 0;
  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  DeviceBuffer<std::byte> block_;
  PinnedBuffer<std::byte> far_;
  PinnedBuffer<PlanSearchHome> host_homes_;
  PinnedBuffer<PlanSearchPlace> host_places_;
  std::vector<std::int32_t> start_of_;
  Graph generation_;
};

}  // namespace berth::cuda
