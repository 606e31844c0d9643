#pragma once

#include <cassert>

#include "berth/kernel/price/state.hpp"

/// Turns the choice at the prices into one within the capacities, move by move: docs/prices.md section 5. One thread runs it.
namespace berth::kernel {

/// A choice being repaired.
struct Moves {
  const PriceView& c;
  const std::int64_t* price;
  std::int64_t* used;
  std::int32_t* option;  // [n_jobs] option taken, -1: none
  std::int64_t value;

  BERTH_HD std::int64_t value_of(std::int32_t k) const { return k < 0 ? 0 : c.value[k]; }
  BERTH_HD std::int64_t net(std::int32_t k) const { return k < 0 ? 0 : c.value[k] - price[c.type[k]] * c.gpus[k]; }
  /// GPUs of type t that an option takes.
  BERTH_HD std::int64_t takes(std::int32_t k, std::int32_t t) const { return k >= 0 && c.type[k] == t ? c.gpus[k] : 0; }
  BERTH_HD std::int64_t room(std::int32_t t) const { return c.capacity[t] - used[t]; }

  BERTH_HD void move(std::int32_t job, std::int32_t k) {
    assert(k < 0 || (c.option_begin[job] <= k && k < c.option_begin[job + 1]));
    const std::int32_t now = option[job];
    value += value_of(k) - value_of(now);
    if (now >= 0) used[c.type[now]] -= c.gpus[now];
    if (k >= 0) used[c.type[k]] += c.gpus[k];
    option[job] = k;
  }
};

/// The sign of gain / gpus minus that of another move.
BERTH_HD inline int compare_rates(std::int64_t gain, std::int64_t gpus, std::int64_t other_gain, std::int64_t other_gpus) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 42;  // the product with 2^20 GPUs fits in 64 bits
  if (gain < kSmall && gain > -kSmall && other_gain < kSmall && other_gain > -kSmall) {
    const std::int64_t left = gain * other_gpus, right = other_gain * gpus;
    return left > right ? 1 : left < right ? -1 : 0;
  }
  const Wide left = Wide{gain} * other_gpus, right = Wide{other_gain} * gpus;
  return left > right ? 1 : left < right ? -1 : 0;
}

/// Whether a move comes before another: greater gain / gpus, then lower job, then earlier option.
BERTH_HD inline bool before(const MoveRow& a, const MoveRow& b) {
  const int sign = compare_rates(a.gain, a.gpus, b.gain, b.gpus);
  if (sign != 0) return sign > 0;
  return a.job != b.job ? a.job < b.job : a.option < b.option;
}

/// The best move of one job out of a type that exceeds its capacity. @returns false when there is none.
/// @param room  [types] GPUs left of each type; below 0 for t. Unchanged after the call.
BERTH_HD inline bool repair_move(const Moves& m, std::int64_t* room, std::int32_t t, std::int32_t job, MoveRow& best) {
  const PriceView c = m.c;
  const std::int32_t now = m.option[job];
  const std::int64_t held = m.takes(now, t), over = -room[t];
  if (held == 0 || over <= 0) return false;
  const std::int64_t net = m.net(now);
  MoveRow found{-net, static_cast<std::int32_t>(held < over ? held : over), job, -1};
  room[t] = held - 1;  // within its own type only an option that frees GPUs
  for (std::int32_t k = c.option_begin[job], end = c.option_begin[job + 1]; k < end; ++k) {
    const std::int32_t type = c.type[k];
    if (c.gpus[k] > room[type]) continue;
    const std::int64_t freed = held - (type == t ? c.gpus[k] : 0);
    const std::int64_t gain = c.value[k] - m.price[type] * c.gpus[k] - net, gpus = freed < over ? freed : over;
    if (compare_rates(gain, gpus, found.gain, found.gpus) <= 0) continue;
    found.gain = gain;
    found.gpus = static_cast<std::int32_t>(gpus);
    found.option = k;
  }
  room[t] = -over;
  best = found;
  return true;
}

