#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/ones/candidate.hpp"
#include "berth/kernel/ones/layout.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// Memory that the kernels of an evolution read and write; all addresses are on the device.
struct OnesDeviceMemory {
  kernel::OnesView v;
  kernel::OnesDeployed deployed;
  const std::int32_t *fill_jobs, *fresh;  // by rank
  std::int32_t n_fill, n_fresh;
  kernel::OnesResult result;                        // `generations` counts while the search runs
  std::int32_t* refreshed;                          // [population * n_jobs]
  std::int64_t *left, *fill_key, *sorted_fill_key;  // [n_jobs], [n_fill], [n_turns]
  std::int32_t* fill_order;                         // [n_fill]
  std::int32_t* candidate;                          // [candidates * n_jobs] counts
  std::int64_t *score, *sorted_score;               // [candidates]
  std::int32_t *index, *sorted;                     // [candidates] 0, 1, 2, ..; the same by score
  std::int32_t* generation;                         // [1] number of the next one
  std::uint32_t* bits;                              // [candidates * words], null: they are in shared memory
  std::byte* workspace;                             // [population] blocks of memory
  std::size_t workspace_piece;
};

/// ONES on one device: one warp makes a candidate, another reorders a survivor. Keeps its memory between calls.
class OnesSearcher {
 public:
  /// Runs the requested generations, or fewer when `stop` requests it. Returns when the population is on the host.
  void run(const cuda_abi::AbiOnesTask& task, const Stream& stream);

 private:
  void upload(const cuda_abi::AbiOnesTask& task, const Stream& stream);
  void begin(const cuda_abi::AbiOnesTask& task, const Stream& stream);
  void generation(cudaStream_t stream);
  void generations(const cuda_abi::AbiOnesTask& task, const Stream& stream);
  void download(const cuda_abi::AbiOnesTask& task, const Stream& stream);

  OnesDeviceMemory memory_{};
  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  DeviceBuffer<std::byte> block_, sort_;
  std::vector<std::int32_t> taken_, by_home_, fill_jobs_, fresh_, index_;
};

}  // namespace berth::cuda
