#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/fibers/fiber_pool.hpp"

/// A thread block on one host thread: its threads are fibers, which run one after another from barrier to barrier.
///
/// Promise: the order of threads is the chosen one, so a run repeats exactly. A barrier that not all threads reach is
/// reported, with what each waits at, instead of waiting for ever. For the thread sanitizer only barriers order accesses.
namespace berth::test {

enum class ThreadOrder : std::uint8_t { kAscending, kDescending, kRandom };

class FiberBlock {
 public:
  static constexpr std::int32_t kWarp = 32;

  /// Runs body(rank) on n threads. @returns empty, or why the block did not end. What its threads held is then not destroyed.
  std::string run(std::int32_t n, ThreadOrder order, std::uint64_t seed, const std::function<void(std::int32_t)>& body);

  // The rest is for the threads of the block.

  // Not inline: the thread sanitizer does not look into this class (tests/support/CMakeLists.txt).
  std::int32_t rank() const;
  std::int32_t size() const;
  /// Grows at each barrier of the block, and at the start of a block.
  std::uint32_t interval() const;
  /// Returns when all threads have called it. @param at  What a report says; threads must not meet at different ones.
  void barrier(const char* at, int line = 0);
  /// The same, and true when any thread says so.
  bool barrier_or(bool v, const char* at);
  /// Gives every thread of a warp the values of all, `kSlot` bytes apart. They stay until the next exchange but one.
  static constexpr std::size_t kSlot = 32;
  const std::byte* exchange(const void* mine, std::size_t bytes, const char* at);
  /// Ends the block at once, with that report.
  [[noreturn]] void abandon(std::string why);
  bool on_a_stack(std::uintptr_t address) const { return pool_.on_a_stack(address); }

 private:
  enum class State : std::uint8_t { kReady, kAtBarrier, kAtWarp, kEnded };
  struct Thread {
    State state = State::kReady;
    std::uint8_t turn = 0;  // of its exchanges
    const char* at = nullptr;
    int line = 0;
  };
  struct Warp {
    std::int32_t arrived = 0;
    std::array<char, 2> released{};  // addresses for the thread sanitizer
    std::array<std::array<std::byte, kSlot * kWarp>, 2> slots{};
  };

  static void enter(void* of, std::int32_t rank);
  void sweep();
  void arrange();
  void wait(State state, const char* at, int line);
  void pass_barrier();
  std::string deadlock() const;
  std::string where(std::int32_t rank) const;

  FiberPool pool_;
  std::int32_t size_ = 0, rank_ = 0, arrived_ = 0, ended_ = 0;
  std::int32_t other_ = 0;  // waits at another barrier than rank_
  std::uint32_t interval_ = 0;
  std::array<bool, 2> any_{};
  std::array<char, 2> released_{};
  char started_ = 0, done_ = 0;
  ThreadOrder order_ = ThreadOrder::kAscending;
  std::uint64_t random_ = 0;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::int32_t> turns_;  // the threads in their order
  const std::function<void(std::int32_t)>* body_ = nullptr;
  bool moved_ = false, abandoned_ = false;
  std::string why_;
};

}  // namespace berth::test
