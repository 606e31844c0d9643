#pragma once

#include "berth/kernel/price_state.hpp"

/// From what jobs take at the prices to a choice within the capacities, a move at a time: docs/prices.md section 5. One thread's work.
namespace berth::kernel {

/// A choice being mended.
struct Moves {
  const ChoiceView& c;
  const std::int64_t* price;
  std::int64_t* used;
  std::int32_t* row;  // [n_jobs] row taken, -1: none
  std::int64_t value;

  BERTH_HD std::int64_t value_of(std::int32_t k) const { return k < 0 ? 0 : c.value[k]; }
  BERTH_HD std::int64_t net(std::int32_t k) const { return k < 0 ? 0 : c.value[k] - price[c.type[k]] * c.gpus[k]; }
  /// GPUs of type t that an option takes.
  BERTH_HD std::int64_t takes(std::int32_t k, std::int32_t t) const { return k >= 0 && c.type[k] == t ? c.gpus[k] : 0; }
  BERTH_HD std::int64_t room(std::int32_t t) const { return c.capacity[t] - used[t]; }

  BERTH_HD void move(std::int32_t job, std::int32_t k) {
    const std::int32_t now = row[job];
    value += value_of(k) - value_of(now);
    if (now >= 0) used[c.type[now]] -= c.gpus[now];
    if (k >= 0) used[c.type[k]] += c.gpus[k];
    row[job] = k;
  }
};

/// Whether a move goes before another: by the greater gain / gpus, then the lower job, then the earlier option.
BERTH_HD inline bool before(const MoveRow& a, const MoveRow& b) {
  const Wide left = Wide{a.gain} * b.gpus, right = Wide{b.gain} * a.gpus;
  if (left != right) return left > right;
  return a.job != b.job ? a.job < b.job : a.option < b.option;
}

/// The best move of one job out of a type that is used beyond its capacity. @returns false when there is none.
BERTH_HD inline bool repair_move(const Moves& m, std::int32_t t, std::int32_t job, MoveRow& best) {
  const std::int32_t now = m.row[job];
  const std::int64_t held = m.takes(now, t);
  const std::int64_t over = -m.room(t);
  if (held == 0 || over <= 0) return false;
  bool found = false;
  const std::int64_t net = m.net(now);
  for (std::int32_t k = m.c.option_begin[job] - 1; k < m.c.option_begin[job + 1]; ++k) {
    const std::int32_t to = k < m.c.option_begin[job] ? -1 : k;
    const std::int64_t freed = held - m.takes(to, t);
    if (freed <= 0 || (to >= 0 && m.c.type[to] != t && m.c.gpus[to] > m.room(m.c.type[to]))) continue;
    const MoveRow move{m.net(to) - net, static_cast<std::int32_t>(freed < over ? freed : over), job, to};
    if (!found || before(move, best)) best = move;
    found = true;
  }
  return found;
}

/// The best move of one job to an option of a type with room that is worth more.
BERTH_HD inline bool fill_move(const Moves& m, std::int32_t t, std::int32_t job, MoveRow& best) {
  const std::int64_t room = m.room(t);
  if (room <= 0) return false;
  bool found = false;
  const std::int32_t now = m.row[job];
  const std::int64_t held = m.takes(now, t);
  const std::int64_t value = m.value_of(now);
  for (std::int32_t k = m.c.option_begin[job]; k < m.c.option_begin[job + 1]; ++k) {
    if (m.c.type[k] != t || m.c.value[k] <= value) continue;
    const std::int64_t need = m.c.gpus[k] - held;
    if (need <= 0 || need > room) continue;
    const MoveRow move{m.c.value[k] - value, static_cast<std::int32_t>(need), job, k};
    if (!found || before(move, best)) best = move;
    found = true;
  }
  return found;
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

/// Makes the best move of all jobs until there is none. A job's best move never gets better by what others do, so that an outdated one on
/// top of the heap is put back at its new place.
/// @param best_move  (job, MoveRow&) -> bool: whether the job has one.
template <class BestMove>
BERTH_HD std::int32_t move_while(Moves& m, MoveRow* heap, const BestMove& best_move) {
  std::int32_t n = 0, moves = 0;
  for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
    if (best_move(j, heap[n])) ++n;
  }
  for (std::int32_t i = n / 2; i-- > 0;) sift_down(heap, n, i);
  while (n > 0) {
    MoveRow now;
    if (!best_move(heap[0].job, now)) {
      heap[0] = heap[--n];
    } else if (now.option == heap[0].option && now.gain == heap[0].gain && now.gpus == heap[0].gpus) {
      m.move(now.job, now.option);
      ++moves;
      if (!best_move(now.job, heap[0])) heap[0] = heap[--n];
    } else {
      heap[0] = now;
    }
    if (n > 0) sift_down(heap, n, 0);
  }
  return moves;
}

BERTH_HD inline void repair(Moves& m, MoveRow* heap) {
  for (std::int32_t t = 0; t < m.c.n_types; ++t) {
    if (m.room(t) >= 0) continue;
    move_while(m, heap, [&](std::int32_t job, MoveRow& best) { return repair_move(m, t, job, best); });
  }
}

BERTH_HD inline void fill(Moves& m, MoveRow* heap) {
  for (std::int32_t round = 0; round < 4; ++round) {
    std::int32_t moves = 0;
    for (std::int32_t t = 0; t < m.c.n_types; ++t) {
      if (m.room(t) <= 0) continue;
      moves += move_while(m, heap, [&](std::int32_t job, MoveRow& best) { return fill_move(m, t, job, best); });
    }
    if (moves == 0) return;
  }
}

}  // namespace berth::kernel
