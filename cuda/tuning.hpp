#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::cuda {

/// Settings that change speed but never an answer, by compute capability. Threads are multiples of 32, at most 512.
struct Tuning {
  std::int32_t capability;      // 10 * major + minor; a row applies from this capability up to that of the next row
  std::int32_t one_threads;     // block of a single scheduling pass, for latency
  std::int32_t batch_threads;   // block of each scheduling pass of a batch, for throughput
  std::int32_t memory_percent;  // of the free device memory, for a chunk of scheduling passes or a population of plans
  std::int32_t chunk_most;      // maximum number of scheduling passes in a chunk
  std::int32_t search_shared;   // bytes: smaller individuals of a plan search are processed in shared memory; 0: none
};

/// Starting values, not yet measured: docs/gpu-todo.md says how to measure them.
inline constexpr Tuning kTuning[] = {
    {0, 512, 32, 60, 65536, 0}, {90, 512, 32, 75, 65536, 18 << 10},  // beside 12 individuals of 168 registers a thread
};

/// Block of one demand, on every device.
inline constexpr int kScoreThreads = 128;

/// Bytes of the host that a chunk of a batch may pin; a single task that needs more has them.
inline constexpr std::size_t kMostPinned = std::size_t{1} << 30;

/// Bytes of it for the entries of passes, which are downloaded piece by piece.
inline constexpr std::size_t kMostPinnedEntries = std::size_t{1} << 28;

inline const Tuning& tuning_for(std::int32_t capability) {
  const Tuning* best = &kTuning[0];
  for (const Tuning& row : kTuning) {
    if (row.capability <= capability) best = &row;
  }
  return *best;
}

}  // namespace berth::cuda
