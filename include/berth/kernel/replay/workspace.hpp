#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/replay/columns.hpp"

/// State that the threads of one replay share.
namespace berth::kernel {

/// Running jobs are in slots; a block of slots knows when something happens first in it.
inline constexpr std::int32_t kSlotBlock = 32;

/// The first waiting job of a line.
struct ReplayHead {
  std::int64_t key;
  std::int32_t job;       // -1: none waits
  std::int32_t position;  // in the order of jobs that have not run; -1: it was displaced
};

/// A running job. Slots of a pool are used from its first on, without gaps.
struct ReplaySlot {
  std::int64_t held_from, works_from, end;
  std::int32_t job;
  std::int32_t moved;  // 1: the cost until `works_from` is that of a move
  std::int32_t level;  // of kLevel, until `next`
};

/// What became of a job before. Only where jobs may be displaced.
struct ReplayPast {
  std::int64_t left, held, owed;  // work; time with GPUs; cost of the next start
  std::int64_t key;               // where it waits or was displaced in this decision
  std::int64_t start, restarting, moving;
  std::int32_t starts, preemptions, moves;
  std::int32_t slot;  // where it runs
};

/// A job that was displaced in this decision.
struct DisplacedRow {
  std::int32_t job;
  enum : std::int32_t { kUntried, kTried, kMoved } state;
};

/// Words that one thread passes to the others.
struct ReplayShared {
  std::int32_t n_due, n_displaced;
  std::int32_t stop;  // 1: all threads end
};

/// Memory of one replay besides problem and result.
struct ReplayWorkspace {
  ReplayShared* shared;     // [1]
  std::uint64_t* waiting;   // see waiting.hpp
  ReplayHead* head;         // [n_lines]
  std::int64_t* free;       // [n_pools] GPUs
  std::int32_t* gpu_begin;  // [n_pools + 1] GPUs, and slots, of the pools before
  std::int32_t* running;    // [n_pools] slots in use
  std::int32_t* due;        // [n_pools] pools that the next decision looks at
  std::int32_t* is_due;     // [n_pools] 1: it is among them
  std::int64_t* next;       // [slots] the next instant at which something happens to the job; kNever: none, or not in use
  std::int64_t* least;      // [blocks of slots] the least of them
  ReplaySlot* slot;         // [slots]
  // Only where jobs may be displaced.
  ReplayPast* past;         // [n_jobs]
  std::int32_t* heap;       // [n_jobs] of each line: jobs that wait and have run, a heap
  std::int32_t* heap_size;  // [n_lines]
  Key* last;                // [n_pools] no running job of the pool is behind this place
  std::int32_t* owner;      // [GPUs] see displace.hpp
  std::int32_t* prior;      // [GPUs] owners of the GPUs that were taken last, before
  std::int32_t* victim;     // [GPUs + 1] jobs that are to give way, the last of the order first; then -1
  std::int32_t* mark;       // [slots] 1: it is among them
  DisplacedRow* displaced;  // [GPUs]
};

/// Words of a set of n bits with all its levels.
BERTH_HD inline std::int64_t words_of_set(std::int64_t n) {
  std::int64_t words = 0;
  do {
    n = (n + 63) / 64;
    words += n;
  } while (n > 1);
  return words;
}

/// GPUs of all pools.
inline std::int64_t gpus_of(const ReplayView& v, const ReplayRequest& r) {
  std::int64_t gpus = 0;
  for (std::int32_t p = 0; p < v.n_pools; ++p) gpus += r.capacity[p];
  return gpus;
}

/// Allocates from the block, which may be device memory; with a null block it only counts.
/// @param gpus  As gpus_of. @param displaces  Jobs may be displaced. @returns its bytes.
inline std::size_t carve_replay_workspace(void* block, const ReplayView& v, std::int64_t gpus, bool displaces, ReplayWorkspace& ws) {
  BumpAllocator c{static_cast<std::byte*>(block)};
  const std::int64_t blocks = (gpus + kSlotBlock - 1) / kSlotBlock;
  ws.shared = c.take<ReplayShared>(1);
  ws.waiting = c.take<std::uint64_t>(words_of_set(v.n_jobs));
  ws.head = c.take<ReplayHead>(v.n_lines);
  ws.free = c.take<std::int64_t>(v.n_pools);
  ws.gpu_begin = c.take<std::int32_t>(std::int64_t{v.n_pools} + 1);
  ws.running = c.take<std::int32_t>(v.n_pools);
  ws.due = c.take<std::int32_t>(v.n_pools);
  ws.is_due = c.take<std::int32_t>(v.n_pools);
  ws.next = c.take<std::int64_t>(blocks * kSlotBlock);
  ws.least = c.take<std::int64_t>(blocks);
  ws.slot = c.take<ReplaySlot>(blocks * kSlotBlock);
  const std::int64_t jobs = displaces ? v.n_jobs : 0, held = displaces ? gpus : 0;
  ws.past = c.take<ReplayPast>(jobs);
  ws.heap = c.take<std::int32_t>(jobs);
  ws.heap_size = c.take<std::int32_t>(displaces ? v.n_lines : 0);
  ws.last = c.take<Key>(displaces ? v.n_pools : 0);
  ws.owner = c.take<std::int32_t>(held);
  ws.prior = c.take<std::int32_t>(held);
  ws.victim = c.take<std::int32_t>(held + 1);
  ws.mark = c.take<std::int32_t>(held);
  ws.displaced = c.take<DisplacedRow>(held);
  return c.used;
}

}  // namespace berth::kernel
