#include "host/reference/base/state.hpp"

#include <algorithm>
#include <bit>

namespace berth::reference {
namespace {

using kernel::kNoLimit;
using kernel::kNone;
using kernel::ProblemView;

std::size_t to_index(std::int32_t i) { return static_cast<std::size_t>(i); }

// Of a queue to which `used` is charged: that, or what it keeps if that is more.
std::int64_t charged_to_parent(const ProblemView& p, std::int32_t queue, std::int32_t column, std::int64_t used) {
  if (p.queue_kept == nullptr) return used;
  return std::max(used, p.queue_kept[static_cast<std::ptrdiff_t>(queue) * (p.n_types + 1) + column]);
}

std::vector<std::int32_t> gpus_in(std::uint64_t mask) {
  std::vector<std::int32_t> gpus;
  for (std::int32_t g = 0; g < 64; ++g) {
    if ((mask >> g & 1) != 0) gpus.push_back(g);
  }
  return gpus;
}

}  // namespace

State::State(const ProblemView& p)
    : free(p.node_free, p.node_free + p.n_nodes),
      cpu(p.node_cpu, p.node_cpu + p.n_nodes),
      memory(p.node_memory, p.node_memory + p.n_nodes) {
  const std::int32_t gpus = p.n_nodes == 0 ? 0 : p.gpu_begin[p.n_nodes];
  used_ppm.assign(p.gpu_used_ppm, p.gpu_used_ppm + gpus);
  used_memory.assign(p.gpu_used_memory, p.gpu_used_memory + gpus);
  for (std::int32_t q = 0; q < p.n_queues; ++q) {
    const std::int64_t* row = p.queue_used + static_cast<std::ptrdiff_t>(q) * (p.n_types + 1);
    queue_used.emplace_back(row, row + p.n_types + 1);
  }
}

Piece piece_of(const kernel::HeldRow& held) { return {held.node, held.mask, held.share_ppm, held.cpu, held.memory, held.gpu_memory}; }

Piece piece_of(const kernel::GroupRow& group, const kernel::PlacedRow& row) {
  return {row.node, row.mask, row.share_ppm, row.members * group.cpu, row.members * group.memory, group.gpu_memory};
}

void take(const ProblemView& p, State& s, const Piece& piece) {
  const std::size_t node = to_index(piece.node);
  s.free[node] &= ~piece.mask;
  if (s.cpu[node] != kNoLimit) s.cpu[node] -= piece.cpu;
  if (s.memory[node] != kNoLimit) s.memory[node] -= piece.memory;
  if (piece.share_ppm == kWholeGpu) return;
  for (const std::int32_t g : gpus_in(piece.mask)) {
    s.used_ppm[to_index(p.gpu_begin[piece.node] + g)] += piece.share_ppm;
    s.used_memory[to_index(p.gpu_begin[piece.node] + g)] += piece.gpu_memory;
  }
}

void give(const ProblemView& p, State& s, const Piece& piece) {
  const std::size_t node = to_index(piece.node);
  if (s.cpu[node] != kNoLimit) s.cpu[node] += piece.cpu;
  if (s.memory[node] != kNoLimit) s.memory[node] += piece.memory;
  std::uint64_t back = piece.mask;
  if (piece.share_ppm != kWholeGpu) {
    for (const std::int32_t g : gpus_in(piece.mask)) {
      const std::size_t gpu = to_index(p.gpu_begin[piece.node] + g);
      s.used_ppm[gpu] -= piece.share_ppm;
      s.used_memory[gpu] -= piece.gpu_memory;
      if (s.used_ppm[gpu] > 0) back &= ~(std::uint64_t{1} << g);
    }
  }
  s.free[node] |= back & p.node_open[node];
}

bool still_free(const ProblemView& p, const State& s, const Piece& piece) {
  const std::size_t node = to_index(piece.node);
  if (s.cpu[node] != kNoLimit && piece.cpu > 0 && s.cpu[node] < piece.cpu) return false;
  if (s.memory[node] != kNoLimit && piece.memory > 0 && s.memory[node] < piece.memory) return false;
  const std::uint64_t open = p.node_open[node];
  if (piece.share_ppm == kWholeGpu) return (piece.mask & open & ~s.free[node]) == 0;
  const std::int64_t type_memory = p.type_memory[p.node_type[node]];
  for (const std::int32_t g : gpus_in(piece.mask)) {
    const std::size_t gpu = to_index(p.gpu_begin[piece.node] + g);
    const bool there = (s.free[node] >> g & 1) != 0 || s.used_ppm[gpu] > 0 || (open >> g & 1) == 0;
    if (!there || s.used_ppm[gpu] + piece.share_ppm > kWholeGpu) return false;
    if (type_memory != 0 && piece.gpu_memory != 0 && s.used_memory[gpu] + piece.gpu_memory > type_memory) return false;
  }
  return true;
}

bool quota_passes(const ProblemView& p, const State& s, std::int32_t queue, std::int32_t type, std::int64_t quota) {
  for (const std::int32_t column : {type, p.n_types}) {
    if (column == kNone) continue;
    std::int64_t more = quota;
    for (std::int32_t q = queue; q != kNone; q = p.queue_parent[q]) {
      const std::int64_t used = s.queue_used[to_index(q)][to_index(column)];
      if (used + more > p.queue_cap[static_cast<std::ptrdiff_t>(q) * (p.n_types + 1) + column]) return false;
      more = charged_to_parent(p, q, column, used + more) - charged_to_parent(p, q, column, used);
    }
  }
  return true;
}

void charge_quota(const ProblemView& p, State& s, std::int32_t queue, std::int32_t type, std::int64_t quota) {
  for (const std::int32_t column : {type, p.n_types}) {
    if (column == kNone) continue;
    std::int64_t more = quota;
    for (std::int32_t q = queue; q != kNone; q = p.queue_parent[q]) {
      std::int64_t& used = s.queue_used[to_index(q)][to_index(column)];
      const std::int64_t before = charged_to_parent(p, q, column, used);
      used += more;
      more = charged_to_parent(p, q, column, used) - before;
    }
  }
}

std::int64_t quota_held_by(const ProblemView& p, std::int32_t job) {
  std::int64_t quota = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    quota += std::int64_t{p.held[h].share_ppm} * std::popcount(p.held[h].mask);
  }
  return quota;
}

