#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/carver.hpp"
#include "berth/kernel/plus.hpp"
#include "berth/kernel/walk_workspace.hpp"

/// The memory of a search: that of each individual, and that of each block of threads.
namespace berth::kernel {

/// A plan with places, and what finds room in it.
struct PlusIndividual {
  WalkState s;
  std::int32_t* owner;        // [GPUs] job, kNone: nobody's of the search
  std::int32_t* row;          // [n_jobs] kNone: has nothing
  std::int32_t* entry_begin;  // [n_jobs] rows of `entries`
  std::int32_t* entry_end;    // [n_jobs]
  std::uint8_t* at_home;      // [n_jobs] 1: lies where it runs
  std::int64_t* worth;        // [n_jobs] of who has something
  PlacedRow* entries;         // [plus_entries]
  std::int32_t* open;         // [n_jobs] the first n_open: jobs that have not the row they want, in any order
  std::int32_t* open_at;      // [n_jobs] place in that list, kNone
  std::int32_t* counts;       // [3] n_entries, n_open, steps to be forced
  std::int64_t* score;        // [1]
};

/// A job whose row or place was changed by the step in hand.
struct PlusChange {
  std::int32_t job, row, entry_begin, entry_end;  // as they were
  std::int32_t at_home;
};

struct PlusWorkspace {
  Scratch scratch;
  std::int32_t* known;         // [n_demands] round in which it did not fit
  std::int32_t* parent;        // [n_blocks] of blocks that belong together
  std::int64_t* gain;          // [n_blocks] of a component
  std::uint8_t* mark;          // [n_jobs] lies otherwise in the other plan, and better
  std::int64_t* queue_before;  // [n_queues * (n_types + 1)]
  PlacedRow* packed;           // [GPUs] entries without the gaps
  PlusChange* changes;         // [kMostPlusMoved + 1 + kPlusOffers]
  std::int64_t* told;          // [1] what one thread tells all
};

/// A search has so many GPUs at most.
inline std::int64_t plus_gpus(const ProblemView& p) { return p.n_nodes > 0 ? p.gpu_begin[p.n_nodes] : 0; }

/// Entries of an individual: those in use, those of a step, and the gaps between.
BERTH_HD inline std::int64_t plus_entries(std::int64_t gpus) { return 3 * gpus; }

namespace detail {

inline PlusIndividual carve_plus_individual(Carver& c, const PlusView& v) {
  const ProblemView& p = v.problem;
  const std::int64_t gpus = plus_gpus(p);
  PlusIndividual x{};
  x.s = carve_state(c, p, most_gpus_per_node(p), 0);
  // No share is taken or given back, so that all read those of the problem and nobody writes them.
  x.s.used_ppm = const_cast<std::int32_t*>(p.gpu_used_ppm);
  x.s.used_memory = const_cast<std::int64_t*>(p.gpu_used_memory);
  x.owner = c.take<std::int32_t>(gpus);
  x.row = c.take<std::int32_t>(v.n_jobs);
  x.entry_begin = c.take<std::int32_t>(v.n_jobs);
  x.entry_end = c.take<std::int32_t>(v.n_jobs);
  x.at_home = c.take<std::uint8_t>(v.n_jobs);
  x.worth = c.take<std::int64_t>(v.n_jobs);
  x.entries = c.take<PlacedRow>(plus_entries(gpus));
  x.open = c.take<std::int32_t>(v.n_jobs);
  x.open_at = c.take<std::int32_t>(v.n_jobs);
  x.counts = c.take<std::int32_t>(3);
  x.score = c.take<std::int64_t>(1);
  return x;
}

inline PlusWorkspace carve_plus_workspace(Carver& c, const PlusView& v) {
  const ProblemView& p = v.problem;
  PlusWorkspace ws{};
  ws.scratch = carve_scratch(c, p);
  ws.known = c.take<std::int32_t>(p.n_demands);
  ws.parent = c.take<std::int32_t>(v.n_blocks);
  ws.gain = c.take<std::int64_t>(v.n_blocks);
  ws.mark = c.take<std::uint8_t>(v.n_jobs);
  ws.queue_before = c.take<std::int64_t>(std::int64_t{p.n_queues} * (p.n_types + 1));
  ws.packed = c.take<PlacedRow>(plus_gpus(p));
  ws.changes = c.take<PlusChange>(kMostPlusMoved + 1 + kPlusOffers);
  ws.told = c.take<std::int64_t>(1);
  return ws;
}

}  // namespace detail

/// Bytes of one individual, a multiple of 16. Host only.
inline std::size_t plus_individual_bytes(const PlusView& v) {
  Carver counter{nullptr};
  detail::carve_plus_individual(counter, v);
  return (counter.used + 15) / 16 * 16;
}

inline std::size_t plus_workspace_bytes(const PlusView& v) {
  Carver counter{nullptr};
  detail::carve_plus_workspace(counter, v);
  return (counter.used + 15) / 16 * 16;
}

/// Host only: reads the host's problem; the block, aligned to 16, may be device memory.
inline PlusIndividual carve_plus_individual(void* block, const PlusView& v) {
  Carver carver{static_cast<std::byte*>(block)};
  return detail::carve_plus_individual(carver, v);
}

inline PlusWorkspace carve_plus_workspace(void* block, const PlusView& v) {
  Carver carver{static_cast<std::byte*>(block)};
  return detail::carve_plus_workspace(carver, v);
}

}  // namespace berth::kernel
