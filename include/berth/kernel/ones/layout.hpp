#pragma once

#include <algorithm>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/ones/rules.hpp"

/// Blocks of GPUs that jobs have, and their cost: docs/ones.md section 6.
namespace berth::kernel {

inline constexpr std::int32_t kOnesPublished = 16;  // number of GPUs up to which the published program is tried

/// One state of the published program: the blocks placed so far, by index, and their positions.
struct OnesLaid {
  std::int32_t cost;  // -1: no state
  std::uint32_t has;
  std::uint64_t order, first;  // four bits each
};

/// The state before a position of an order that is laid out.
struct OnesStep {
  std::int32_t end;   // end of the block before
  std::int32_t held;  // GPUs of all blocks before
  std::int32_t cost;  // of all blocks before
};

/// A job that has GPUs, and where it is deployed.
struct alignas(16) OnesBlock {
  std::int32_t job, size;
  std::int32_t home, home_size;  // deployed GPUs; none: -1, before all, and 0
  BERTH_HD bool is_deployed() const { return home_size > 0; }
  BERTH_HD bool fits_home() const { return home_size >= size; }
};

/// Memory of one individual's reorder. Blocks are the jobs that have GPUs, by rank.
struct OnesWorkspace {
  OnesBlock* block;                   // [n_jobs]
  std::int32_t *order, *other_order;  // [n_jobs] blocks
  std::int32_t *at, *other_at;        // [n_jobs] first GPUs
  std::uint64_t *keys, *runs;         // [n_jobs + 1]
  OnesStep* steps;                    // [n_jobs + 1]
  OnesLaid* laid;                     // [(kOnesPublished + 1)^2]
};

BERTH_HD inline std::size_t carve_ones_workspace(void* memory, std::int32_t n_jobs, OnesWorkspace& ws) {
  BumpAllocator allocator{static_cast<std::byte*>(memory)};
  ws.block = allocator.take<OnesBlock>(n_jobs);
  for (std::int32_t** const column : {&ws.order, &ws.other_order, &ws.at, &ws.other_at}) *column = allocator.take<std::int32_t>(n_jobs);
  ws.keys = allocator.take<std::uint64_t>(std::int64_t{n_jobs} + 1);
  ws.runs = allocator.take<std::uint64_t>(std::int64_t{n_jobs} + 1);
  ws.steps = allocator.take<OnesStep>(std::int64_t{n_jobs} + 1);
  ws.laid = allocator.take<OnesLaid>((kOnesPublished + 1) * (kOnesPublished + 1));
  return allocator.used;
}

/// What all individuals of a search need about the deployed blocks. Computed once.
struct OnesDeployed {
  const std::int32_t* taken;  // [n_gpus + 1] number of lower GPUs with a deployed job
  const std::int32_t* jobs;   // [n] that have a deployed block, by its first GPU
  std::int32_t n;
};

/// Columns of OnesDeployed. @param taken  [n_gpus + 1] out @param jobs  [n_jobs] out
inline OnesDeployed ones_deployed(const OnesView& v, std::int32_t* taken, std::int32_t* jobs) {
  for (std::int32_t x = 0; x <= v.n_gpus; ++x) taken[x] = 0;
  std::int32_t n = 0;
  for (std::int32_t j = 0; j < v.n_jobs; ++j) {
    for (std::int32_t x = 0; x < v.deployed_count[j]; ++x) taken[v.deployed_first[j] + x + 1] = 1;
    if (v.deployed_count[j] > 0) jobs[n++] = j;
  }
  for (std::int32_t x = 0; x < v.n_gpus; ++x) taken[x + 1] += taken[x];
  std::sort(jobs, jobs + n, [&](std::int32_t a, std::int32_t b) { return v.deployed_first[a] < v.deployed_first[b]; });
  return {taken, jobs, n};
}

/// The blocks to lay out, together with what is deployed.
struct OnesBlocks {
  const OnesWorkspace& ws;
  const std::int32_t* taken;  // [n_gpus + 1] number of lower GPUs with a deployed job
  std::int32_t n_gpus;
  std::int32_t n;
  std::int32_t idle;  // GPUs that no block needs

  BERTH_HD const OnesBlock& operator[](std::int32_t b) const { return ws.block[b]; }

