#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "cuda/check.hpp"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// Runs tasks in order, in chunks that are as large as device memory allows and have at least one task.
/// @param own        bytes that the caller's buffers hold already
/// @param size_of    (task) -> its needs: a type with `+=` and `bytes()`
/// @param run_chunk  (tasks, total size)
/// @throws CudaError where a single task does not fit, and what run_chunk throws
template <class Task, class SizeOf, class RunChunk>
void in_chunks(std::span<const Task> tasks, std::size_t own, const Tuning& tuning, const SizeOf& size_of, const RunChunk& run_chunk) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "query free device memory");
  std::size_t room = (free + own) / 100 * static_cast<std::size_t>(tuning.memory_percent);
  for (std::size_t first = 0; first < tasks.size();) {
    auto size = size_of(tasks[first]);
    std::size_t last = first + 1;
    for (; last < tasks.size() && last - first < static_cast<std::size_t>(tuning.chunk_most); ++last) {
      auto more = size;
      more += size_of(tasks[last]);
      if (more.bytes() > room) break;
      size = more;
    }
    try {
      run_chunk(tasks.subspan(first, last - first), size);
      first = last;
    } catch (const CudaError& error) {
      // Other processes may use the device too, so less memory may be available than was free.
      if (error.status() != cuda_abi::Status::kOutOfMemory || last - first == 1) throw;
      room = size.bytes() / 2;
    }
  }
}

}  // namespace berth::cuda
