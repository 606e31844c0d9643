#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Functions that run on stacks of their own and pass control back and forth on one host thread: the threads of a block.
///
/// Promise: only `resume`, `yield` and `leave` pass control, so a run depends on nothing but the order of these calls.
/// The address sanitizer knows the stacks. For the thread sanitizer each fiber is a thread, and passing control orders
/// nothing: only barriers do (fiber_block.hpp). So a missing barrier is a reported race in whatever order fibers run.
namespace berth::test {

class FiberPool {
 public:
  using Entry = void (*)(void* of, std::int32_t fiber);

  FiberPool() = default;
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// Fibers 0..n-1 will call `entry(of, fiber)` when first resumed. What they did before is forgotten: nothing is unwound.
  void prepare(std::int32_t n, Entry entry, void* of);
  /// Runs a fiber until it yields, leaves or ends. Not on a fiber.
  void resume(std::int32_t fiber);
  /// On a fiber: goes back to `resume`, and returns when the fiber is resumed.
  void yield() { switch_back(false); }
  /// On a fiber: goes back to `resume` for good.
  [[noreturn]] void leave();
  /// Whether the address is on the stack of a fiber.
  bool on_a_stack(std::uintptr_t address) const;

 private:
  struct Fiber {
    std::byte* stack = nullptr;  // lowest address; below it is a page that must not be touched
    void* saved = nullptr;       // where it goes on
    void* fake_stack = nullptr;  // of the address sanitizer
    void* thread = nullptr;      // of the thread sanitizer
  };

  void grow(std::int32_t n);
  void switch_back(bool for_good);
  static void main() noexcept;

  std::vector<Fiber> fibers_;
  std::vector<std::byte*> maps_;
  std::uintptr_t first_byte_ = 0, last_byte_ = 0;
  std::int32_t running_ = -1;
  Entry entry_ = nullptr;
  void* of_ = nullptr;
  void* caller_saved_ = nullptr;
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  [[maybe_unused]] void* caller_thread_ = nullptr;
};

}  // namespace berth::test
