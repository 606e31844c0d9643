#include "python-free-bindings/c/src/handle.hpp"

#include <array>
#include <cstddef>
#include <thread>

namespace berth::c {
namespace {

// Shells of the handles that ended last. Never freed at exit: another thread may still use such a handle then.
constexpr std::size_t kRemembered = 256;
std::array<std::atomic<Handle*>, kRemembered> ended{};
std::atomic<std::size_t> next_ended{0};

}  // namespace

void retire(Handle* handle) noexcept {
  handle->kind_.store(0, std::memory_order_seq_cst);
  while (handle->visitors_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  handle->drop();
  handle->leave();
  const std::size_t place = next_ended.fetch_add(1, std::memory_order_relaxed) % kRemembered;
  delete ended[place].exchange(handle, std::memory_order_acq_rel);
}

}  // namespace berth::c
