#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/check.hpp"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// Runs tasks in order, in chunks that are as large as the memory of device and host allows and have at least one task.
/// @param own        bytes that the caller's buffers hold already
/// @param pinned     bytes of the host that a chunk may pin
/// @param size_of    (task) -> its needs: a type with `+=`, `bytes()` of the device and `pinned()` bytes of the host
/// @param run_chunk  (tasks, total size)
/// @throws CudaError where a single task does not fit, and what run_chunk throws
template <class Task, class SizeOf, class RunChunk>
void in_chunks(std::span<const Task> tasks, std::size_t own, std::size_t pinned, const Tuning& tuning, const SizeOf& size_of,
               const RunChunk& run_chunk) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "query free device memory");
  std::size_t room = (free + own) / 100 * static_cast<std::size_t>(tuning.memory_percent);
  for (std::size_t first = 0; first < tasks.size();) {
    auto size = size_of(tasks[first]);
    std::size_t last = first + 1;
    for (; last < tasks.size() && last - first < static_cast<std::size_t>(tuning.chunk_most); ++last) {
      auto more = size;
      more += size_of(tasks[last]);
      if (more.bytes() > room || more.pinned() > pinned) break;
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

/// Splits [0, n) into pieces of at most `most` elements each, or of one part: calls run(first part, last part).
/// @param starts  [parts + 1] where each part begins, ascending
template <class Run>
void in_pieces(std::span<const std::int64_t> starts, std::int64_t most, const Run& run) {
  for (std::size_t first = 0; first + 1 < starts.size();) {
    std::size_t last = first + 1;
    while (last + 1 < starts.size() && starts[last + 1] - starts[first] <= most) ++last;
    run(first, last);
    first = last;
  }
}

}  // namespace berth::cuda
