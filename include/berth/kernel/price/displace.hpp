#pragma once

#include "berth/kernel/price/moves.hpp"

/// One job takes more GPUs and several others give up all of theirs: docs/prices.md section 5.4. One thread runs it.
namespace berth::kernel {

/// Lists the jobs that hold GPUs of a type, lowest value per GPU first, as prefix sums.
/// rows[i] has the GPUs and minus the value of the first i + 1 jobs.
/// @param place  [n_jobs] Out: position of each job, -1: it holds none.
/// @returns the number of jobs.
BERTH_HD inline std::int32_t order_holders(const Moves& m, std::int32_t t, MoveRow* rows, std::int32_t* place) {
  std::int32_t n = 0;
  for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
    place[j] = -1;
    if (m.takes(m.option[j], t) > 0) rows[n++] = {-m.c.value[m.option[j]], m.c.gpus[m.option[j]], j, m.option[j]};
  }
  for (std::int32_t i = n / 2; i-- > 0;) sift_down(rows, n, i);
  for (std::int32_t left = n; left > 1; --left) {  // the top of the heap moves behind the rest, so that the order runs from back to front
    const MoveRow first = rows[0];
    rows[0] = rows[left - 1];
    rows[left - 1] = first;
    sift_down(rows, left - 1, 0);
  }
  for (std::int32_t i = 0; i < n / 2; ++i) {
    const MoveRow row = rows[i];
    rows[i] = rows[n - 1 - i];
    rows[n - 1 - i] = row;
  }
  for (std::int32_t i = 0; i < n; ++i) {
    place[rows[i].job] = i;
    if (i == 0) continue;
    rows[i].gain += rows[i - 1].gain;
    rows[i].gpus += rows[i - 1].gpus;
  }
  return n;
}

/// Makes the best such move. @returns false when no move gains.
BERTH_HD inline bool displace(Moves& m, MoveRow* rows, std::int32_t* place) {
  std::int64_t best = 0;
  std::int32_t taker = -1, taken = -1, leavers = 0, type = -1;
  for (std::int32_t t = 0; t < m.c.n_types; ++t) {
    const std::int32_t n = order_holders(m, t, rows, place);
    for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
      const std::int32_t now = m.option[j], own = place[j];
      const std::int64_t held = m.takes(now, t);
      const std::int64_t value = m.value_of(now);
      for (std::int32_t k = m.c.option_begin[j]; k < m.c.option_begin[j + 1]; ++k) {
        const std::int64_t lacks = m.c.type[k] == t ? m.c.gpus[k] - held - m.room(t) : 0;
        if (lacks < 1 || m.c.value[k] - value <= best) continue;
        std::int32_t low = 0, high = n;  // number of first jobs that must leave, excluding the job itself
        while (low < high) {
          const std::int32_t middle = (low + high) / 2;
          const std::int64_t freed = rows[middle].gpus - (own >= 0 && own <= middle ? held : 0);
          if (freed >= lacks) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        if (low == n) continue;
        const std::int64_t loss = -rows[low].gain - (own >= 0 && own <= low ? value : 0);
        if (m.c.value[k] - value - loss <= best) continue;
        best = m.c.value[k] - value - loss;
        taker = j;
        taken = k;
        leavers = low + 1;
        type = t;
      }
    }
  }
  if (best == 0) return false;
  order_holders(m, type, rows, place);
  for (std::int32_t i = 0; i < leavers; ++i) {
    if (rows[i].job != taker) m.move(rows[i].job, -1);
  }
  m.move(taker, taken);
  return true;
}

}  // namespace berth::kernel
