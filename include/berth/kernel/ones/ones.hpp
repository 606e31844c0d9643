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

/// The blocks of an individual.
template <class Group>
BERTH_HD OnesBlocks ones_gather(Group& g, const OnesView& v, const std::int32_t* taken, const std::int32_t* count,
                                const OnesWorkspace& ws) {
  std::int64_t before = 0, held = 0;
  for (std::int32_t base = 0; base < v.n_jobs; base += g.size()) {
    const std::int32_t j = base + g.rank();
    const bool has = j < v.n_jobs && count[j] > 0;
    std::int64_t all = 0;
    const std::int64_t at = before + g.scan(has ? 1 : 0, all);
    if (has) {
      ws.job[at] = j;
      ws.size[at] = count[j];
      held += count[j];
    }
    before += all;
  }
  held = g.sum(held);  // also a barrier
  return {v, taken, ws, static_cast<std::int32_t>(before), static_cast<std::int32_t>(v.n_gpus - held)};
}

/// @param taken  [n_gpus + 1] number of lower GPUs with a deployed job
/// @param first  [n_jobs] out
template <class Group>
BERTH_HD void ones_reorder(Group& g, const OnesView& v, const std::int32_t* taken, const std::int32_t* count, const OnesWorkspace& ws,
                           std::int32_t* first) {
  const OnesBlocks blocks = ones_gather(g, v, taken, count, ws);
  OnesArrangement best{0, ws.at, ws.order}, other{0, ws.other_at, ws.other_order};
  // Only the first thread knows the arrangement; the others receive its cost and the column that has it.
  std::int64_t code = 0;
  if (g.rank() == 0) {
    ones_begin(blocks, best, other);
    code = 2 * best.cost + (best.at == ws.at ? 0 : 1);
  }
  code = g.sum(code);
  best = {code / 2, code % 2 == 0 ? ws.at : ws.other_at, ws.order};
  other = {0, code % 2 == 0 ? ws.other_at : ws.at, ws.other_order};
  g.sync();

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
      if (g.rank() == 0) ones_lay(blocks, best.order, best.at);
      g.sync();
    }
    next = (next + kOnesMoves) % moves;
  }
  g.sync();
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) first[j] = 0;
  g.sync();
  for (std::int32_t b = g.rank(); b < blocks.n; b += g.size()) first[ws.job[b]] = best.at[b];
}

}  // namespace berth::kernel
