#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace berth::cpu {

/// Threads that help with one piece of work after another: starting one takes as long as a short piece.
///
/// Plain std::thread and atomics: ThreadSanitizer does not understand libgomp's barriers. They end with this, and nothing keeps one from
/// call to call: none of ours is there where a host forks or blocks signals (docs/c-api.md).
class Threads {
 public:
  /// At most `n`, the caller's included. A machine that refuses more is served by those there are.
  explicit Threads(std::int64_t n);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t n() const { return helpers_.size() + 1; }

  /// Calls work(0), and on each helper that comes while that runs work(lane), lane in [1, n()) being its own; returns when all have.
  ///
  /// Who comes late is not waited for, as on a busy machine that would take longer than the work: work(0) leaves nothing to begin. A
  /// helper that is done early may come again. Must not throw.
  template <class Work>
  void run(const Work& work) {
    hand_out([](const void* of, std::size_t lane) { (*static_cast<const Work*>(of))(lane); }, &work);
  }

 private:
  using Call = void (*)(const void* work, std::size_t lane);

  void hand_out(Call call, const void* work);
  void help(std::size_t lane);
  bool enter();

  Call call_ = nullptr;  // null: the end
  const void* work_ = nullptr;
  // Apart, so that who waits for one is not disturbed by the other.
  alignas(64) std::atomic<std::uint32_t> round_{0};   // pieces handed out
  alignas(64) std::atomic<std::uint32_t> inside_{0};  // helpers at work, and kOpen while more may come
  alignas(64) std::vector<std::thread> helpers_;
};

}  // namespace berth::cpu