/// The best move of one job to an option of higher value. @returns false when there is none.
/// @param left  [types] GPUs of each type that may be taken, >= 0. Unchanged after the call.
BERTH_HD inline bool fill_move(const Moves& m, std::int64_t* left, std::int32_t job, MoveRow& best) {
  const PriceView c = m.c;
  const std::int32_t now = m.option[job];
  const std::int32_t type = now < 0 ? -1 : c.type[now], gpus = now < 0 ? 0 : c.gpus[now];
  const std::int64_t value = m.value_of(now);
  MoveRow found{0, 1, job, -1};
  if (now >= 0) left[type] += gpus;  // the GPUs that it holds are available to it
  for (std::int32_t k = c.option_begin[job], end = c.option_begin[job + 1]; k < end; ++k) {
    const std::int32_t t = c.type[k];
    if (c.gpus[k] > left[t]) continue;
    const std::int32_t need = c.gpus[k] - (t == type ? gpus : 0);
    const std::int64_t gain = c.value[k] - value;  // at most 41 bits, so that products fit in 64
    if (need <= 0 || gain * found.gpus <= found.gain * need) continue;
    found.gain = gain;
    found.gpus = need;
    found.option = k;
  }
  if (now >= 0) left[type] -= gpus;
  best = found;
  return found.option >= 0;
}

BERTH_HD inline void sift_down(MoveRow* heap, std::int32_t n, std::int32_t i) {
  const MoveRow down = heap[i];
  for (;;) {
    std::int32_t child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && before(heap[child + 1], heap[child])) ++child;
    if (!before(heap[child], down)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = down;
}

/// Makes the best move of all jobs until there is none.
/// Moves of other jobs never improve a job's best move, so a move that still stands is the best one.
/// A move that no longer stands is searched again and put back into the heap.
/// @param best_move  (job, MoveRow&) -> bool: whether the job has one.
/// @param stands     (const MoveRow&) -> bool: whether it can be made as it was found.
/// @param make       (const MoveRow&) -> bool: whether other moves may follow.
template <class BestMove, class Stands, class Make>
BERTH_HD void move_while(const Moves& m, MoveRow* heap, const BestMove& best_move, const Stands& stands, const Make& make) {
  std::int32_t n = 0;
  for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
    if (best_move(j, heap[n])) ++n;
  }
  for (std::int32_t i = n / 2; i-- > 0;) sift_down(heap, n, i);
  while (n > 0) {
    if (stands(heap[0]) && !make(heap[0])) return;
    MoveRow next;
    heap[0] = best_move(heap[0].job, next) ? next : heap[--n];
    if (n > 0) sift_down(heap, n, 0);
  }
}

BERTH_HD inline void repair(Moves& m, MoveRow* heap) {
  std::int64_t room[kMaxPriceTypes];
  for (std::int32_t t = 0; t < m.c.n_types; ++t) room[t] = m.room(t);
  for (std::int32_t t = 0; t < m.c.n_types; ++t) {
    if (room[t] >= 0) continue;
    const auto fits = [&](std::int32_t k) { return k < 0 || m.c.type[k] == t || m.c.gpus[k] <= room[m.c.type[k]]; };
    move_while(
        m, heap, [&](std::int32_t job, MoveRow& best) { return repair_move(m, room, t, job, best); },
        [&](const MoveRow& move) { return move.gpus <= -room[t] && fits(move.option); },
        [&](const MoveRow& move) {
          m.move(move.job, move.option);
          room[t] = m.room(t);
          if (move.option >= 0) room[m.c.type[move.option]] = m.room(m.c.type[move.option]);
          return room[t] < 0;
        });
  }
}

// GPUs that a move releases can be taken only in the next round. So no job's best move improves within a round.
BERTH_HD inline void fill(Moves& m, MoveRow* heap) {
  bool gave_back = true;
  for (std::int32_t round = 0; round < 4 && gave_back; ++round) {
    gave_back = false;
    std::int64_t left[kMaxPriceTypes], in_all = 0;
    for (std::int32_t t = 0; t < m.c.n_types; ++t) {
      left[t] = m.room(t);
      in_all += left[t];
    }
    if (in_all == 0) return;
    move_while(
        m, heap, [&](std::int32_t job, MoveRow& best) { return fill_move(m, left, job, best); },
        [&](const MoveRow& move) { return move.gpus <= left[m.c.type[move.option]]; },
        [&](const MoveRow& move) {
          const std::int32_t now = m.option[move.job], t = m.c.type[move.option];
          gave_back = gave_back || (now >= 0 && m.c.type[now] != t);
          left[t] -= move.gpus;
          in_all -= move.gpus;
          m.move(move.job, move.option);
          return in_all > 0;
        });
  }
}

}  // namespace berth::kernel
