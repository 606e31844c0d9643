#include "tests/support/fibers/fiber_block.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "tests/support/fibers/sanitizers.hpp"

namespace berth::test {
namespace {

std::size_t to_size(std::int32_t i) { return static_cast<std::size_t>(i); }

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
  std::uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::int32_t FiberBlock::rank() const { return rank_; }
std::int32_t FiberBlock::size() const { return size_; }
std::uint32_t FiberBlock::interval() const { return interval_; }

void FiberBlock::enter(void* of, std::int32_t rank) {
  auto& block = *static_cast<FiberBlock*>(of);
  acquire(&block.started_);
  (*block.body_)(rank);
  release(&block.done_);
  block.threads_[to_size(rank)].state = State::kEnded;
  ++block.ended_;
}

std::string FiberBlock::run(std::int32_t n, ThreadOrder order, std::uint64_t seed, const std::function<void(std::int32_t)>& body) {
  size_ = n;
  arrived_ = ended_ = 0;
  ++interval_;
  any_ = {};
  order_ = order;
  random_ = seed;
  threads_.assign(to_size(n), {});
  warps_.resize(to_size((n + kWarp - 1) / kWarp));
  for (Warp& warp : warps_) warp.arrived = 0;
  turns_.resize(to_size(n));
  std::iota(turns_.begin(), turns_.end(), 0);
  if (order == ThreadOrder::kDescending) std::reverse(turns_.begin(), turns_.end());
  arrange();
  body_ = &body;
  abandoned_ = false;
  why_.clear();
  release(&started_);
  pool_.prepare(n, enter, this);
  while (ended_ < n && !abandoned_) sweep();
  acquire(&done_);
  ++interval_;
  return why_;
}

/// Lets every thread that can go on do so once.
void FiberBlock::sweep() {
  moved_ = false;
  const std::size_t n = turns_.size();
  // A new order for each sweep would take longer than the sweep.
  const std::uint64_t chance = order_ == ThreadOrder::kRandom ? next_random(random_) : 0;
  const bool back = chance % 2 != 0;
  std::size_t at = chance / 2 % n;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t rank = turns_[at];
    if (back) {
      at = at == 0 ? n - 1 : at - 1;
    } else {
      at = at + 1 == n ? 0 : at + 1;
    }
    if (threads_[to_size(rank)].state != State::kReady) continue;
    moved_ = true;
    rank_ = rank;
    pool_.resume(rank);
    if (abandoned_) {
      if (why_.empty()) why_ = "threads of a block meet at different barriers: " + where(other_) + ", " + where(rank_);
      return;
    }
  }
  if (chance % 61 == 0) arrange();
  if (moved_) return;
  abandoned_ = true;
  why_ = deadlock();
}

void FiberBlock::arrange() {
  if (order_ != ThreadOrder::kRandom) return;
  for (std::size_t i = turns_.size(); i > 1; --i) std::swap(turns_[i - 1], turns_[next_random(random_) % i]);
}

void FiberBlock::wait(State state, const char* at, int line) {
  Thread& mine = threads_[to_size(rank_)];
  mine.state = state;
  mine.at = at;
  mine.line = line;
  const std::int32_t rank = rank_;
  pool_.yield();
  rank_ = rank;
}

void FiberBlock::pass_barrier() {
  const Thread& last = threads_[to_size(rank_)];
  for (std::int32_t rank = 0; rank < size_; ++rank) {
    Thread& thread = threads_[to_size(rank)];
    if (thread.line != last.line || (thread.at != last.at && std::strcmp(thread.at, last.at) != 0)) {
      other_ = rank;  // reported by the scheduler: what this thread holds is never destroyed
      abandoned_ = true;
      pool_.leave();
    }
    thread.state = State::kReady;
  }
  arrived_ = 0;
  ++interval_;
  any_[interval_ % 2] = false;  // filled from here to the next barrier; all have read it before this one
}

void FiberBlock::barrier(const char* at, int line) {
  char* const half = &released_[interval_ % 2];
  release(half);
  Thread& mine = threads_[to_size(rank_)];
  mine.at = at;
  mine.line = line;
  mine.state = State::kAtBarrier;
  if (++arrived_ == size_) pass_barrier();
  wait(mine.state, at, line);
  acquire(half);
}

bool FiberBlock::barrier_or(bool v, const char* at) {
  const std::uint32_t half = interval_ % 2;
  any_[half] = any_[half] || v;
  barrier(at);
  return any_[half];
}

const std::byte* FiberBlock::exchange(const void* mine, std::size_t bytes, const char* at) {
  const std::int32_t first = rank_ / kWarp * kWarp;
  Warp& warp = warps_[to_size(rank_ / kWarp)];
  Thread& thread = threads_[to_size(rank_)];
  auto& slots = warp.slots[thread.turn];
  char* const half = &warp.released[thread.turn];
  thread.turn ^= 1;
  std::memcpy(slots.data() + kSlot * to_size(rank_ - first), mine, bytes);
  release(half);
  const std::int32_t lanes = std::min(kWarp, size_ - first);
  State state = State::kAtWarp;
  thread.state = state;
  if (++warp.arrived == lanes) {
    warp.arrived = 0;
    for (std::int32_t lane = 0; lane < lanes; ++lane) threads_[to_size(first + lane)].state = State::kReady;
    state = State::kReady;
  }
  wait(state, at, 0);
  acquire(half);
  return slots.data();
}

void FiberBlock::abandon(std::string why) {
  abandoned_ = true;
  why_ = std::move(why);
  pool_.leave();
}

std::string FiberBlock::where(std::int32_t rank) const {
  const Thread& thread = threads_[to_size(rank)];
  std::string text = "thread " + std::to_string(rank) + " at " + (thread.at == nullptr ? "its start" : thread.at);
  if (thread.line != 0) text += ":" + std::to_string(thread.line);
  return text;
}

std::string FiberBlock::deadlock() const {
  std::string text = "deadlock: " + std::to_string(ended_) + " of " + std::to_string(size_) + " threads ended";
  const char* separator = ", the others wait: ";
  std::vector<std::string> seen;
  for (std::int32_t rank = 0; rank < size_; ++rank) {
    const Thread& thread = threads_[to_size(rank)];
    if (thread.state == State::kEnded) continue;
    const std::string at = std::string(thread.at) + ":" + std::to_string(thread.line);
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;  // one thread for each place
    seen.push_back(at);
    text += separator + where(rank);
    separator = ", ";
  }
  return text;
}

}  // namespace berth::test
