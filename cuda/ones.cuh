#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/ones_candidate.hpp"
#include "berth/kernel/ones_layout.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "host/core/cuda_abi.hpp"

namespace berth::cuda {

/// What the kernels of an evolution read and write; all addresses are the device's.
struct OnesMemory {
  kernel::OnesView v;
  const std::int32_t* taken;              // [slots + 1] how many slots below have a job deployed
  const std::int32_t *turn_jobs, *fresh;  // by rank
  std::int32_t n_turns, n_fresh;
  std::int32_t *first, *count, *refreshed;  // [population * n_jobs]
  std::int64_t *left, *turn, *sorted_turn;  // [n_jobs], [n_turns], [n_turns]
  std::int32_t* turns;                      // [n_turns]
  std::int32_t* candidate;                  // [candidates * n_jobs] counts
  std::int64_t *score, *sorted_score;       // [candidates]
  std::int32_t *index, *sorted;             // [candidates] 0, 1, 2, ..; the same by score
  std::int64_t *best, *least;               // [population] scores; [generations]
  std::int32_t *generation, *made;          // [1] number of the next one; how many were made
  std::uint32_t* bits;                      // [candidates * words], null: they are in shared memory
  std::byte* workspace;                     // [population] pieces
  std::size_t workspace_piece;
};

/// ONES on one device: a thread block makes a candidate, another reorders a survivor. Keeps its memory between calls.
class OnesEvolver {
 public:
  /// Runs the generations asked for, or fewer when `stop` says so, and returns when the population is on the host.
  void run(const cuda_abi::EvolveTask& task, const Stream& stream);

 private:
  void upload(const cuda_abi::EvolveTask& task, const Stream& stream);
  void begin(const cuda_abi::EvolveTask& task, const Stream& stream);
  void generation(cudaStream_t stream);
  void generations(const cuda_abi::EvolveTask& task, const Stream& stream);
  void download(const cuda_abi::EvolveTask& task, const Stream& stream);

  OnesMemory memory_{};
  ColumnPack inputs_;
  DeviceBuffer<std::byte> block_, sort_;
  std::vector<std::int32_t> taken_, turn_jobs_, fresh_, index_;
};

}  // namespace berth::cuda
