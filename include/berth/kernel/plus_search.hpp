#pragma once

#include <cstdint>

#include "berth/kernel/plus_mate.hpp"
#include "berth/kernel/plus_step.hpp"

/// Beginnings and generations of a search: docs/ones-plus.md sections 2 and 5.
namespace berth::kernel {

/// Nobody has anything. All threads.
template <class Group>
BERTH_HD void plus_empty(Group& group, const PlusView& v, const PlusIndividual& x) {
  const ProblemView& p = v.problem;
  WalkState s = x.s;
  copy_column(group, p.node_free, s.free, p.n_nodes);
  copy_column(group, p.node_cpu, s.cpu, p.n_nodes);
  copy_column(group, p.node_memory, s.memory, p.n_nodes);
  copy_column(group, p.queue_used, s.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1));
  for (std::int32_t g = group.rank(); g < p.gpu_begin[p.n_nodes]; g += group.size()) x.owner[g] = kNone;
  for (std::int32_t job = group.rank(); job < v.n_jobs; job += group.size()) {
    x.row[job] = x.open_at[job] = kNone;
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
      if (v.want[job] < 0) continue;
      x.open_at[job] = x.counts[1];
      x.open[x.counts[1]++] = job;
    }
  }
  group.sync();
}

/// Whether a job lies just where it runs.
BERTH_HD inline bool plus_is_home(const PlusView& v, std::int32_t job, const PlacedRow* first, std::int32_t n) {
  const HeldRow* held = v.problem.held + v.problem.held_begin[v.slot[job]];
  bool same = n == v.problem.held_begin[v.slot[job] + 1] - v.problem.held_begin[v.slot[job]];
  for (std::int32_t e = 0; same && e < n; ++e) same = first[e].node == held[e].node && first[e].mask == held[e].mask;
  return same;
}

/// The plan that the search begins with, and what is idle in it given away.
template <class Group>
BERTH_HD void plus_begin(Group& group, const PlusView& v, const PlusRequest& r, const PlusIndividual& x, const PlusWorkspace& ws) {
  plus_empty(group, v, x);
  PlusPlaces<Group> at(group, v, x, ws);
  const std::int32_t n = r.entry_begin[v.n_jobs];
  if (at.lead()) {
    for (std::int32_t e = 0; e < n; ++e) x.entries[e] = r.entries[e];
    for (std::int32_t job = 0; job < v.n_jobs; ++job) {
      const std::int32_t k = r.row[job];
      if (k < 0) continue;
      const std::int32_t begin = r.entry_begin[job], end = r.entry_begin[job + 1];
      at.hold(job, k, begin, end, k == v.current[job] && plus_is_home(v, job, x.entries + begin, end - begin));
    }
  }
  at.w.n_entries = n;
  group.sync();
  at.fill();
  at.close();
}

/// An individual of which only the shapes are known: who is to run as he does stays, the others are placed in turn, each in its row or
/// else in the best that fits.
template <class Group>
BERTH_HD void plus_grow_up(Group& group, const PlusView& v, const std::int32_t* gene, const std::int32_t* order, const PlusIndividual& x,
                           const PlusWorkspace& ws) {
  plus_empty(group, v, x);
  PlusPlaces<Group> at(group, v, x, ws);
  for (std::int32_t job = 0; job < v.n_jobs; ++job) {
    if (gene[job] >= 0 && gene[job] == v.current[job] && at.may_go_home(job)) at.go_home(job);
  }
  for (std::int32_t i = 0; i < v.n_jobs; ++i) {
    const std::int32_t job = order[i];
    if (x.row[job] >= 0 || gene[job] < 0 || at.place(job, gene[job])) continue;
    for (std::int32_t rank = v.rank_begin[job]; rank < v.rank_begin[job + 1]; ++rank) {
      if (v.ranked[rank] != gene[job] && at.place(job, v.ranked[rank])) break;
    }
  }
  at.fill();
  at.close();
}

template <class Group>
BERTH_HD void plus_copy(Group& group, const PlusView& v, const PlusIndividual& from, const PlusIndividual& x) {
  const ProblemView& p = v.problem;
  copy_column(group, from.s.free, x.s.free, p.n_nodes);
  copy_column(group, from.s.cpu, x.s.cpu, p.n_nodes);
  copy_column(group, from.s.memory, x.s.memory, p.n_nodes);
  copy_column(group, from.s.queue_used, x.s.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1));
  copy_column(group, from.s.bucket, x.s.bucket, std::int64_t{x.s.max_gpus + 1} * p.n_words);
  copy_column(group, from.s.bucket_count, x.s.bucket_count, x.s.max_gpus + 1);
  copy_column(group, from.s.domain_free, x.s.domain_free, p.domains.n_domains);
  copy_column(group, from.s.type_free, x.s.type_free, p.n_types);
  copy_column(group, from.owner, x.owner, p.gpu_begin[p.n_nodes]);
  copy_column(group, from.row, x.row, v.n_jobs);
  copy_column(group, from.entry_begin, x.entry_begin, v.n_jobs);
  copy_column(group, from.entry_end, x.entry_end, v.n_jobs);
  copy_column(group, from.at_home, x.at_home, v.n_jobs);
  copy_column(group, from.worth, x.worth, v.n_jobs);
  copy_column(group, from.entries, x.entries, from.counts[0]);
  copy_column(group, from.open, x.open, from.counts[1]);
  copy_column(group, from.open_at, x.open_at, v.n_jobs);
  copy_column(group, from.counts, x.counts, 3);
  copy_column(group, from.score, x.score, 1);
  group.sync();
}

/// First half of a generation: takes over what is better in a mate, who changes nothing meanwhile.
template <class Group>
BERTH_HD void plus_cross(Group& group, const PlusView& v, const PlusRequest& r, const PlusIndividual& mate, const PlusIndividual& x,
                         const PlusWorkspace& ws) {
  PlusPlaces<Group> at(group, v, x, ws);
  PlusMating<Group> mating{at, mate};
  const bool same = !mating.run();
  at.close();
  if (at.lead()) x.counts[2] = same && has_operator(r.operators, PlusOperator::kMutate) ? kPlusForced : 0;
  group.sync();
}

/// The other half: steps, then idle GPUs are given away.
template <class Group>
BERTH_HD void plus_improve(Group& group, const PlusView& v, const PlusRequest& r, std::int32_t generation, std::int32_t individual,
                           const PlusIndividual& x, const PlusWorkspace& ws) {
  PlusPlaces<Group> at(group, v, x, ws);
  PlusStep<Group> step{at, r};
  for (std::int32_t i = 0; i < r.steps && v.n_jobs > 0; ++i) step.run(generation, individual, i);
  group.sync();
  if (at.lead()) x.counts[2] = 0;
  at.pack_entries();
  at.fill();
  at.close();
}

}  // namespace berth::kernel
