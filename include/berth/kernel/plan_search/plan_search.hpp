#pragma once

#include <cstdint>

#include "berth/kernel/plan_search/crossover.hpp"
#include "berth/kernel/plan_search/step.hpp"

/// Initialisation and generations of a search: docs/ones-plus.md sections 2 and 5.
namespace berth::kernel {

/// Starts with no job placed. All threads.
template <class Group>
BERTH_HD void plan_search_empty(Group& group, const PlanSearchView& v, const PlanSearchIndividual& x) {
  const ProblemView& p = v.problem;
  PassState s = x.s;
  copy_column(group, p.node_free, s.free, p.n_nodes);
  copy_column(group, p.node_cpu, s.cpu, p.n_nodes);
  copy_column(group, p.node_memory, s.memory, p.n_nodes);
  copy_column(group, p.queue_used, s.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1));
  for (std::int32_t g = group.rank(); g < p.gpu_begin[p.n_nodes]; g += group.size()) x.owner[g] = kNone;
  for (std::int32_t job = group.rank(); job < v.n_jobs; job += group.size()) {
    x.option[job] = x.open_at[job] = kNone;
    x.entry_begin[job] = x.entry_end[job] = 0;
    x.at_home[job] = 0;
  }
  group.sync();
  build_index(group, p, s);
  if (group.rank() == 0) {
    *x.score = 0;
    for (std::int32_t n = 0; v.fragment != nullptr && n < p.n_nodes; ++n) {
      *x.score -= v.fragment[p.node_type[n] * kSizesPerNode + popcount(s.free[n])];
    }
    x.counts[0] = x.counts[1] = x.counts[2] = 0;
    for (std::int32_t job = 0; job < v.n_jobs; ++job) {
      if (v.preferred[job] < 0) continue;
      x.open_at[job] = x.counts[1];
      x.open[x.counts[1]++] = job;
    }
  }
  group.sync();
}

/// Whether a job is exactly at its current place.
BERTH_HD inline bool plan_search_is_home(const PlanSearchView& v, std::int32_t job, const PlacedRow* first, std::int32_t n) {
  const HeldRow* held = v.problem.held + v.problem.held_begin[v.problem_job[job]];
  bool same = n == v.problem.held_end[v.problem_job[job]] - v.problem.held_begin[v.problem_job[job]];
  for (std::int32_t e = 0; same && e < n; ++e) same = first[e].node == held[e].node && first[e].mask == held[e].mask;
  return same;
}

/// The initial plan of the search, with its idle GPUs given to jobs.
template <class Group>
BERTH_HD void plan_search_begin(Group& group, const PlanSearchView& v, const PlanSearchRequest& r, const PlanSearchIndividual& x,
                                const PlanSearchWorkspace& ws) {
  plan_search_empty(group, v, x);
  PlanSearchPlaces<Group> at(group, v, x, ws);
  const std::int32_t n = r.entry_begin[v.n_jobs];
  if (at.lead()) {
    for (std::int32_t e = 0; e < n; ++e) x.entries[e] = r.entries[e];
    for (std::int32_t job = 0; job < v.n_jobs; ++job) {
      const std::int32_t k = r.option[job];
      if (k < 0) continue;
      const std::int32_t begin = r.entry_begin[job], end = r.entry_begin[job + 1];
      at.hold(job, k, begin, end, k == v.current[job] && plan_search_is_home(v, job, x.entries + begin, end - begin));
    }
  }
  at.w.n_entries = n;
  group.sync();
  at.fill();
  at.close();
}

/// An individual of which only the shapes are known. Jobs that keep their current option stay at their place.
/// The others are placed in order, each in its option or else in the best that fits.
template <class Group>
BERTH_HD void plan_search_initialise(Group& group, const PlanSearchView& v, const std::int32_t* start_option,
                                     const std::int32_t* start_order, const PlanSearchIndividual& x, const PlanSearchWorkspace& ws) {
  plan_search_empty(group, v, x);
  PlanSearchPlaces<Group> at(group, v, x, ws);
  for (std::int32_t job = 0; job < v.n_jobs; ++job) {
    if (start_option[job] >= 0 && start_option[job] == v.current[job] && at.may_go_home(job)) at.go_home(job);
  }
  for (std::int32_t i = 0; i < v.n_jobs; ++i) {
    const std::int32_t job = start_order[i];
    if (x.option[job] >= 0 || start_option[job] < 0 || at.place(job, start_option[job])) continue;
    for (std::int32_t rank = v.rank_begin[job]; rank < v.rank_begin[job + 1]; ++rank) {
      if (v.ranked[rank] != start_option[job] && at.place(job, v.ranked[rank])) break;
    }
  }
  at.fill();
  at.close();
}

template <class Group>
BERTH_HD void plan_search_copy(Group& group, const PlanSearchView& v, const PlanSearchIndividual& from, const PlanSearchIndividual& x) {
  const auto copy = [&](std::int64_t n, const auto* source, auto* target) { copy_column(group, source, target, n); };
  for_each_column(v, from.s.max_gpus, from.counts[0], from.counts[1], copy, from, x);
  copy_column(group, from.score, x.score, 1);
  group.sync();
}

/// First half of a generation: takes over better parts of a parent, which does not change meanwhile.
template <class Group>
BERTH_HD void plan_search_offspring(Group& group, const PlanSearchView& v, const PlanSearchRequest& r, const PlanSearchIndividual& parent,
                                    const PlanSearchIndividual& x, const PlanSearchWorkspace& ws) {
  PlanSearchPlaces<Group> at(group, v, x, ws);
  PlanSearchCrossover<Group> crossover{at, parent};
  const bool same = !crossover.run();
  at.close();
  if (at.lead()) x.counts[2] = same && has_operator(r.operators, PlanSearchOperator::kMutate) ? kPlanSearchForced : 0;
  group.sync();
}

/// Second half: steps, then idle GPUs are given to jobs.
template <class Group>
BERTH_HD void plan_search_improve(Group& group, const PlanSearchView& v, const PlanSearchRequest& r, std::int32_t generation,
                                  std::int32_t individual, const PlanSearchIndividual& x, const PlanSearchWorkspace& ws) {
  PlanSearchPlaces<Group> at(group, v, x, ws);
  PlanSearchStep<Group> step{at, r};
  for (std::int32_t i = 0; i < r.steps && v.n_jobs > 0; ++i) step.run(generation, individual, i);
  group.sync();
  if (at.lead()) x.counts[2] = 0;
  at.pack_entries();
  at.fill();
  at.close();
}

}  // namespace berth::kernel
