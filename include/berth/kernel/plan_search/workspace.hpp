#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/place/workspace.hpp"
#include "berth/kernel/plan_search/columns.hpp"

/// The memory of a search: per individual, and per block of threads.
namespace berth::kernel {

/// A plan with places, and the index that finds room in it.
struct PlanSearchIndividual {
  PassState s;
  std::int32_t* owner;         // [GPUs] job, kNone: no job of the search
  std::int32_t* option;        // [n_jobs] kNone: no GPUs
  std::int32_t* entry_begin;   // [n_jobs] rows of `entries`
  std::int32_t* entry_end;     // [n_jobs]
  std::uint8_t* at_home;       // [n_jobs] 1: at its current place
  std::int64_t* placed_value;  // [n_jobs] of the jobs that have GPUs
  PlacedRow* entries;          // [plan_search_entries]
  std::int32_t* open;          // [n_jobs] the first n_open: jobs that lack their preferred option, in any order
  std::int32_t* open_at;       // [n_jobs] position in that list, kNone
  std::int32_t* counts;        // [3] n_entries, n_open, steps to be forced
  std::int64_t* score;         // [1]
};

/// A job whose option or place the current step changed.
struct PlanSearchChange {
  std::int32_t job, option, entry_begin, entry_end;  // values before the step
  std::int32_t at_home;
};

struct PlanSearchWorkspace {
  Scratch scratch;
  std::int32_t* known;         // [n_demands] round in which it did not fit
  std::int32_t* parent;        // [n_blocks] union-find of blocks
  std::int64_t* gain;          // [n_blocks] of a component
  std::uint8_t* mark;          // [n_jobs] has another and better place in the other plan
  std::int64_t* queue_before;  // [n_queues * (n_types + 1)]
  PlacedRow* packed;           // [GPUs] entries without gaps
  PlanSearchChange* changes;   // [kMostPlanSearchMoved + 1 + kPlanSearchOffers]
  std::int64_t* shared;        // [1] what one thread passes to all
};

/// Maximum number of GPUs in a search.
inline std::int64_t plan_search_gpus(const ProblemView& p) { return p.n_nodes > 0 ? p.gpu_begin[p.n_nodes] : 0; }

/// Entries of an individual: those in use, those of a step, and gaps.
BERTH_HD inline std::int64_t plan_search_entries(std::int64_t gpus) { return 3 * gpus; }

/// See base/columns.hpp. All columns that belong to one individual alone, in the order of its memory, except the score.
/// @param entries, open  elements of these two columns
template <class Visit, ViewOf<PlanSearchIndividual>... Views>
BERTH_HD void for_each_column(const PlanSearchView& v, std::int32_t max_gpus, std::int64_t entries, std::int64_t open, Visit&& visit,
                              Views&... views) {
  const std::int64_t jobs = v.n_jobs;
  for_each_column(v.problem, max_gpus, visit, views.s...);
  visit(std::int64_t{v.problem.n_nodes > 0 ? v.problem.gpu_begin[v.problem.n_nodes] : 0}, views.owner...);
  visit(jobs, views.option...);
  visit(jobs, views.entry_begin...);
  visit(jobs, views.entry_end...);
  visit(jobs, views.at_home...);
  visit(jobs, views.placed_value...);
  visit(entries, views.entries...);
  visit(open, views.open...);
  visit(jobs, views.open_at...);
  visit(std::int64_t{3}, views.counts...);
}
static_assert(sizeof(PlanSearchIndividual) == 176, "PlanSearchIndividual changed: list its new columns above, then change this number");

namespace detail {

inline PlanSearchIndividual carve_plan_search_individual(BumpAllocator& c, const PlanSearchView& v) {
  const ProblemView& p = v.problem;
  const std::int64_t gpus = plan_search_gpus(p);
  PlanSearchIndividual x{};
  x.s.max_gpus = most_gpus_per_node(p);
  for_each_column(v, x.s.max_gpus, plan_search_entries(gpus), v.n_jobs, TakeColumns{c}, x);
  // No share is allocated or released, so all individuals read the problem's columns and none writes them.
  x.s.used_ppm = const_cast<std::int32_t*>(p.gpu_used_ppm);
  x.s.used_memory = const_cast<std::int64_t*>(p.gpu_used_memory);
  x.score = c.take<std::int64_t>(1);
  return x;
}

inline PlanSearchWorkspace carve_plan_search_workspace(BumpAllocator& c, const PlanSearchView& v) {
  const ProblemView& p = v.problem;
  PlanSearchWorkspace ws{};
  ws.scratch = carve_scratch(c, p);
  ws.known = c.take<std::int32_t>(p.n_demands);
  ws.parent = c.take<std::int32_t>(v.n_blocks);
  ws.gain = c.take<std::int64_t>(v.n_blocks);
  ws.mark = c.take<std::uint8_t>(v.n_jobs);
  ws.queue_before = c.take<std::int64_t>(std::int64_t{p.n_queues} * (p.n_types + 1));
  ws.packed = c.take<PlacedRow>(plan_search_gpus(p));
  ws.changes = c.take<PlanSearchChange>(kMostPlanSearchMoved + 1 + kPlanSearchOffers);
  ws.shared = c.take<std::int64_t>(1);
  return ws;
}

}  // namespace detail

/// Bytes of one individual, a multiple of 16. Host only.
inline std::size_t plan_search_individual_bytes(const PlanSearchView& v) {
  BumpAllocator counter{nullptr};
  detail::carve_plan_search_individual(counter, v);
  return (counter.used + 15) / 16 * 16;
}

inline std::size_t plan_search_workspace_bytes(const PlanSearchView& v) {
  BumpAllocator counter{nullptr};
  detail::carve_plan_search_workspace(counter, v);
  return (counter.used + 15) / 16 * 16;
}

/// Host only: reads the problem on the host; the block, aligned to 16, may be device memory.
inline PlanSearchIndividual carve_plan_search_individual(void* block, const PlanSearchView& v) {
  BumpAllocator allocator{static_cast<std::byte*>(block)};
  return detail::carve_plan_search_individual(allocator, v);
}

inline PlanSearchWorkspace carve_plan_search_workspace(void* block, const PlanSearchView& v) {
  BumpAllocator allocator{static_cast<std::byte*>(block)};
  return detail::carve_plan_search_workspace(allocator, v);
}

}  // namespace berth::kernel