void release_job(const ProblemView& p, State& s, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) give(p, s, piece_of(p.held[h]));
  charge_quota(p, s, p.job_queue[job], p.held_type[job], -quota_held_by(p, job));
}

bool quota_returns(const ProblemView& p, const State& s, std::int32_t job, std::int32_t queue, std::int32_t type) {
  std::vector<bool> asked(to_index(p.n_queues), false);
  for (std::int32_t q = queue; q != kNone; q = p.queue_parent[q]) asked[to_index(q)] = true;
  State after = s;
  charge_quota(p, after, p.job_queue[job], p.held_type[job], quota_held_by(p, job));
  for (std::int32_t q = p.job_queue[job]; q != kNone; q = p.queue_parent[q]) {
    for (const std::int32_t column : {p.held_type[job], p.n_types}) {
      if (column == kNone || !asked[to_index(q)] || (column != type && column != p.n_types)) continue;
      const std::int64_t used = after.queue_used[to_index(q)][to_index(column)];
      if (used > p.queue_cap[static_cast<std::ptrdiff_t>(q) * (p.n_types + 1) + column]) return false;
    }
  }
  return true;
}

bool take_back(const ProblemView& p, State& s, std::int32_t job, std::int32_t queue, std::int32_t type) {
  const std::int64_t quota = quota_held_by(p, job);
  if (!quota_returns(p, s, job, queue, type)) return false;
  State trial = s;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const Piece piece = piece_of(p.held[h]);
    if (!still_free(p, trial, piece)) return false;
    take(p, trial, piece);
  }
  charge_quota(p, trial, p.job_queue[job], p.held_type[job], quota);
  s = trial;
  return true;
}

}  // namespace berth::reference
