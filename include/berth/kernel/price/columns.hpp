#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"

/// The choice of a shape per job, when the objective value of a plan is a sum over jobs: docs/prices.md section 1.
namespace berth::kernel {

inline constexpr std::int32_t kMaxPriceTypes = 32;
inline constexpr std::int32_t kMaxPriceJobs = 1 << 20;
inline constexpr std::int64_t kMaxPriceValue = std::int64_t{1} << 40;
inline constexpr std::int32_t kMaxPriceGpus = 1 << 20;
inline constexpr std::int64_t kMaxPriceCapacity = std::int64_t{1} << 30;

/// The choices. A job takes one of its options, or none, which has the value 0.
struct PriceView {
  std::int32_t n_jobs;
  std::int32_t n_types;
  const std::int64_t* capacity;      // [n_types] GPUs
  const std::int32_t* option_begin;  // [n_jobs + 1]
  const std::int32_t* type;          // [options]
  const std::int32_t* gpus;          // [options] >= 1
  const std::int64_t* value;         // [options]
};

struct PriceRequest {
  std::int64_t gap_ppm;           // the gap at which the search stops, in millionths of the bound
  std::int32_t most_evaluations;  // >= 1
  bool bound_only;                // compute prices and bound only; no choice
  const std::int64_t* prices;     // [n_types] of an earlier decision; null: none
};

/// Output columns; the caller provides them.
struct PriceResult {
  std::int32_t* option;       // [n_jobs] relative to the job's first, -1: none
  std::int64_t* price;        // [n_types] price of one GPU
  std::int64_t* used;         // [n_types] GPUs
  std::int64_t* value;        // [1] value of the choice
  std::int64_t* bound;        // [1] upper bound on the value of any choice
  std::int32_t* evaluations;  // [1] work done: as `most_evaluations` it reproduces the answer
};

// for_each_column: see base/columns.hpp. `c` is the problem whose sizes count.

template <class Visit, ViewOf<PriceView>... Views>
void for_each_column(const PriceView& c, Visit&& visit, Views&... views) {
  const std::int64_t options = c.option_begin[c.n_jobs];
  visit(std::int64_t{c.n_types}, views.capacity...);
  visit(std::int64_t{c.n_jobs} + 1, views.option_begin...);
  visit(options, views.type...);
  visit(options, views.gpus...);
  visit(options, views.value...);
}
static_assert(sizeof(PriceView) == 48, "PriceView changed: list its new columns above, then change this number");

template <class Visit, ViewOf<PriceRequest>... Views>
void for_each_column(const PriceView& c, Visit&& visit, Views&... views) {
  visit(std::int64_t{c.n_types}, views.prices...);
}
static_assert(sizeof(PriceRequest) == 24, "PriceRequest changed: list its new columns above, then change this number");

template <class Visit, ViewOf<PriceResult>... Views>
void for_each_column(const PriceView& c, Visit&& visit, Views&... views) {
  const std::int64_t types = c.n_types, one = 1;
  visit(std::int64_t{c.n_jobs}, views.option...);
  visit(types, views.price...);
  visit(types, views.used...);
  visit(one, views.value...);
  visit(one, views.bound...);
  visit(one, views.evaluations...);
}
static_assert(sizeof(PriceResult) == 48, "PriceResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
