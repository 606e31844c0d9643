#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "berth/job.hpp"
#include "host/sim/fabric.hpp"

namespace berth::sim {

/// Seats jobs on a floor for the generator: valid, tight, fast. Not the engine's placement and no rival of it; it
/// only has to make a cluster look lived in.
class Seating {
 public:
  /// GPUs of one node taken by one job.
  struct Taken {
    std::int32_t node = 0;
    std::uint64_t mask = 0;
    std::int32_t share_ppm = kWholeGpu;
  };

  explicit Seating(const Floor& floor);

  /// Seats the shape on nodes of pools with pool_ok [pools], all of one GPU type, or takes nothing and returns false.
  bool seat(const Shape& shape, const std::vector<std::uint8_t>& pool_ok, Allocation& allocation, std::vector<Taken>& taken);
  /// Gives back what a job took.
  void leave(const std::vector<Taken>& taken);

  std::int64_t free_gpus() const { return free_total_; }

 private:
  struct Range {
    std::int32_t first, last;  // units
  };
  struct Ask {
    std::int32_t members, gpus;
    std::int32_t segment;  // members per unit come in multiples of it; 0: any number
    std::int32_t spread;   // most members per fault domain or node; 0: any
    bool spread_nodes;
  };

  bool seat_type(const Shape& shape, std::int32_t type);
  bool seat_one(std::int32_t gpus);
  bool seat_share(std::int32_t share_ppm);
  bool seat_flat(std::int32_t gpus);
  bool seat_group(const Shape& shape, std::size_t row, Range range);
  bool fill(Range range, Ask ask);
  void fill_unit(std::int32_t unit, std::int32_t members, const Ask& ask);
  bool fill_tight(Range range, Ask ask);
  std::vector<Range> inside(Range range, const LevelRef& level) const;

  bool allowed(std::int32_t node) const { return type_ok_[static_cast<std::size_t>(floor_.pool[static_cast<std::size_t>(node)])] != 0; }
  std::int32_t node_cap(std::int32_t node, const Ask& ask) const;
  std::int32_t unit_cap(std::int32_t unit, const Ask& ask) const;
  void take(std::int32_t node, std::int32_t gpus);
  void give(const Taken& one);
  void roll_back(std::size_t to);
  void set_free(std::int32_t node, std::uint64_t mask);
  /// A node of an allowed pool with at least so many free GPUs, the fewest first; -1: none.
  std::int32_t tightest_node(std::int32_t gpus);

  const Floor& floor_;
  std::vector<std::uint64_t> free_;      // [nodes]
  std::vector<std::int32_t> unit_free_;  // [units]
  std::vector<std::int32_t> used_ppm_;   // [nodes * gpus_per_node] of shared GPUs
  // Nodes by (pool, free GPUs) and shared GPUs by (pool, used parts); stale rows are dropped when met.
  std::vector<std::vector<std::int32_t>> by_free_;
  std::vector<std::map<std::int32_t, std::vector<std::int32_t>>> by_used_;
  std::int64_t free_total_ = 0;

  // Of the job being seated.
  std::vector<std::uint8_t> type_ok_;
  std::vector<Taken> taken_;
  std::vector<std::size_t> row_of_;  // [taken_] row of the shape's groups
  std::size_t row_ = 0;
};

}  // namespace berth::sim
