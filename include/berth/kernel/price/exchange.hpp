#pragma once

#include "berth/kernel/price/moves.hpp"

/// One job gives up GPUs and another takes them: docs/prices.md section 5.3. One thread runs it.
namespace berth::kernel {

BERTH_HD inline bool before(const Give& a, const Give& b) {
  if (a.loss != b.loss) return a.loss < b.loss;
  return a.job != b.job ? a.job < b.job : a.option < b.option;
}

BERTH_HD inline void offer(GiveRow& row, const Give& give) {
  Give& first = row.best[0];
  Give& second = row.best[1];
  if (give.job == first.job) {
    if (before(give, first)) first = give;
  } else if (before(give, first)) {
    second = first;
    first = give;
  } else if (before(give, second)) {
    second = give;
  }
}

/// Loss of the two best jobs that give up at least N GPUs: rows [type][GPUs].
BERTH_HD inline void set_gives(const Moves& m, GiveRow* rows) {
  constexpr Give kNoJob{INT64_MAX, -1, -1};
  const std::int32_t width = kMostGiven + 1;
  for (std::int32_t i = 0; i < m.c.n_types * width; ++i) rows[i] = {{kNoJob, kNoJob}};
  for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
    const std::int32_t now = m.option[j];
    if (now < 0) continue;
    const std::int32_t t = m.c.type[now];
    for (std::int32_t k = m.c.option_begin[j] - 1; k < m.c.option_begin[j + 1]; ++k) {
      const std::int32_t to = k < m.c.option_begin[j] ? -1 : k;
      if (to >= 0 && m.c.type[to] != t) continue;
      const std::int64_t freed = m.c.gpus[now] - m.takes(to, t);
      if (freed > 0) offer(rows[t * width + (freed < kMostGiven ? freed : kMostGiven)], {m.c.value[now] - m.value_of(to), j, to});
    }
  }
  for (std::int32_t i = m.c.n_types * width - 2; i >= 0; --i) {
    if (i % width == kMostGiven) continue;  // the largest count of the previous type
    for (const Give& more : rows[i + 1].best) {
      if (more.job >= 0) offer(rows[i], more);
    }
  }
}

/// Makes the best exchange. @returns false when no exchange gains.
BERTH_HD inline bool exchange(Moves& m, GiveRow* rows) {
  set_gives(m, rows);
  std::int64_t best = 0;
  Give giver{};
  std::int32_t taker = -1, taken = -1;
  for (std::int32_t j = 0; j < m.c.n_jobs; ++j) {
    const std::int32_t now = m.option[j];
    const std::int64_t value = m.value_of(now);
    for (std::int32_t k = m.c.option_begin[j]; k < m.c.option_begin[j + 1]; ++k) {
      const std::int32_t t = m.c.type[k];
      const std::int64_t lacks = m.c.gpus[k] - m.takes(now, t) - m.room(t);
      if (lacks < 1 || lacks > kMostGiven) continue;
      const GiveRow& row = rows[t * (kMostGiven + 1) + lacks];
      const Give& give = row.best[row.best[0].job == j ? 1 : 0];
      if (give.job < 0 || m.c.value[k] - value - give.loss <= best) continue;
      best = m.c.value[k] - value - give.loss;
      giver = give;
      taker = j;
      taken = k;
    }
  }
  if (best == 0) return false;
  m.move(giver.job, giver.option);
  m.move(taker, taken);
  return true;
}

}  // namespace berth::kernel
