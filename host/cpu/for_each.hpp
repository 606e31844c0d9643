#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "host/cpu/threads.hpp"

/// The only code of the CPU backend that loops over threads.
namespace berth::cpu {

/// Calls body(i, lane) once for each i in [0, n), in any order, and returns when all are done. Each thread has its own lane of threads.n().
///
/// A thread that is idle takes the next `grain` consecutive items, because items take unequal time. Bodies must not throw.
template <class Body>
void for_each_in_lanes(Threads& threads, std::int64_t n, std::int64_t grain, const Body& body) {
  std::atomic<std::int64_t> next{0};
  threads.run([&](std::size_t lane) {
    for (;;) {
      const std::int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= n) return;
      const std::int64_t end = std::min(n, begin + grain);
      for (std::int64_t i = begin; i < end; ++i) body(i, lane);
    }
  });
}

/// The same for body(i) once, on at most `threads` threads started for it. Fewer than two runs do not justify a thread.
template <class Body>
void for_each_n(int threads, std::int64_t n, std::int64_t grain, const Body& body) {
  Threads started(std::min<std::int64_t>(threads, (n + grain - 1) / grain));
  for_each_in_lanes(started, n, grain, [&](std::int64_t i, std::size_t) { body(i); });
}

}  // namespace berth::cpu
