#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/carver.hpp"
#include "berth/kernel/choice.hpp"
#include "berth/kernel/wide.hpp"

/// What the threads of one price search share: docs/prices.md sections 2 to 5.
namespace berth::kernel {

inline constexpr std::int32_t kMaxCuts = 16;

/// What the jobs take at some prices.
struct PricePoint {
  std::int64_t price[kMaxChoiceTypes];
  std::int64_t used[kMaxChoiceTypes];
  std::int64_t bound;
};

struct PriceCut {
  std::int64_t gradient[kMaxChoiceTypes];
  std::int64_t error;
  std::int64_t weight;
};

/// Of the bundle method. Only thread 0 touches it.
struct PriceBundle {
  PriceCut cut[kMaxCuts + 1];
  std::int32_t n;
  std::int64_t scale;                  // s
  std::int64_t first;                  // V
  std::int64_t step;                   // sigma
  std::int64_t move[kMaxChoiceTypes];  // m
  std::int64_t last[kMaxChoiceTypes];  // prices tried last
  bool open[kMaxChoiceTypes];          // the price does not reach 0
  std::int64_t slope[kMaxCuts + 1];    // d
  std::int64_t hope;
};

/// Jobs whose next move is known, the best on top.
struct MoveRow {
  std::int64_t gain;    // of a fraction gain / gpus; the greatest first
  std::int32_t gpus;    // > 0
  std::int32_t job;     // ties: the lower job
  std::int32_t option;  // row of the problem, -1: none
};

/// What a job loses when it gives up GPUs.
struct Give {
  std::int64_t loss;    // INT64_MAX: nobody can
  std::int32_t job;     // -1: nobody
  std::int32_t option;  // row of the problem that it takes instead, -1: none
};

/// The job that loses least, and the next one.
struct GiveRow {
  Give best[2];
};
inline constexpr std::int32_t kMostGiven = 64;

/// Memory of one search besides problem and result.
struct PriceWorkspace {
  PricePoint* centre;    // [1]
  PricePoint* trial;     // [1]
  PriceBundle* bundle;   // [1]
  std::int64_t* shared;  // [2] words that thread 0 tells the others
  std::int32_t* row;     // [n_jobs] row of the problem taken, -1: none
  std::int32_t* place;   // [n_jobs] in an order of those who hold GPUs of a type, -1: not in it
  MoveRow* heap;         // [n_jobs + 1]
  GiveRow* give;         // [n_types * (kMostGiven + 1)]
};

/// Host only; the block may be device memory. @returns its bytes; with a null block it only counts.
inline std::size_t carve_price_workspace(void* block, std::int32_t n_jobs, std::int32_t n_types, PriceWorkspace& ws) {
  Carver c{static_cast<std::byte*>(block)};
  ws.centre = c.take<PricePoint>(1);
  ws.trial = c.take<PricePoint>(1);
  ws.bundle = c.take<PriceBundle>(1);
  ws.shared = c.take<std::int64_t>(2);
  ws.row = c.take<std::int32_t>(n_jobs);
  ws.place = c.take<std::int32_t>(n_jobs);
  ws.heap = c.take<MoveRow>(std::int64_t{n_jobs} + 1);  // one beyond the last, to look whether a job moves
  ws.give = c.take<GiveRow>(std::int64_t{n_types} * (kMostGiven + 1));
  return c.used;
}

}  // namespace berth::kernel
