#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/delay_replay/columns.hpp"
#include "berth/units.hpp"

namespace berth::kernel {

inline constexpr std::int64_t kDelayNever = INT64_MAX;
inline constexpr std::int32_t kMostDelayStages = kMaxLevels;  // the levels below the cluster, and no level

/// A job of a replay. Work left, as the job has it and as decisions see it: they may differ by what was rounded.
struct DelayJob {
  std::int64_t left;       // when it last got or lost GPUs
  std::int64_t seen_left;  // at `seen_at`
  std::int64_t seen_at;
  std::int64_t held;  // time with GPUs before `held_from`
  std::int64_t held_from;
  std::int64_t working_from;
  std::int64_t rate;        // at its place
  std::int64_t owed;        // cost of its next start
  std::int64_t paid;        // costs before `held_from`
  std::int64_t start, end;  // first start, end; kDelayNever: none yet
  std::int32_t first_part;  // what it holds, a list; -1: nothing
  std::int32_t slot;        // among the running jobs; -1: none
  std::int32_t starts, preemptions, moves;
  std::int32_t pays;  // 1: its seen work is read again with each decision, until it works
};

/// GPUs of a job on one node.
struct DelayPart {
  std::uint64_t mask;
  std::int32_t node, next;
};

/// A job that waits. Rows stand by (seen, since, job).
struct DelayWaiting {
  std::int64_t seen;   // Nw_sens
  std::int64_t since;  // when it lost its GPUs, or was submitted
  std::int64_t until;  // when its timer runs out
  std::int32_t job, gpus;
  std::int32_t stage;  // the rung that it waits for; n_rungs: none; -1: it has started
  std::int32_t pad;
};

/// A running job whose lease has ended.
struct DelayOffered {
  std::int64_t seen;
  std::int32_t job, displaced;
};

struct DelayShared {
  std::int32_t free_part;  // list of unused parts
  std::int32_t returns;    // 1: a displaced job found the GPUs that it had
  std::int32_t too_late;
  std::int32_t pad;
  std::int64_t starts, preemptions, moves, completed;
};

struct DelayReplayWorkspace {
  DelayShared* shared;
  DelayJob* job;              // [n_jobs]
  DelayWaiting* waiting;      // [n_jobs]
  std::uint64_t* free;        // [n_nodes]
  std::int32_t* node_free;    // [n_nodes] number of free GPUs
  std::int32_t* domain_free;  // [n_domains]
  DelayPart* part;            // [2 * GPUs]
  std::int32_t* run_job;      // [2 * GPUs] running jobs; displaced ones count until their position in the order
  std::int64_t* run_end;      // [2 * GPUs]
  std::int64_t* lease_end;    // [2 * GPUs]
  DelayOffered* offered;      // [GPUs]
  std::int32_t* listed;       // [GPUs] offered jobs that a job may displace, the last first
  std::int64_t n_gpus;
};

/// Allocates from the block, which may be device memory; with a null block it only counts. @returns its bytes.
inline std::size_t carve_delay_workspace(void* block, const DelayReplayView& v, std::int64_t gpus, DelayReplayWorkspace& ws) {
  BumpAllocator c{static_cast<std::byte*>(block)};
  ws.n_gpus = gpus;
  ws.shared = c.take<DelayShared>(1);
  ws.job = c.take<DelayJob>(v.n_jobs);
  ws.waiting = c.take<DelayWaiting>(v.n_jobs);
  ws.free = c.take<std::uint64_t>(v.n_nodes);
  ws.node_free = c.take<std::int32_t>(v.n_nodes);
  ws.domain_free = c.take<std::int32_t>(v.n_domains);
  ws.part = c.take<DelayPart>(2 * gpus);
  ws.run_job = c.take<std::int32_t>(2 * gpus);
  ws.run_end = c.take<std::int64_t>(2 * gpus);
  ws.lease_end = c.take<std::int64_t>(2 * gpus);
  ws.offered = c.take<DelayOffered>(gpus);
  ws.listed = c.take<std::int32_t>(gpus);
  return c.used;
}

/// GPUs of the cluster.
inline std::int64_t gpus_of(const DelayReplayView& v) {
  std::int64_t gpus = 0;
  for (std::int32_t n = 0; n < v.n_nodes; ++n) gpus += popcount(v.gpu_mask[n]);
  return gpus;
}

}  // namespace berth::kernel
