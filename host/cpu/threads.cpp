#include "host/cpu/threads.hpp"

#include <exception>

namespace berth::cpu {
namespace {

constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

/// Returns once `value` differs from `old`.
/// Sleeping and waking take as long as the parts of a search, so the thread first yields the core for a while.
void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int kYields = 200;
  for (int i = 0; i < kYields; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Threads::Threads(std::int64_t n) {
  if (n > 1) helpers_.reserve(static_cast<std::size_t>(n - 1));
  while (static_cast<std::int64_t>(this->n()) < n) {
    try {
      helpers_.emplace_back([this, lane = this->n()] { help(lane); });
    } catch (const std::exception&) {  // no thread could be created, or no memory for one
      break;
    }
  }
}

Threads::~Threads() {
  call_ = nullptr;
  inside_.store(kOpen, std::memory_order_release);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Threads::hand_out(Call call, const void* work) {
  call_ = call;
  work_ = work;
  inside_.store(kOpen, std::memory_order_release);
  round_.fetch_add(1);
  round_.notify_all();
  call(work, 0);
  for (std::uint32_t left = inside_.fetch_and(~kOpen) & ~kOpen; left != 0; left = inside_.load(std::memory_order_acquire)) {
    await_change(inside_, left);
  }
}

/// Whether work may begin; once it may, the caller waits for it.
bool Threads::enter() {
  std::uint32_t seen = inside_.load(std::memory_order_relaxed);
  while ((seen & kOpen) != 0) {
    if (inside_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

void Threads::help(std::size_t lane) {
  for (std::uint32_t round = 0;;) {
    await_change(round_, round);
    round = round_.load(std::memory_order_acquire);
    if (!enter()) continue;
    if (call_ == nullptr) return;
    call_(work_, lane);
    if (inside_.fetch_sub(1) == 1) inside_.notify_one();
  }
}

}  // namespace berth::cpu