  /// GPUs that other jobs would have to leave.
  BERTH_HD std::int32_t cost(const OnesBlock& block, std::int32_t x) const {
    const std::int32_t end = x + block.size;
    const std::int32_t low = x > block.home ? x : block.home, own_end = block.home + block.home_size;
    const std::int32_t high = end < own_end ? end : own_end;
    return taken[end] - taken[x] - (high > low ? high - low : 0);
  }
};

/// An order with one move applied, computed without changing the order.
struct OnesMove {
  std::int32_t from, to;
  bool change;  // the two swap; otherwise the blocks between them shift

  BERTH_HD static OnesMove of(std::int64_t number, std::int32_t n) {
    const std::int64_t from = number % n;
    return {static_cast<std::int32_t>(from), static_cast<std::int32_t>((from + 1 + number / n) % n), number >= std::int64_t{n} * n};
  }
  BERTH_HD bool is_void() const { return from == to || (change && from > to); }
  /// The position whose block is at `place` after the move.
  BERTH_HD std::int32_t operator()(std::int32_t place) const {
    if (change) return place == from ? to : place == to ? from : place;
    if (place == to) return from;
    if (from < to) return place >= from && place < to ? place + 1 : place;
    return place > to && place <= from ? place - 1 : place;
  }
};

/// The state of a layout after a block.
BERTH_HD inline OnesStep ones_step(const OnesBlocks& blocks, const OnesBlock& block, const OnesStep& before) {
  const std::int32_t wanted = block.home > before.end ? block.home : before.end;
  const std::int32_t latest = blocks.idle + before.held;
  const std::int32_t first = wanted < latest ? wanted : latest;
  return {first + block.size, before.held + block.size, before.cost + blocks.cost(block, first)};
}

/// Lays out an order, as `ones_step` does for one block after the other.
///
/// In a layout the number of GPUs left unused before a block only grows along the order, up to `idle`. It is the most that this block or
/// one before it wants: to begin at its deployed first GPU, it wants as many as this is beyond what the blocks before it hold.
/// @param at  [n] out, by block; null: not needed
/// @returns the cost, in every thread; all threads have met
template <class Group>
BERTH_HD std::int64_t ones_lay(Group& g, const OnesBlocks& blocks, const std::int32_t* order, std::int32_t* at) {
  OnesStep* const steps = blocks.ws.steps;
  if (g.rank() == 0) steps[0] = {0, 0, 0};
  std::int32_t held = 0, unused = 0, cost = 0;  // of the blocks before `base`
  for (std::int32_t base = 0; base < blocks.n; base += g.size()) {
    const std::int32_t place = base + g.rank();
    const bool is_one = place < blocks.n;
    const std::int32_t b = is_one ? order[place] : 0;
    const OnesBlock block = is_one ? blocks[b] : OnesBlock{0, 0, -1, 0};
    std::int64_t all_held = 0, most_unused = 0, all_cost = 0;
    const std::int32_t before = held + static_cast<std::int32_t>(g.scan(block.size, all_held));
    const std::int32_t wanted = block.home - before < blocks.idle ? block.home - before : blocks.idle;
    std::int64_t own = g.scan_max(wanted, most_unused);
    if (own < wanted) own = wanted;
    const std::int32_t first = before + (own < unused ? unused : static_cast<std::int32_t>(own));
    const std::int32_t block_cost = is_one ? blocks.cost(block, first) : 0;
    const std::int32_t all = cost + block_cost + static_cast<std::int32_t>(g.scan(block_cost, all_cost));
    if (is_one) steps[place + 1] = {first + block.size, before + block.size, all};
    if (is_one && at != nullptr) at[b] = first;
    held += static_cast<std::int32_t>(all_held);
    if (unused < most_unused) unused = static_cast<std::int32_t>(most_unused);
    cost += static_cast<std::int32_t>(all_cost);
  }
  g.sync();
  return cost;
}

/// Cost of the last laid-out order with a move applied. Only positions that change are evaluated.
/// @returns the cost; once it reaches `enough`, any value from there on
BERTH_HD inline std::int64_t ones_moved(const OnesBlocks& blocks, const std::int32_t* order, const OnesMove& move, std::int64_t enough) {
  const OnesStep* const steps = blocks.ws.steps;
  const std::int32_t low = move.from < move.to ? move.from : move.to, high = move.from < move.to ? move.to : move.from;
  OnesStep step = steps[low];
  for (std::int32_t place = low; place < blocks.n && step.cost < enough; ++place) {
    if (place > high && step.end == steps[place].end) return step.cost + steps[blocks.n].cost - steps[place].cost;
    step = ones_step(blocks, blocks[order[move(place)]], step);
  }
  return step.cost;
}

}  // namespace berth::kernel
