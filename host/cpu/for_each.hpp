#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

/// The only place of the CPU backend that loops over threads. Plain std::thread: ThreadSanitizer does not
/// understand libgomp's barriers.
namespace berth::cpu {

/// Calls body(i) once for each i in [0, n), on at most `threads` threads, in any order, and returns when all are done.
///
/// Threads take runs of `grain` consecutive items; fewer than two runs are not worth a thread. Bodies must not throw.
/// A machine that refuses more threads is served by those there are.
template <class Body>
void for_each_n(int threads, std::int64_t n, std::int64_t grain, const Body& body) {
  const std::int64_t runs = (n + grain - 1) / grain;
  const std::int64_t useful = std::min<std::int64_t>(threads, runs);
  if (useful <= 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (;;) {
      const std::int64_t run = next.fetch_add(1, std::memory_order_relaxed);
      if (run >= runs) return;
      const std::int64_t end = std::min(n, (run + 1) * grain);
      for (std::int64_t i = run * grain; i < end; ++i) body(i);
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<std::size_t>(useful - 1));
  for (std::int64_t t = 1; t < useful; ++t) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace berth::cpu
