#pragma once

#include <cstdint>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/contend/index.hpp"
#include "berth/kernel/contend/loads.hpp"

namespace berth::kernel {

/// Memory of a group, shared by its threads.
struct ContendWorkspace {
  std::int32_t* sums;           // [tile_jobs]
  std::int32_t *value, *job;    // [k] largest so far
  std::int32_t *value2, *job2;  // [k] the same, being merged
};

/// Words of a workspace; `memory` null: nothing is carved.
BERTH_HD inline std::int64_t carve_contend_workspace(std::int32_t* memory, std::int32_t tile_jobs, std::int32_t k, ContendWorkspace& ws) {
  if (memory != nullptr) ws = {memory, memory + tile_jobs, memory + tile_jobs + k, memory + tile_jobs + 2 * k, memory + tile_jobs + 3 * k};
  return std::int64_t{tile_jobs} + 4 * std::int64_t{k};
}

BERTH_HD inline std::int32_t candidate_use(const ContendView& problem, const ContendRequest& request, std::int32_t at) {
  return weighted_use(request.use[at], problem.weight == nullptr ? kUseOne : problem.weight[request.link[at]], request.limbs);
}

/// Group body: the sum of a candidate's products with all jobs, weighted. It is a product with the sum over jobs.
template <class Group>
BERTH_HD void contend_pair_sum(Group& group, const ContendView& problem, const ContendIndex& index, const ContendRequest& request,
                               std::int32_t candidate, std::int64_t* pair_sum) {
  const std::int32_t job = excluded_job(request, candidate);
  const std::int64_t weight = job < 0 ? 0 : problem.job_weight == nullptr ? 1 : problem.job_weight[job];
  UsesOfJob excluded(problem, job);
  std::int64_t sum = 0;
  for (std::int32_t at = request.begin[candidate] + group.rank(); at < request.begin[candidate + 1]; at += group.size()) {
    const std::int32_t link = request.link[at];
    sum += candidate_use(problem, request, at) * (index.weighted[link] - weight * pair_use(excluded.of(link)));
  }
  sum = group.sum(sum);
  if (group.rank() == 0) pair_sum[candidate] = sum;
}

/// Group body: sums of a candidate's products with the jobs of a tile. Each thread reads its own sums only after the next barrier.
template <class Group>
BERTH_HD void contend_add_sparse(Group& group, const ContendView& problem, const ContendIndex& index, const ContendRequest& request,
                                 std::int32_t candidate, std::int32_t tile, std::int32_t* sums) {
  for (std::int32_t i = group.rank(); i < index.tile_jobs; i += group.size()) sums[i] = 0;
  group.sync();
  const std::int32_t* const begin = index.begin + std::int64_t{tile} * problem.n_links;
  for (std::int32_t at = request.begin[candidate]; at < request.begin[candidate + 1]; ++at) {
    const std::int32_t use = candidate_use(problem, request, at);
    if (use == 0) continue;
    const std::int32_t link = request.link[at];
    for (std::int32_t i = begin[link] + group.rank(); i < begin[link + 1]; i += group.size()) {
      const std::int32_t item = index.item[i];
      sums[item >> 8] += use * (item & 0xFF);  // no job is twice in a column
    }
    group.sync();
  }
}

/// The largest sum of this thread that comes after `last` in the order of values, then jobs.
template <class Group>
BERTH_HD Key next_sum(const Group& group, const std::int32_t* sums, std::int32_t first_job, std::int32_t jobs, std::int32_t excluded,
                      Key last) {
  Key best = kNoKey;
  for (std::int32_t i = group.rank(); i < jobs; i += group.size()) {
    if (sums[i] == 0 || first_job + i == excluded) continue;
    const Key key{~static_cast<std::uint64_t>(sums[i]), static_cast<std::uint64_t>(first_job + i)};
    if (last < key && key < best) best = key;
  }
  return best;
}

/// Group body: merges the largest sums of a tile into those of the tiles before, whose jobs come first.
/// @param n  Number of them; in and out, the same in every thread.
template <class Group>
BERTH_HD void contend_merge(Group& group, std::int32_t first_job, std::int32_t jobs, std::int32_t excluded, std::int32_t k,
                            ContendWorkspace& ws, std::int32_t& n) {
  Key mine = next_sum(group, ws.sums, first_job, jobs, excluded, Key{0, 0});
  Key head = group.min(mine);
  const auto value_of = [](Key key) { return key == kNoKey ? 0 : static_cast<std::int32_t>(~key.hi); };
  if (value_of(head) <= (n < k ? 0 : ws.value[k - 1])) return;
  std::int32_t old = 0, merged = 0;
  for (; merged < k; ++merged) {
    const std::int32_t before = old < n ? ws.value[old] : 0, here = value_of(head);
    if (before == 0 && here == 0) break;
    const bool keep = before >= here;
    if (group.rank() == 0) {
      ws.value2[merged] = keep ? before : here;
      ws.job2[merged] = keep ? ws.job[old] : static_cast<std::int32_t>(head.lo);
    }
    if (keep) {
      ++old;
      continue;
    }
    if (mine == head) mine = next_sum(group, ws.sums, first_job, jobs, excluded, head);
    head = group.min(mine);
  }
  n = merged;
  std::int32_t* const value = ws.value;
  ws.value = ws.value2;
  ws.value2 = value;
  std::int32_t* const job = ws.job;
  ws.job = ws.job2;
  ws.job2 = job;
}

/// Group body: products of a candidate with all running jobs. @param add  add(tile, sums): sums of a tile, as contend_add_sparse
template <class Group, class Add>
BERTH_HD void contend_pairs(Group& group, const ContendView& problem, std::int32_t tile_jobs, const ContendRequest& request,
                            std::int32_t candidate, ContendWorkspace ws, const ContendResult& result, const Add& add) {
  const std::int32_t excluded = excluded_job(request, candidate);
  const bool with_top = request.k > 0 && (result.top_value != nullptr || result.top_job != nullptr);
  std::int32_t n = 0;
  for (std::int32_t tile = 0, first = 0; first < problem.n_jobs; ++tile, first += tile_jobs) {
    const std::int32_t jobs = problem.n_jobs - first < tile_jobs ? problem.n_jobs - first : tile_jobs;
    add(tile, ws.sums);
    if (result.pair_value != nullptr) {
      std::int32_t* const to = result.pair_value + std::int64_t{candidate} * problem.n_jobs + first;
      for (std::int32_t i = group.rank(); i < jobs; i += group.size()) to[i] = first + i == excluded ? 0 : ws.sums[i];
    }
    if (with_top) contend_merge(group, first, jobs, excluded, request.k, ws, n);
  }
  if (!with_top) return;
  group.sync();
  const std::int64_t at = std::int64_t{candidate} * request.k;
  for (std::int32_t i = group.rank(); i < request.k; i += group.size()) {
    if (result.top_value != nullptr) result.top_value[at + i] = i < n ? ws.value[i] : 0;
    if (result.top_job != nullptr) result.top_job[at + i] = i < n ? ws.job[i] : -1;
  }
}

/// contend_pairs by links.
template <class Group>
BERTH_HD void contend_sparse(Group& group, const ContendView& problem, const ContendIndex& index, const ContendRequest& request,
                             std::int32_t candidate, const ContendWorkspace& ws, const ContendResult& result) {
  contend_pairs(group, problem, index.tile_jobs, request, candidate, ws, result,
                [&](std::int32_t tile, std::int32_t* sums) { contend_add_sparse(group, problem, index, request, candidate, tile, sums); });
}

}  // namespace berth::kernel
