#include "bench/costs/fibers.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace berth::bench {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;

std::vector<std::byte> stacks;
ucontext_t fibers[kMostThreads], caller;
const std::function<void(std::int32_t)>* body_of_all = nullptr;
std::int32_t running = 0;
kernel::Key keys[2][kMostThreads];
std::int64_t values[2][kMostThreads];
std::int32_t turn[kMostThreads];

void enter() {
  const std::int32_t mine = running;
  (*body_of_all)(mine);
  // All have passed the same barriers, so they end in order.
  running = mine + 1;
  if (running < group_threads()) setcontext(&fibers[running]);
  setcontext(&caller);
}

/// When a thread resumes here, all others have reached the barrier, so none has overtaken it.
void wait() {
  const std::int32_t mine = running;
  if (mine == 0 && counting() != nullptr) ++counting()->barriers;
  running = (mine + 1) % group_threads();
  swapcontext(&fibers[mine], &fibers[running]);
}

/// Each warp writes its part, and reads those of all. A single warp shuffles.
std::int64_t shared_parts() {
  const std::int64_t warps = group_threads() / 32;
  return warps == 1 ? 0 : warps + warps * warps;
}
void through_shared(std::int64_t bytes) {
  if (running == 0 && counting() != nullptr) counting()->exchanged += bytes * shared_parts();
}

template <class T>
const T* exchange(T (&halves)[2][kMostThreads], std::int32_t rank, T v) {
  through_shared(sizeof(T));
  T* const half = halves[turn[rank]];
  turn[rank] ^= 1;
  half[rank] = v;
  wait();
  return half;
}

}  // namespace

std::int32_t group_threads() {
  static const std::int32_t threads = [] {
    const char* const wanted = std::getenv("BERTH_COSTS_THREADS");
    if (wanted == nullptr || std::string(wanted) == "128") return kMostThreads;
    if (std::string(wanted) == "32") return 32;
    std::fprintf(stderr, "BERTH_COSTS_THREADS=%s: 32 or 128\n", wanted);
    std::exit(2);
  }();
  return threads;
}

void CountedGroup::sync() { wait(); }

kernel::Key CountedGroup::min(kernel::Key v) {
  const kernel::Key* all = exchange(keys, rank_, v);
  return *std::min_element(all, all + group_threads());
}

std::uint32_t CountedGroup::min(std::uint32_t v) {
  const std::int64_t* all = exchange(values, rank_, std::int64_t{v});
  return static_cast<std::uint32_t>(*std::min_element(all, all + group_threads()));
}

std::int64_t CountedGroup::sum(std::int64_t v) {
  const std::int64_t* all = exchange(values, rank_, v);
  std::int64_t total = 0;
  for (std::int32_t i = 0; i < group_threads(); ++i) total += all[i];
  return total;
}

std::int64_t CountedGroup::scan(std::int64_t v, std::int64_t& total) {
  const std::int64_t* all = exchange(values, rank_, v);
  std::int64_t before = 0;
  total = 0;
  for (std::int32_t i = 0; i < group_threads(); ++i) {
    if (i == rank_) before = total;
    total += all[i];
  }
  return before;
}

std::int64_t CountedGroup::scan_max(std::int64_t v, std::int64_t& greatest) {
  const std::int64_t* all = exchange(values, rank_, v);
  const std::int32_t n = group_threads();
  greatest = *std::max_element(all, all + n);
  return rank_ == 0 ? INT64_MIN : *std::max_element(all, all + rank_);
}

bool CountedGroup::any(bool v) {
  if (running == 0 && counting() != nullptr) counting()->exchanged -= std::int64_t{sizeof(std::int64_t)} * shared_parts();
  return sum(v ? 1 : 0) != 0;  // on a GPU the barrier itself gives this result
}

void run_fibers(const std::function<void(std::int32_t)>& body) {
  stacks.resize(kStack * static_cast<std::size_t>(kMostThreads));
  body_of_all = &body;
  std::fill(turn, turn + group_threads(), 0);
  for (std::int32_t i = 0; i < group_threads(); ++i) {
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
  stacks.resize(kStack * static_cast<std::size_t>(kMostThreads));
  return {stacks.data(), stacks.size()};
}

}  // namespace berth::bench
