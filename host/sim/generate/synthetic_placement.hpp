#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "berth/job.hpp"
#include "host/sim/generate/fabric.hpp"

namespace berth::sim {

/// Places jobs on a layout for the generator: valid, tight, fast.
/// It does not replace the engine's placement; it only makes a cluster look used.
class SyntheticPlacement {
 public:
  /// GPUs of one node that one job uses.
  struct Taken {
    std::int32_t node = 0;
    std::uint64_t mask = 0;
    std::int32_t share_ppm = kWholeGpu;
  };

  explicit SyntheticPlacement(const ClusterLayout& layout);

  /// Places the shape on nodes of pools with pool_ok [pools], all of one GPU type. Otherwise changes nothing and returns false.
  bool place(const Shape& shape, const std::vector<std::uint8_t>& pool_ok, Allocation& allocation, std::vector<Taken>& taken);
  /// Releases what a job used.
  void leave(const std::vector<Taken>& taken);

  std::int64_t free_gpus() const { return free_total_; }

 private:
  struct Range {
    std::int32_t first, last;  // units
  };
  struct GroupRequest {
    std::int32_t members, gpus;
    std::int32_t segment;  // members per unit are a multiple of this; 0: any number
    std::int32_t spread;   // maximum number of members per fault domain or node; 0: any
    bool spread_nodes;
  };

  bool place_type(const Shape& shape, std::int32_t type);
  bool place_one(std::int32_t gpus);
  bool place_share(std::int32_t share_ppm);
  bool place_flat(std::int32_t gpus);
  bool place_group(const Shape& shape, std::size_t row, Range range);
  bool fill(Range range, GroupRequest request);
  void fill_unit(std::int32_t unit, std::int32_t members, const GroupRequest& request);
  bool fill_tight(Range range, GroupRequest request);
  std::vector<Range> inside(Range range, const LevelRef& level) const;

  bool allowed(std::int32_t node) const { return type_ok_[static_cast<std::size_t>(layout_.pool[static_cast<std::size_t>(node)])] != 0; }
  std::int32_t node_cap(std::int32_t node, const GroupRequest& request) const;
  std::int32_t unit_cap(std::int32_t unit, const GroupRequest& request) const;
  void take(std::int32_t node, std::int32_t gpus);
  void give(const Taken& one);
  void roll_back(std::size_t to);
  void set_free(std::int32_t node, std::uint64_t mask);
  /// The node of an allowed pool with the fewest free GPUs that are enough; -1: none.
  std::int32_t tightest_node(std::int32_t gpus);

  const ClusterLayout& layout_;
  std::vector<std::uint64_t> free_;      // [nodes]
  std::vector<std::int32_t> unit_free_;  // [units]
  std::vector<std::int32_t> used_ppm_;   // [nodes * gpus_per_node] of shared GPUs
  // Nodes by (pool, free GPUs) and shared GPUs by (pool, used fraction). Stale rows are dropped when they are found.
  std::vector<std::vector<std::int32_t>> by_free_;
  std::vector<std::map<std::int32_t, std::vector<std::int32_t>>> by_used_;
  std::int64_t free_total_ = 0;

  // Of the job being placed.
  std::vector<std::uint8_t> type_ok_;
  std::vector<Taken> taken_;
  std::vector<std::size_t> row_of_;  // [taken_] index in the shape's groups
  std::size_t row_ = 0;
};

}  // namespace berth::sim
