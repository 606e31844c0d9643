#pragma once

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/replay/workspace.hpp"

/// Waiting jobs of a replay. A line has a set of those that have not run, in the order of its keys, and a heap of those
/// that have: their keys are known only then. One thread changes them.
namespace berth::kernel {

/// The place of a job in an order, as a key of a group's minimum.
/// @param last  Any number below 2^32 that tells apart what is compared.
BERTH_HD inline Key place_key(std::int64_t key, std::int32_t job, std::uint32_t last) {
  return {static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63), static_cast<std::uint64_t>(job) << 32 | last};
}
BERTH_HD inline std::int32_t job_of(const Key& place) { return static_cast<std::int32_t>(place.lo >> 32); }
BERTH_HD inline std::int32_t last_of(const Key& place) { return static_cast<std::int32_t>(place.lo & UINT32_MAX); }

/// A set of numbers below n: bits, and above each level a bit for each of its words.
struct LevelledSet {
  std::uint64_t* words;
  std::int64_t n;

  BERTH_HD void insert(std::int64_t i) const {
    std::uint64_t* level = words;
    for (std::int64_t size = n;; i /= 64) {
      size = (size + 63) / 64;
      const bool was_empty = level[i / 64] == 0;
      level[i / 64] |= std::uint64_t{1} << (i % 64);
      if (!was_empty || size == 1) return;
      level += size;
    }
  }
  BERTH_HD void erase(std::int64_t i) const {
    std::uint64_t* level = words;
    for (std::int64_t size = n;; i /= 64) {
      size = (size + 63) / 64;
      level[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      if (level[i / 64] != 0 || size == 1) return;
      level += size;
    }
  }
  /// The least number from i on; -1: none. O(levels).
  BERTH_HD std::int64_t next(std::int64_t i) const {
    std::uint64_t* level = words;
    std::int64_t size = n;
    std::int32_t up = 0;
    for (;; ++up) {
      size = (size + 63) / 64;
      if (i / 64 >= size) return -1;
      const std::uint64_t bits = level[i / 64] >> (i % 64) << (i % 64);
      if (bits != 0) {
        i = i / 64 * 64 + lowest(bits);
        break;
      }
      if (size == 1) return -1;
      level += size;
      i = i / 64 + 1;
    }
    for (; up > 0; --up) {
      // The level below this one has a word for each of its bits.
      std::int64_t below = n;
      level = words;
      for (std::int32_t l = 0; l < up; ++l) {
        below = (below + 63) / 64;
        if (l < up - 1) level += below;
      }
      i = i * 64 + lowest(level[i]);
    }
    return i;
  }
};

/// The waiting jobs. One thread calls these functions.
struct WaitingJobs {
  const ReplayView& v;
  const ReplayRequest& r;
  const ReplayWorkspace& w;

  BERTH_HD LevelledSet fresh() const { return {w.waiting, v.n_jobs}; }
  /// Of a job that has not run.
  BERTH_HD std::int64_t first_key(std::int32_t job) const { return r.key != nullptr ? r.key[job] : 0; }

  BERTH_HD static bool is_before(std::int64_t key, std::int32_t job, const ReplayHead& other) {
    return other.job < 0 || key < other.key || (key == other.key && job < other.job);
  }

  /// A job that has not run.
  BERTH_HD void add(std::int32_t job) const {
    fresh().insert(r.position[job]);
    ReplayHead& head = w.head[v.line[job]];
    const std::int64_t key = first_key(job);
    if (is_before(key, job, head)) head = {key, job, r.position[job]};
  }

  /// A job that was displaced, by `past.key`.
  BERTH_HD void add_again(std::int32_t job) const {
    const std::int32_t line = v.line[job];
    std::int32_t* const heap = w.heap + v.line_begin[line];
    std::int32_t at = w.heap_size[line]++;
    for (; at > 0 && is_earlier(job, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = job;
    if (is_before(w.past[job].key, job, w.head[line])) w.head[line] = {w.past[job].key, job, -1};
  }

  /// Removes the first job of a line.
  BERTH_HD void remove_first(std::int32_t line) const {
    ReplayHead& head = w.head[line];
    std::int64_t from = v.line_begin[line];
    if (head.position >= 0) {
      fresh().erase(head.position);
      from = std::int64_t{head.position} + 1;
    } else {
      pop(line);
    }
    head.job = -1;
    const std::int64_t next = fresh().next(from);
    if (next >= 0 && next < v.line_begin[line + 1]) {
      const std::int32_t job = r.job_at[next];
      head = {first_key(job), job, static_cast<std::int32_t>(next)};
    }
    if (r.kind == ReplayKey::kFixed || w.heap_size[line] == 0) return;
    const std::int32_t again = w.heap[v.line_begin[line]];
    if (is_before(w.past[again].key, again, head)) head = {w.past[again].key, again, -1};
  }

 private:
  BERTH_HD bool is_earlier(std::int32_t a, std::int32_t b) const {
    const std::int64_t x = w.past[a].key, y = w.past[b].key;
    return x != y ? x < y : a < b;
  }
  BERTH_HD void pop(std::int32_t line) const {
    std::int32_t* const heap = w.heap + v.line_begin[line];
    const std::int32_t n = --w.heap_size[line], job = heap[n];
    std::int32_t at = 0;
    for (std::int32_t child = 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && is_earlier(heap[child + 1], heap[child])) ++child;
      if (!is_earlier(heap[child], job)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = job;
  }
};

}  // namespace berth::kernel
