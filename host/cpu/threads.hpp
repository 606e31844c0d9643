#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace berth::cpu {

/// Threads that help with one task after another, because starting a thread takes as long as a short task.
///
/// Plain std::thread and atomics: ThreadSanitizer does not understand the barriers of libgomp.
/// The threads end with this object, so none exists between calls, when a host may fork or block signals (docs/c-api.md).
class Threads {
 public:
  /// Uses at most `n` threads, including the caller's. If the system refuses more, it uses those that exist.
  explicit Threads(std::int64_t n);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t n() const { return helpers_.size() + 1; }

  /// Calls work(0), and work(lane) on each helper that arrives meanwhile, with its own lane in [1, n()). Returns when all have returned.
  ///
  /// Late helpers are not awaited: on a busy machine that takes longer than the work, and work(0) leaves nothing to do.
  /// A helper that finishes early may come again. Must not throw.
  template <class Work>
  void run(const Work& work) {
    hand_out([](const void* of, std::size_t lane) { (*static_cast<const Work*>(of))(lane); }, &work);
  }

 private:
  using Call = void (*)(const void* work, std::size_t lane);

  void hand_out(Call call, const void* work);
  void help(std::size_t lane);
  bool enter();

  Call call_ = nullptr;  // null: the helpers end
  const void* work_ = nullptr;
  // On separate cache lines, so that waiting for one is not disturbed by writes to the other.
  alignas(64) std::atomic<std::uint32_t> round_{0};   // number of tasks handed out
  alignas(64) std::atomic<std::uint32_t> inside_{0};  // number of helpers at work, plus kOpen while more may join
  alignas(64) std::vector<std::thread> helpers_;
};

}  // namespace berth::cpu
