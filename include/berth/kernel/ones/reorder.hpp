#pragma once

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

/// Blocks with a current position in that order, then those without, largest first. One thread runs it, as for all starts.
BERTH_HD inline void ones_home_order(const OnesBlocks& blocks, std::int32_t* order) {
  std::uint64_t* const keys = blocks.ws.keys;
  for (std::int32_t b = 0; b < blocks.n; ++b) {
    keys[b] = ones_key(blocks.deployed(b) ? blocks.home(b) : 2 * blocks.v.n_gpus - blocks.ws.size[b], b);
  }
  heap_sort(keys, blocks.n);
  for (std::int32_t i = 0; i < blocks.n; ++i) order[i] = static_cast<std::int32_t>(keys[i] & UINT32_MAX);
}

/// Blocks stay where they are and the others go to the largest gaps. @returns the cost; -1: some block finds no gap.
BERTH_HD inline std::int64_t ones_stay(const OnesBlocks& blocks, std::int32_t* at) {
  std::uint64_t *const keys = blocks.ws.keys, *const runs = blocks.ws.runs;
  std::int32_t stay = 0, go = 0;
  const auto stays = [&](std::int32_t b) { return blocks.deployed(b) && blocks.home_size(b) >= blocks.ws.size[b]; };
  for (std::int32_t b = 0; b < blocks.n; ++b) {
    if (stays(b)) runs[stay++] = ones_key(blocks.home(b), b);
  }
  heap_sort(runs, stay);
  // A gap overwrites the blocks that bound it; these are always already read.
  std::int64_t cost = 0;
  std::int32_t x = 0, gaps = 0;
  for (std::int32_t i = 0; i <= stay; ++i) {
    const std::int32_t b = i < stay ? static_cast<std::int32_t>(runs[i] & UINT32_MAX) : -1;
    const std::int32_t end = i < stay ? blocks.home(b) : blocks.v.n_gpus;
    if (i < stay) at[b] = end;
    if (i < stay) cost += blocks.cost(b, end);
    if (end > x) runs[gaps++] = ones_key(end - x, INT32_MAX - x);
    if (i < stay) x = end + blocks.ws.size[b];
  }
  for (std::int32_t b = 0; b < blocks.n; ++b) {
    if (!stays(b)) keys[go++] = ones_key(blocks.v.n_gpus - blocks.ws.size[b], b);
  }
  heap_sort(keys, go);
  make_heap(runs, gaps);
  for (std::int32_t i = 0; i < go; ++i) {
    const auto b = static_cast<std::int32_t>(keys[i] & UINT32_MAX);
    const auto room = gaps == 0 ? 0 : static_cast<std::int32_t>(runs[0] >> 32);
    const std::int32_t size = blocks.ws.size[b];
    if (room < size) return -1;
    at[b] = INT32_MAX - static_cast<std::int32_t>(runs[0] & UINT32_MAX);
    cost += blocks.cost(b, at[b]);
    runs[0] = ones_key(room - size, INT32_MAX - at[b] - size);
    sift_down(runs, gaps, 0);
  }
  return cost;
}

/// The program of the artifact. @returns the cost; -1: it finds no arrangement.
BERTH_HD inline std::int64_t ones_published(const OnesBlocks& blocks, std::int32_t* at) {
  const std::int32_t n_gpus = blocks.v.n_gpus, n = blocks.n;
  const auto state = [&](std::int32_t i, std::int32_t k) -> OnesLaid& { return blocks.ws.laid[i * (kOnesPublished + 1) + k]; };
  for (std::int32_t i = 0; i <= n_gpus; ++i) {
    for (std::int32_t k = 0; k <= n; ++k) {
      OnesLaid& here = state(i, k);
      here = i > 0 ? state(i - 1, k) : OnesLaid{k == 0 ? 0 : -1, 0, 0, 0};
      for (std::int32_t b = 0; k > 0 && b < n; ++b) {
        const std::int32_t first = i - blocks.ws.size[b];
        if (first < 0) continue;
        const OnesLaid& before = state(first, k - 1);
        if (before.cost < 0 || (before.has >> b & 1) != 0) continue;
        const std::int32_t cost = before.cost + blocks.cost(b, first);
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

/// Finds the cheapest start, in `best`; `other` is room for another.
BERTH_HD inline void ones_begin(const OnesBlocks& blocks, OnesArrangement& best, OnesArrangement& other) {
  const auto take = [&](std::int64_t cost) {
    if (cost < 0 || (best.cost >= 0 && cost >= best.cost)) return;
    std::int32_t* const at = best.at;
    best.at = other.at;
    other.at = at;
    best.cost = cost;
  };
  best.cost = -1;
  take(ones_stay(blocks, other.at));
  if (best.cost != 0) {
    ones_home_order(blocks, other.order);
    take(ones_lay(blocks, other.order, other.at));
  }
  if (best.cost != 0 && blocks.v.n_gpus <= kOnesPublished) take(ones_published(blocks, other.at));
  for (std::int32_t b = 0; b < blocks.n; ++b) blocks.ws.keys[b] = ones_key(best.at[b], b);
  heap_sort(blocks.ws.keys, blocks.n);
  for (std::int32_t i = 0; i < blocks.n; ++i) best.order[i] = static_cast<std::int32_t>(blocks.ws.keys[i] & UINT32_MAX);
  ones_lay(blocks, best.order, nullptr);  // for the search: it may cost more than the arrangement
}

}  // namespace berth::kernel
