#include "bench/costs/fibers.hpp"

#include <ucontext.h>

#include <algorithm>
#include <vector>

namespace berth::bench {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;
constexpr std::int64_t kWarps = kThreads / 32;

std::vector<std::byte> stacks;
ucontext_t fibers[kThreads], caller;
const std::function<void(std::int32_t)>* body_of_all = nullptr;
std::int32_t running = 0;
kernel::Key keys[2][kThreads];
std::int64_t values[2][kThreads];
std::int32_t turn[kThreads];

void enter() {
  const std::int32_t mine = running;
  (*body_of_all)(mine);
  // All have passed the same barriers, so they end in order.
  running = mine + 1;
  if (running < kThreads) setcontext(&fibers[running]);
  setcontext(&caller);
}

/// When a thread resumes here, all others have reached the barrier, so none has overtaken it.
void wait() {
  const std::int32_t mine = running;
  if (mine == 0 && counting() != nullptr) ++counting()->barriers;
  running = (mine + 1) % kThreads;
  swapcontext(&fibers[mine], &fibers[running]);
}

/// Each warp writes its part, and reads those of all.
void through_shared(std::int64_t bytes) {
  if (running == 0 && counting() != nullptr) counting()->exchanged += bytes * (kWarps + kWarps * kWarps);
}

template <class T>
const T* exchange(T (&halves)[2][kThreads], std::int32_t rank, T v) {
  through_shared(sizeof(T));
  T* const half = halves[turn[rank]];
  turn[rank] ^= 1;
  half[rank] = v;
  wait();
  return half;
}

}  // namespace

void CountedGroup::sync() { wait(); }

kernel::Key CountedGroup::min(kernel::Key v) {
  const kernel::Key* all = exchange(keys, rank_, v);
  return *std::min_element(all, all + kThreads);
}

std::int64_t CountedGroup::sum(std::int64_t v) {
  const std::int64_t* all = exchange(values, rank_, v);
  std::int64_t total = 0;
  for (std::int32_t i = 0; i < kThreads; ++i) total += all[i];
  return total;
}

std::int64_t CountedGroup::scan(std::int64_t v, std::int64_t& total) {
  const std::int64_t* all = exchange(values, rank_, v);
  std::int64_t before = 0;
  total = 0;
  for (std::int32_t i = 0; i < kThreads; ++i) {
    if (i == rank_) before = total;
    total += all[i];
  }
  return before;
}

bool CountedGroup::any(bool v) {
  if (running == 0 && counting() != nullptr) counting()->exchanged -= std::int64_t{sizeof(std::int64_t)} * (kWarps + kWarps * kWarps);
  return sum(v ? 1 : 0) != 0;  // on a GPU the barrier itself gives this result
}

void run_fibers(const std::function<void(std::int32_t)>& body) {
  stacks.resize(kStack * kThreads);
  body_of_all = &body;
  std::fill(turn, turn + kThreads, 0);
  for (std::int32_t i = 0; i < kThreads; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks.data() + kStack * static_cast<std::size_t>(i);
    fibers[i].uc_stack.ss_size = kStack;
    fibers[i].uc_link = nullptr;
    makecontext(&fibers[i], enter, 0);
  }
  running = 0;
  swapcontext(&caller, &fibers[0]);
}

std::int32_t current_fiber() { return running; }

Range fiber_stacks() {
  stacks.resize(kStack * kThreads);
  return {stacks.data(), stacks.size()};
}

}  // namespace berth::bench
