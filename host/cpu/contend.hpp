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
  static constexpr std::int32_t kTogether = 4;  // candidates of a dense product
  /// A part of the running jobs whose sums stay in the first cache.
  struct JobTile {
    std::int32_t first, jobs;
  };
  struct Top {
    std::int32_t value[kernel::kMostContendTop], job[kernel::kMostContendTop];
  };
  /// Memory of one thread.
  struct Lane {
    std::vector<std::uint16_t> narrow;  // sums of a tile, where they fit 16 bits
    std::vector<std::uint32_t> wide;
    std::vector<std::int32_t> link, left;  // a candidate's weighted uses that are not 0
    std::vector<std::int16_t> dense;       // [kTogether][dense_links_]
    std::vector<std::uint32_t> block_most;
    Top top[kTogether];
  };

  void sum_loads(const kernel::ContendView& problem, const kernel::ContendResult& result);
  bool dense(const kernel::ContendView& problem, const kernel::ContendRequest& request) const;
  void make_tiles(const kernel::ContendView& problem);
  void index_jobs(const kernel::ContendView& problem);
  void fill_dense(const kernel::ContendView& problem);
  void sum_weights(const kernel::ContendView& problem);
  void weigh(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
             const kernel::ContendResult& result, Lane& lane) const;
  void sparse_row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
                  const kernel::ContendResult& result, Lane& lane) const;
  template <class Sum>
  void sum_row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
               const kernel::ContendResult& result, Lane& lane, std::vector<Sum>& sums) const;
  void dense_rows(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t first, std::int32_t last,
                  const kernel::ContendResult& result, Lane& lane) const;

  std::vector<std::int64_t> load_;
  std::vector<JobTile> tiles_;
  std::vector<std::int32_t> column_begin_, next_;  // [tiles][n_links], and the end
  std::vector<std::uint16_t> column_job_;          // by tile and link: place of the job in its tile
  std::vector<std::uint8_t> column_use_;           // and its use in a product
  std::vector<std::int32_t> column_most_;          // [n_links] largest use in a product
  std::vector<std::int64_t> column_sum_;           // [n_links] sum of use x weight of the job
  std::vector<std::int16_t> dense_;                // [n_jobs][dense_links_] uses in a product
  std::int32_t dense_links_ = 0;                   // a multiple of 16
  std::vector<Lane> lanes_;
};

}  // namespace berth::cpu
