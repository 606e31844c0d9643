#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "berth/kernel/base/group.hpp"

/// A thread block made of real threads and barriers. It runs group bodies as a GPU does, with any number of threads, without a GPU.
/// Under ThreadSanitizer a missing barrier in a body is a reported race.
namespace berth::test {

/// State that the threads of one block share.
class ThreadBlock {
 public:
  explicit ThreadBlock(std::int32_t size) : size_(size) {
    for (auto& half : keys_) half.resize(static_cast<std::size_t>(size));
    for (auto& half : values_) half.resize(static_cast<std::size_t>(size));
    const int error = pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(size));
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
  }
  ~ThreadBlock() { pthread_barrier_destroy(&barrier_); }
  ThreadBlock(const ThreadBlock&) = delete;
  ThreadBlock& operator=(const ThreadBlock&) = delete;

  std::int32_t size() const { return size_; }

  /// Returns once all threads have called it equally often; orders all their memory accesses.
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  friend class ThreadGroup;
  std::int32_t size_;
  // It sleeps at once. std::barrier and std::atomic::wait of libstdc++ 12 yield first.
  // With more threads than cores that causes ten times as many context switches.
  pthread_barrier_t barrier_;
  // Collectives alternate between the halves, so that one barrier each is enough.
  // A half is written again only two collectives later, when all threads have passed the barrier between and have read it.
  std::vector<kernel::Key> keys_[2];
  std::vector<std::int64_t> values_[2];
};

/// One thread's view of its block, with the interface of kernel::SerialGroup.
class ThreadGroup {
 public:
  ThreadGroup(ThreadBlock& block, std::int32_t rank) : block_(&block), rank_(rank) {}

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return block_->size(); }
  void sync() { block_->wait(); }

  kernel::Key min(kernel::Key v) {
    kernel::Key least = kernel::kNoKey;
    for (const kernel::Key& key : exchange(block_->keys_, v)) {
      if (key < least) least = key;
    }
    return least;
  }
  std::uint32_t min(std::uint32_t v) {
    std::int64_t least = UINT32_MAX;
    for (const std::int64_t value : exchange(block_->values_, std::int64_t{v})) least = std::min(least, value);
    return static_cast<std::uint32_t>(least);
  }
  std::int64_t sum(std::int64_t v) {
    std::int64_t total = 0;
    for (const std::int64_t value : exchange(block_->values_, v)) total += value;
    return total;
  }
  std::int64_t scan(std::int64_t v, std::int64_t& total) {
    std::int64_t before = 0;
    std::int32_t at = 0;
    total = 0;
    for (const std::int64_t value : exchange(block_->values_, v)) {
      if (at++ == rank_) before = total;
      total += value;
    }
    return before;
  }
  std::int64_t scan_max(std::int64_t v, std::int64_t& greatest) {
    std::int64_t before = INT64_MIN;
    std::int32_t at = 0;
    greatest = INT64_MIN;
    for (const std::int64_t value : exchange(block_->values_, v)) {
      if (at++ == rank_) before = greatest;
      greatest = std::max(greatest, value);
    }
    return before;
  }
  bool any(bool v) { return sum(v ? 1 : 0) != 0; }

 private:
  /// Stores `v` for this thread and returns the values of all threads.
  template <class T>
  const std::vector<T>& exchange(std::vector<T> (&halves)[2], T v) {
    std::vector<T>& half = halves[turn_];
    turn_ ^= 1;
    half[static_cast<std::size_t>(rank_)] = v;
    block_->wait();
    return half;
  }

  ThreadBlock* block_;
  std::int32_t rank_;
  int turn_ = 0;
};

/// Runs fn(group) on `size` threads that form one block. Returns when all have ended, and rethrows the first exception.
/// A body must not throw between collectives, because the other threads would wait for it.
template <class Fn>
void run_with_threads(std::int32_t size, const Fn& fn) {
  ThreadBlock block(size);
  std::mutex guard;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (std::int32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ThreadGroup group(block, rank);
        fn(group);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(guard);
        if (!first) first = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace berth::test
