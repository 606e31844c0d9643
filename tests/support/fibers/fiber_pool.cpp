#include "tests/support/fibers/fiber_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "tests/support/fibers/sanitizers.hpp"

#if !defined(__x86_64__) || defined(BERTH_PORTABLE_FIBERS)
#include <ucontext.h>
#endif

namespace berth::test {
namespace {

#ifdef BERTH_ADDRESS_SANITIZER
constexpr std::size_t kStack = std::size_t{256} << 10;
#else
constexpr std::size_t kStack = std::size_t{64} << 10;
#endif
constexpr std::size_t kPage = 4096;
constexpr std::int32_t kGrow = 32;  // fibers mapped at a time

thread_local FiberPool* pool_of_thread = nullptr;

/// Tops are at different places of a page. Otherwise the stacks of a block meet in the same few lines of a cache, and a
/// barrier takes five times as long.
void* stack_top(std::byte* stack, std::int32_t fiber) { return stack + kStack - static_cast<std::size_t>(fiber) * 832 % 8192; }

}  // namespace

#if defined(__x86_64__) && !defined(BERTH_PORTABLE_FIBERS)

// Saves what a function must keep, and goes on where the other stack was left. A system call, which swapcontext has,
// takes ten times as long.
extern "C" void berth_switch_stack(void** from, void* to);
asm(R"(
.text
.hidden berth_switch_stack
.globl berth_switch_stack
.type berth_switch_stack, @function
berth_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size berth_switch_stack, .-berth_switch_stack
)");

namespace {

/// A stack that "returns" into `main`.
void* new_context(std::byte* stack, std::int32_t fiber, void (*main)()) {
  auto* top = static_cast<void**>(stack_top(stack, fiber));
  *--top = nullptr;  // where main would return; also aligns
  *--top = reinterpret_cast<void*>(main);
  for (int kept = 0; kept < 6; ++kept) *--top = nullptr;
  return top;
}

void switch_stack(void** from, void* to) { berth_switch_stack(from, to); }
void free_context(void* /*unused*/) {}

}  // namespace

#else

namespace {

void* new_context(std::byte* stack, std::int32_t fiber, void (*main)()) {
  auto* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = static_cast<std::size_t>(static_cast<std::byte*>(stack_top(stack, fiber)) - stack);
  context->uc_link = nullptr;
  makecontext(context, main, 0);
  return context;
}

void switch_stack(void** from, void* to) {
  if (*from == nullptr) *from = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(*from), static_cast<ucontext_t*>(to));
}
void free_context(void* context) { delete static_cast<ucontext_t*>(context); }

}  // namespace

#endif

FiberPool::~FiberPool() {
  for (Fiber& fiber : fibers_) {
#ifdef BERTH_THREAD_SANITIZER
    if (fiber.thread != nullptr) __tsan_destroy_fiber(fiber.thread);
#endif
    free_context(fiber.saved);
    unpoison(fiber.stack, kStack);
  }
  free_context(caller_saved_);
  for (std::byte* map : maps_) munmap(map, static_cast<std::size_t>(kGrow) * (kStack + kPage));
}

void FiberPool::grow(std::int32_t n) {
  while (fibers_.size() < static_cast<std::size_t>(n)) {
    constexpr std::size_t kBytes = static_cast<std::size_t>(kGrow) * (kStack + kPage);
    void* map = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    maps_.push_back(static_cast<std::byte*>(map));
    for (std::int32_t i = 0; i < kGrow; ++i) {
      Fiber fiber;
      fiber.stack = maps_.back() + static_cast<std::size_t>(i) * (kStack + kPage) + kPage;
      if (mprotect(fiber.stack, kStack, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
      fibers_.push_back(fiber);
    }
    const auto at = reinterpret_cast<std::uintptr_t>(map);
    first_byte_ = first_byte_ == 0 ? at : std::min(first_byte_, at);
    last_byte_ = std::max(last_byte_, at + kBytes - 1);
  }
}

bool FiberPool::on_a_stack(std::uintptr_t address) const {
  if (address < first_byte_ || address > last_byte_) return false;
  return std::any_of(maps_.begin(), maps_.end(), [&](const std::byte* map) {
    return address - reinterpret_cast<std::uintptr_t>(map) < static_cast<std::size_t>(kGrow) * (kStack + kPage);
  });
}

void FiberPool::prepare(std::int32_t n, Entry entry, void* of) {
  grow(n);
  entry_ = entry;
  of_ = of;
  for (std::int32_t i = 0; i < n; ++i) {
    Fiber& fiber = fibers_[static_cast<std::size_t>(i)];
    unpoison(fiber.stack, kStack);
    free_context(fiber.saved);
    fiber.saved = new_context(fiber.stack, i, main);
    fiber.fake_stack = nullptr;
#ifdef BERTH_THREAD_SANITIZER
    if (fiber.thread == nullptr) fiber.thread = __tsan_create_fiber(0);
#endif
  }
}

void FiberPool::resume(std::int32_t fiber) {
  Fiber& to = fibers_[static_cast<std::size_t>(fiber)];
  running_ = fiber;
  pool_of_thread = this;
#ifdef BERTH_THREAD_SANITIZER
  caller_thread_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.thread, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef BERTH_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&caller_fake_stack_, to.stack, kStack);
#endif
  switch_stack(&caller_saved_, to.saved);
#ifdef BERTH_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(caller_fake_stack_, nullptr, nullptr);
#endif
}

void FiberPool::switch_back(bool for_good) {
  Fiber& from = fibers_[static_cast<std::size_t>(running_)];
#ifdef BERTH_THREAD_SANITIZER
  __tsan_switch_to_fiber(caller_thread_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef BERTH_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack, caller_stack_, caller_stack_bytes_);
#else
  static_cast<void>(for_good);
#endif
  switch_stack(&from.saved, caller_saved_);
#ifdef BERTH_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(from.fake_stack, &caller_stack_, &caller_stack_bytes_);
#endif
}

void FiberPool::leave() {
  switch_back(true);
  std::abort();  // it is not resumed
}

void FiberPool::main() noexcept {
  FiberPool& pool = *pool_of_thread;
#ifdef BERTH_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &pool.caller_stack_, &pool.caller_stack_bytes_);
#endif
  pool.entry_(pool.of_, pool.running_);
  pool.leave();
}

}  // namespace berth::test
