#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

/// Threads that work on one problem together. A group body is a function of a Group and runs unchanged on all of them.
/// Groups are one CPU thread (SerialGroup), a thread block (cuda/block_group.cuh) and, in tests, real threads
/// (tests/support/thread_group.hpp). Rules for bodies: all threads take the same control flow around a collective call. A thread reads a
/// value that another wrote only after sync(). Collectives are barriers too.
namespace berth::kernel {

/// A two-word key, compared by hi, then lo. kNoKey is greater than every real key.
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
  /// The smallest key of all threads, in every thread.
  BERTH_HD Key min(Key v) { return v; }
  /// The smallest number of all threads, in every thread. A warp has an instruction for it, so it costs far less than that of keys.
  BERTH_HD std::uint32_t min(std::uint32_t v) { return v; }
  /// The sum over all threads, in every thread.
  BERTH_HD std::int64_t sum(std::int64_t v) { return v; }
  /// The sum over threads of smaller rank; `total` is the sum over all, in every thread.
  BERTH_HD std::int64_t scan(std::int64_t v, std::int64_t& total) {
    total = v;
    return 0;
  }
  /// The greatest over threads of smaller rank, INT64_MIN in the first; `greatest` is that of all, in every thread. cuda/block_group.cuh
  /// has none, as no body of larger blocks needs it.
  BERTH_HD std::int64_t scan_max(std::int64_t v, std::int64_t& greatest) {
    greatest = v;
    return INT64_MIN;
  }
  /// True in every thread when true in any thread.
  BERTH_HD bool any(bool v) { return v; }
};

}  // namespace berth::kernel
