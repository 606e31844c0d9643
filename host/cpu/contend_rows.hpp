#pragma once

#include <algorithm>
#include <cstdint>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/contend/columns.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/top.hpp"

/// What the methods of `contend` on the CPU do with a candidate's products.
namespace berth::cpu {

inline constexpr std::int32_t kContendBlock = 64;  // sums whose largest is found together

inline std::int32_t whole_contend_blocks(std::int32_t n) { return (n + kContendBlock - 1) / kContendBlock * kContendBlock; }

inline bool wants_top(const kernel::ContendRequest& request, const kernel::ContendResult& result) {
  return request.k > 0 && (result.top_value != nullptr || result.top_job != nullptr);
}

/// The k-th largest of the first n values; n >= k >= 1.
inline std::uint32_t kth_largest(const std::uint32_t* values, std::int32_t n, std::int32_t k) {
  std::uint32_t largest[kernel::kMostContendTop];
  std::fill_n(largest, k, 0U);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::uint32_t v = values[i];
    if (v <= largest[k - 1]) continue;
    std::int32_t at = k - 1;
    for (; at > 0 && largest[at - 1] < v; --at) largest[at] = largest[at - 1];
    largest[at] = v;
  }
  return largest[k - 1];
}

/// Keeps the largest of n sums, in whole blocks. A block is read again only where its largest sum may be among the k largest.
/// @param block_most  [n / kContendBlock] scratch
template <class Sum>
void keep_largest(const Sum* sums, std::int32_t n, std::int32_t first_job, std::uint32_t* block_most, kernel::ContendTop& top) {
  const std::int32_t blocks = n / kContendBlock;
  for (std::int32_t b = 0; b < blocks; ++b) {
    Sum most = 0;
    for (std::int32_t i = 0; i < kContendBlock; ++i) most = std::max(most, sums[b * kContendBlock + i]);
    block_most[b] = most;
  }
  std::uint32_t bar = 0;  // values above it are kept
  if (blocks >= top.k) {
    const std::uint32_t kth = kth_largest(block_most, blocks, top.k);
    bar = kth == 0 ? 0 : kth - 1;  // at least k sums reach it, and those that equal it come in the order of jobs
  }
  bar = std::max(bar, static_cast<std::uint32_t>(top.bar()));
  for (std::int32_t b = 0; b < blocks; ++b) {
    if (block_most[b] <= bar) continue;
    for (std::int32_t i = b * kContendBlock; i < (b + 1) * kContendBlock; ++i) {
      if (sums[i] <= bar) continue;
      top.add(static_cast<std::int32_t>(sums[i]), first_job + i);
      bar = std::max(bar, static_cast<std::uint32_t>(top.bar()));
    }
  }
}

/// Takes a candidate's products with the jobs of a tile.
/// @param sums  [whole blocks] of the jobs of the tile, then zeros
template <class Sum>
void collect_tile(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result,
                  std::int32_t candidate, std::int32_t first_job, std::int32_t jobs, Sum* sums, std::uint32_t* block_most,
                  kernel::ContendTop& top) {
  const std::int32_t excluded = kernel::excluded_job(request, candidate);
  if (excluded >= first_job && excluded < first_job + jobs) sums[excluded - first_job] = 0;
  if (result.pair_value != nullptr) {
    std::int32_t* const to = result.pair_value + std::int64_t{candidate} * problem.n_jobs + first_job;
    for (std::int32_t j = 0; j < jobs; ++j) to[j] = static_cast<std::int32_t>(sums[j]);
  }
  if (wants_top(request, result)) keep_largest(sums, whole_contend_blocks(jobs), first_job, block_most, top);
}

/// Writes the largest of all tiles.
inline void write_top(const kernel::ContendRequest& request, const kernel::ContendResult& result, std::int32_t candidate,
                      const kernel::ContendTop& top) {
  if (!wants_top(request, result)) return;
  top.finish();
  const std::int64_t at = std::int64_t{candidate} * request.k;
  if (result.top_value != nullptr) std::copy_n(top.value, request.k, result.top_value + at);
  if (result.top_job != nullptr) std::copy_n(top.job, request.k, result.top_job + at);
}

}  // namespace berth::cpu
