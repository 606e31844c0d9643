#pragma once

#include "berth/kernel/base/select.hpp"
#include "berth/kernel/base/sort.hpp"
#include "berth/kernel/ones/layout.hpp"

/// Turns counts into blocks near those that are deployed: docs/ones.md section 6.
namespace berth::kernel {

/// An arrangement: the position of each block, and the cost.
struct OnesArrangement {
  std::int64_t cost;
  std::int32_t* at;     // [n] by block
  std::int32_t* order;  // [n] blocks
};

BERTH_HD inline std::uint64_t ones_key(std::int32_t first, std::int32_t second) {
  return (std::uint64_t{static_cast<std::uint32_t>(first)} << 32) | static_cast<std::uint32_t>(second);
}

/// Blocks that do not fit where they are deployed, largest first, as the low words of sorted keys in `ws.keys`.
/// @returns how many
template <class Group>
BERTH_HD std::int32_t ones_moving(Group& g, const OnesBlocks& blocks) {
  const std::int32_t n = select(
      g, blocks.n, [&](std::int32_t b) { return !blocks[b].fits_home(); },
      [&](std::int32_t b, std::int32_t i) { blocks.ws.keys[i] = ones_key(blocks.n_gpus - blocks[b].size, b); });
  g.sync();
  group_sort(g, blocks.ws.keys, n);
  return n;
}

/// Blocks stay where they are and the others go to the largest gaps.
/// @param by_home  [n_home] deployed blocks by their first GPU
/// @param moving   number of keys in `ws.keys`
/// @param staying  [n_home] workspace
/// @returns the cost; -1: some block finds no gap
template <class Group>
BERTH_HD std::int64_t ones_stay(Group& g, const OnesBlocks& blocks, const std::int32_t* by_home, std::int32_t n_home, std::int32_t moving,
                                std::int32_t* staying, std::int32_t* at) {
  std::uint64_t *const keys = blocks.ws.keys, *const runs = blocks.ws.runs;
  const std::int32_t stay = select(
      g, n_home, [&](std::int32_t i) { return blocks[by_home[i]].fits_home(); },
      [&](std::int32_t i, std::int32_t place) {
        staying[place] = by_home[i];
        at[by_home[i]] = blocks[by_home[i]].home;
      });
  if (moving == 0) return 0;
  g.sync();
  const auto begin = [&](std::int32_t i) { return i == 0 ? 0 : blocks[staying[i - 1]].home + blocks[staying[i - 1]].size; };
  const auto end = [&](std::int32_t i) { return i < stay ? blocks[staying[i]].home : blocks.n_gpus; };
  const std::int32_t gaps = select(
      g, stay + 1, [&](std::int32_t i) { return end(i) > begin(i); },
      [&](std::int32_t i, std::int32_t place) { runs[place] = ones_key(end(i) - begin(i), INT32_MAX - begin(i)); });
  g.sync();
  group_heap(g, runs, gaps);
  bool fails = false;
  for (std::int32_t i = 0; g.rank() == 0 && i < moving; ++i) {
    const std::uint64_t top = gaps == 0 ? 0 : runs[0];
    const std::int32_t room = static_cast<std::int32_t>(top >> 32), size = blocks.n_gpus - static_cast<std::int32_t>(keys[i] >> 32);
    fails = room < size;
    if (fails) break;
    const std::int32_t first = INT32_MAX - static_cast<std::int32_t>(top & UINT32_MAX);
    at[keys[i] & UINT32_MAX] = first;
    runs[0] = ones_key(room - size, INT32_MAX - first - size);
    sift_down(runs, gaps, 0);
  }
  if (g.any(fails)) return -1;
  std::int64_t cost = 0;
  for (std::int32_t i = g.rank(); i < moving; i += g.size()) {
    const auto b = static_cast<std::int32_t>(keys[i] & UINT32_MAX);
    cost += blocks.cost(blocks[b], at[b]);
  }
  return g.sum(cost);
}

/// The program of the artifact, by one thread. @returns the cost; -1: it finds no arrangement.
BERTH_HD inline std::int64_t ones_published(const OnesBlocks& blocks, std::int32_t* at) {
  const std::int32_t n_gpus = blocks.n_gpus, n = blocks.n;
  const auto state = [&](std::int32_t i, std::int32_t k) -> OnesLaid& { return blocks.ws.laid[i * (kOnesPublished + 1) + k]; };
  for (std::int32_t i = 0; i <= n_gpus; ++i) {
    for (std::int32_t k = 0; k <= n; ++k) {
      OnesLaid& here = state(i, k);
      here = i > 0 ? state(i - 1, k) : OnesLaid{k == 0 ? 0 : -1, 0, 0, 0};
      for (std::int32_t b = 0; k > 0 && b < n; ++b) {
        const std::int32_t first = i - blocks[b].size;
        if (first < 0) continue;
        const OnesLaid& before = state(first, k - 1);
        if (before.cost < 0 || (before.has >> b & 1) != 0) continue;
        const std::int32_t cost = before.cost + blocks.cost(blocks[b], first);
        if (here.cost >= 0 && cost >= here.cost) continue;
        const std::int32_t shift = 4 * (k - 1);
        here = {cost, before.has | 1U << b, before.order | static_cast<std::uint64_t>(b) << shift,
                before.first | static_cast<std::uint64_t>(first) << shift};
      }
    }
  }
  const OnesLaid& answer = state(n_gpus, n);
  for (std::int32_t k = 0; answer.cost >= 0 && k < n; ++k) {
    at[answer.order >> (4 * k) & 15] = static_cast<std::int32_t>(answer.first >> (4 * k) & 15);
  }
  return answer.cost;
}

/// Finds the cheapest start. All threads have met.
/// @param by_home  [n_home] deployed blocks by their first GPU; in `ws.order`
template <class Group>
BERTH_HD void ones_begin(Group& g, const OnesBlocks& blocks, std::int32_t n_home, OnesArrangement& best, OnesArrangement& other) {
  const auto take = [&](std::int64_t cost) {
    if (cost < 0 || (best.cost >= 0 && cost >= best.cost)) return false;
    std::int32_t* const at = best.at;
    best.at = other.at;
    other.at = at;
    best.cost = cost;
    return true;
  };
  const std::int32_t moving = ones_moving(g, blocks);
  best.cost = -1;
  take(ones_stay(g, blocks, best.order, n_home, moving, other.order, other.at));
  if (best.cost == 0) return;
  // In order: after the deployed blocks the others, largest first.
  select(
      g, moving, [&](std::int32_t i) { return !blocks[static_cast<std::int32_t>(blocks.ws.keys[i] & UINT32_MAX)].is_deployed(); },
      [&](std::int32_t i, std::int32_t place) { best.order[n_home + place] = static_cast<std::int32_t>(blocks.ws.keys[i] & UINT32_MAX); });
  g.sync();
  bool in_order = take(ones_lay(g, blocks, best.order, other.at));
  if (best.cost != 0 && blocks.n_gpus <= kOnesPublished && take(g.sum(g.rank() == 0 ? ones_published(blocks, other.at) : 0))) {
    in_order = false;
  }
  if (best.cost == 0 || in_order) return;
  for (std::int32_t b = g.rank(); b < blocks.n; b += g.size()) blocks.ws.keys[b] = ones_key(best.at[b], b);
  g.sync();
  group_sort(g, blocks.ws.keys, blocks.n);
  for (std::int32_t i = g.rank(); i < blocks.n; i += g.size()) best.order[i] = static_cast<std::int32_t>(blocks.ws.keys[i] & UINT32_MAX);
  g.sync();
  ones_lay(g, blocks, best.order, nullptr);  // for the search: it may cost more than the arrangement
}

}  // namespace berth::kernel
