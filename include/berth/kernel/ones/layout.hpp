#pragma once

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/heap.hpp"
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

/// Memory of one individual's reorder. Blocks are the jobs that have GPUs, by rank.
struct OnesWorkspace {
  std::int32_t *job, *size;           // [n_jobs]
  std::int32_t *order, *other_order;  // [n_jobs] blocks
  std::int32_t *at, *other_at;        // [n_jobs] first GPUs
  std::uint64_t *keys, *runs;         // [n_jobs + 1]
  OnesStep* steps;                    // [n_jobs + 1]
  OnesLaid* laid;                     // [(kOnesPublished + 1)^2]
};

BERTH_HD inline std::size_t carve_ones_workspace(void* block, std::int32_t n_jobs, OnesWorkspace& ws) {
  BumpAllocator allocator{static_cast<std::byte*>(block)};
  for (std::int32_t** const column : {&ws.job, &ws.size, &ws.order, &ws.other_order, &ws.at, &ws.other_at}) {
    *column = allocator.take<std::int32_t>(n_jobs);
  }
  ws.keys = allocator.take<std::uint64_t>(std::int64_t{n_jobs} + 1);
  ws.runs = allocator.take<std::uint64_t>(std::int64_t{n_jobs} + 1);
  ws.steps = allocator.take<OnesStep>(std::int64_t{n_jobs} + 1);
  ws.laid = allocator.take<OnesLaid>((kOnesPublished + 1) * (kOnesPublished + 1));
  return allocator.used;
}

/// Counts, for each GPU, the lower GPUs with a deployed job. @param taken  [n_gpus + 1] out
inline void ones_taken(const OnesView& v, std::int32_t* taken) {
  for (std::int32_t x = 0; x <= v.n_gpus; ++x) taken[x] = 0;
  for (std::int32_t j = 0; j < v.n_jobs; ++j) {
    for (std::int32_t x = 0; x < v.deployed_count[j]; ++x) taken[v.deployed_first[j] + x + 1] = 1;
  }
  for (std::int32_t x = 0; x < v.n_gpus; ++x) taken[x + 1] += taken[x];
}

/// The blocks to lay out, together with what is deployed.
struct OnesBlocks {
  const OnesView& v;
  const std::int32_t* taken;  // [n_gpus + 1] number of lower GPUs with a deployed job
  const OnesWorkspace& ws;
  std::int32_t n;
  std::int32_t idle;  // GPUs that no block needs

  BERTH_HD bool deployed(std::int32_t b) const { return v.deployed_count[ws.job[b]] > 0; }
  BERTH_HD std::int32_t home(std::int32_t b) const { return v.deployed_first[ws.job[b]]; }
  BERTH_HD std::int32_t home_size(std::int32_t b) const { return v.deployed_count[ws.job[b]]; }

  /// GPUs that other jobs would have to leave.
  BERTH_HD std::int32_t cost(std::int32_t b, std::int32_t x) const {
    const std::int32_t end = x + ws.size[b];
    const std::int32_t low = x > home(b) ? x : home(b), own_end = home(b) + home_size(b);
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

/// The state of a layout before each position of the order.
BERTH_HD inline OnesStep ones_step(const OnesBlocks& blocks, std::int32_t b, const OnesStep& before) {
  const std::int32_t wanted = blocks.deployed(b) && blocks.home(b) > before.end ? blocks.home(b) : before.end;
  const std::int32_t latest = blocks.idle + before.held;
  const std::int32_t first = wanted < latest ? wanted : latest;
  return {first + blocks.ws.size[b], before.held + blocks.ws.size[b], before.cost + blocks.cost(b, first)};
}

/// Lays out an order. @param at  [n] out, by block; null: not needed
/// @returns the cost
BERTH_HD inline std::int64_t ones_lay(const OnesBlocks& blocks, const std::int32_t* order, std::int32_t* at) {
  OnesStep* const steps = blocks.ws.steps;
  steps[0] = {0, 0, 0};
  for (std::int32_t place = 0; place < blocks.n; ++place) {
    const std::int32_t b = order[place];
    steps[place + 1] = ones_step(blocks, b, steps[place]);
    if (at != nullptr) at[b] = steps[place + 1].end - blocks.ws.size[b];
  }
  return steps[blocks.n].cost;
}

/// Cost of the last laid-out order with a move applied. Only positions that change are evaluated.
/// @returns the cost; once it reaches `enough`, any value from there on
BERTH_HD inline std::int64_t ones_moved(const OnesBlocks& blocks, const std::int32_t* order, const OnesMove& move, std::int64_t enough) {
  const OnesStep* const steps = blocks.ws.steps;
  const std::int32_t low = move.from < move.to ? move.from : move.to, high = move.from < move.to ? move.to : move.from;
  OnesStep step = steps[low];
  for (std::int32_t place = low; place < blocks.n && step.cost < enough; ++place) {
    if (place > high && step.end == steps[place].end) return step.cost + steps[blocks.n].cost - steps[place].cost;
    step = ones_step(blocks, order[move(place)], step);
  }
  return step.cost;
}

}  // namespace berth::kernel
