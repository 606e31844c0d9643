#pragma once

#include "berth/kernel/ones/reorder.hpp"

/// The search of docs/ones.md section 6: a group reorders one individual.
namespace berth::kernel {

/// Moves evaluated in a round.
inline constexpr std::int32_t kOnesMoves = 32;

BERTH_HD inline std::int32_t ones_rounds(std::int32_t n_gpus) {
  std::int32_t bits = 0;
  while ((std::int64_t{1} << bits) < std::int64_t{n_gpus} + 1) ++bits;
  return 2 * bits;
}

/// The blocks of an individual. @param block_of  [n_jobs] out, of jobs that have one
template <class Group>
BERTH_HD OnesBlocks ones_gather(Group& g, const OnesView& v, const std::int32_t* taken, const std::int32_t* count, const OnesWorkspace& ws,
                                std::int32_t* block_of) {
  std::int64_t held = 0;
  const std::int32_t n = select(
      g, v.n_jobs, [&](std::int32_t j) { return count[j] > 0; },
      [&](std::int32_t j, std::int32_t b) {
        ws.block[b] = {j, count[j], v.deployed_count[j] > 0 ? v.deployed_first[j] : -1, v.deployed_count[j]};
        block_of[j] = b;
        held += count[j];
      });
  held = g.sum(held);  // also a barrier
  return {ws, taken, v.n_gpus, n, static_cast<std::int32_t>(v.n_gpus - held)};
}

/// @param deployed  of `v`
/// @param first     [n_jobs] out
template <class Group>
BERTH_HD void ones_reorder(Group& g, const OnesView& v, const OnesDeployed& deployed, const std::int32_t* count, const OnesWorkspace& ws,
                           std::int32_t* first) {
  std::int32_t* const block_of = ws.other_at;  // until the order is known
  const OnesBlocks blocks = ones_gather(g, v, deployed.taken, count, ws, block_of);
  const std::int32_t n_home = select(
      g, deployed.n, [&](std::int32_t i) { return count[deployed.jobs[i]] > 0; },
      [&](std::int32_t i, std::int32_t place) { ws.order[place] = block_of[deployed.jobs[i]]; });
  g.sync();
  OnesArrangement best{0, ws.at, ws.order}, other{0, ws.other_at, ws.other_order};
  ones_begin(g, blocks, n_home, best, other);

  const std::int64_t moves = 2 * std::int64_t{blocks.n} * blocks.n;
  std::int64_t next = 0, since = 0;
  for (std::int32_t round = ones_rounds(v.n_gpus); round > 0 && best.cost > 0 && since < moves; --round) {
    Key found = kNoKey;
    for (std::int32_t i = g.rank(); i < kOnesMoves; i += g.size()) {
      const OnesMove move = OnesMove::of((next + i) % moves, blocks.n);
      if (move.is_void()) continue;
      const std::int64_t cost = ones_moved(blocks, best.order, move, best.cost);
      const Key key{static_cast<std::uint64_t>(cost), static_cast<std::uint64_t>(i)};
      if (cost < best.cost && key < found) found = key;
    }
    found = g.min(found);
    since += kOnesMoves;
    if (!(found == kNoKey)) {
      const OnesMove move = OnesMove::of((next + static_cast<std::int64_t>(found.lo)) % moves, blocks.n);
      for (std::int32_t place = g.rank(); place < blocks.n; place += g.size()) other.order[place] = best.order[move(place)];
      std::int32_t* const order = best.order;
      best.order = other.order;
      other.order = order;
      best.cost = static_cast<std::int64_t>(found.hi);
      since = 0;
      g.sync();
      ones_lay(g, blocks, best.order, best.at);
    }
    next = (next + kOnesMoves) % moves;
  }
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) first[j] = 0;
  g.sync();
  for (std::int32_t b = g.rank(); b < blocks.n; b += g.size()) first[blocks[b].job] = best.at[b];
}

}  // namespace berth::kernel
