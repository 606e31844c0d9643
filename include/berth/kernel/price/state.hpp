#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/price/columns.hpp"

/// State that the threads of one price search share: docs/prices.md sections 2 to 5.
namespace berth::kernel {

inline constexpr std::int32_t kMaxCuts = 16;

/// The choice of the jobs at given prices.
struct PricePoint {
  std::int64_t price[kMaxPriceTypes];
  std::int64_t used[kMaxPriceTypes];
  std::int64_t bound;
};

struct PriceCut {
  std::int64_t gradient[kMaxPriceTypes];
  std::int64_t error;
  std::int64_t weight;
};

/// State of the bundle method. Only thread 0 uses it.
struct PriceBundle {
  PriceCut cut[kMaxCuts + 1];
  std::int32_t n;
  std::int64_t scale;                 // s
  std::int64_t first;                 // V
  std::int64_t step;                  // sigma
  std::int64_t move[kMaxPriceTypes];  // m
  std::int64_t last[kMaxPriceTypes];  // prices of the last trial
  bool open[kMaxPriceTypes];          // the move does not bring the price to 0
  std::int64_t slope[kMaxCuts + 1];   // d
  std::int64_t hope;
};

/// Jobs whose next move is known, best first.
struct MoveRow {
  std::int64_t gain;    // numerator of gain / gpus; the greatest first
  std::int32_t gpus;    // > 0
  std::int32_t job;     // ties: the lower job first
  std::int32_t option;  // option of the problem, -1: none
};

/// Loss of a job that gives up GPUs.
struct Give {
  std::int64_t loss;    // INT64_MAX: no job can
  std::int32_t job;     // -1: no job
  std::int32_t option;  // option of the problem that the job takes instead, -1: none
};

/// The job with the least loss, and the next one.
struct GiveRow {
  Give best[2];
};
inline constexpr std::int32_t kMostGiven = 64;

/// Memory of one search besides problem and result.
struct PriceWorkspace {
  PricePoint* centre;    // [1]
  PricePoint* trial;     // [1]
  PriceBundle* bundle;   // [1]
  std::int64_t* shared;  // [2] words that thread 0 passes to the others
  std::int32_t* option;  // [n_jobs] option of the problem taken, -1: none
  std::int32_t* place;   // [n_jobs] position among the jobs that hold GPUs of a type, -1: not among them
  MoveRow* heap;         // [n_jobs + 1]
  GiveRow* give;         // [n_types * (kMostGiven + 1)]
};

/// Allocates from the block, which may be device memory; with a null block it only counts. Host only. @returns its bytes.
inline std::size_t carve_price_workspace(void* block, std::int32_t n_jobs, std::int32_t n_types, PriceWorkspace& ws) {
  BumpAllocator c{static_cast<std::byte*>(block)};
  ws.centre = c.take<PricePoint>(1);
  ws.trial = c.take<PricePoint>(1);
  ws.bundle = c.take<PriceBundle>(1);
  ws.shared = c.take<std::int64_t>(2);
  ws.option = c.take<std::int32_t>(n_jobs);
  ws.place = c.take<std::int32_t>(n_jobs);
  ws.heap = c.take<MoveRow>(std::int64_t{n_jobs} + 1);  // one extra row, to test whether a job moves
  ws.give = c.take<GiveRow>(std::int64_t{n_types} * (kMostGiven + 1));
  return c.used;
}

}  // namespace berth::kernel
