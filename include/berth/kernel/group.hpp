#pragma once

#include <cstdint>

#include "berth/kernel/hd.hpp"

/// Threads that work on one problem together. A group body is a function of a Group and runs unchanged with one
/// CPU thread (SerialGroup), with a thread block (cuda/block_group.cuh) and, in tests, with a block made of real
/// threads (tests/support/thread_group.hpp). Rules for bodies: control flow around every collective call is the same in
/// all threads; a value written by one thread is read by another only after sync(); collectives are barriers too.
namespace berth::kernel {

/// A two-word key, compared by hi, then lo. Greater than every real key: kNoKey.
struct Key {
  std::uint64_t hi, lo;
};
inline constexpr Key kNoKey{UINT64_MAX, UINT64_MAX};

BERTH_HD inline bool operator<(Key a, Key b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }
BERTH_HD inline bool operator==(Key a, Key b) { return a.hi == b.hi && a.lo == b.lo; }

/// One thread: every collective is the identity.
struct SerialGroup {
  BERTH_HD std::int32_t rank() const { return 0; }
  BERTH_HD std::int32_t size() const { return 1; }
  BERTH_HD void sync() {}
  /// The least key of all threads, in every thread.
  BERTH_HD Key min(Key v) { return v; }
  /// The sum over all threads, in every thread.
  BERTH_HD std::int64_t sum(std::int64_t v) { return v; }
  /// The sum over threads of smaller rank; `total` is the sum over all, in every thread.
  BERTH_HD std::int64_t scan(std::int64_t v, std::int64_t& total) {
    total = v;
    return 0;
  }
  /// True in every thread when true in any.
  BERTH_HD bool any(bool v) { return v; }
};

}  // namespace berth::kernel
