#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/contend/columns.hpp"
#include "host/cpu/threads.hpp"

namespace berth::cpu {

/// Loads of links and products of pairs (docs/contention.md) on CPU threads. Keeps its memory between calls, but not its threads.
class CpuContention {
 public:
  void run(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result, int threads);

 private:
  /// A part of the running jobs whose sums stay in the first cache.
  struct JobTile {
    std::int32_t first, jobs;
  };
  /// Memory of one thread.
  struct Lane {
    std::vector<std::uint16_t> narrow;  // sums of a tile, where they fit 16 bits
    std::vector<std::uint32_t> wide;
    std::vector<std::int32_t> link, left;  // a candidate's weighted uses that are not 0
    std::vector<std::uint32_t> block_most;
    std::int32_t top_value[kernel::kMostContendTop], top_job[kernel::kMostContendTop];
  };

  void sum_loads(const kernel::ContendView& problem, const kernel::ContendResult& result);
  void index_jobs(const kernel::ContendView& problem);
  void sum_weights(const kernel::ContendView& problem);
  void pairs(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
             const kernel::ContendResult& result, Lane& lane) const;
  template <class Sum>
  void row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
           const kernel::ContendResult& result, Lane& lane, std::vector<Sum>& sums) const;

  std::vector<std::int64_t> load_;
  std::vector<JobTile> tiles_;
  std::vector<std::int32_t> column_begin_, next_;  // [tiles][n_links], and the end
  std::vector<std::uint32_t> columns_;             // by tile and link: place of the job in its tile, and its use in the lowest 8 bits
  std::vector<std::int32_t> column_most_;          // [n_links] largest use in a product
  std::vector<std::int64_t> column_sum_;           // [n_links] sum of use x weight of the job
  std::vector<Lane> lanes_;
};

}  // namespace berth::cpu
