#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/units.hpp"
#include "host/core/base/end_of.hpp"

namespace berth::core {

/// Demands together with the nodes that stay until a job ends: docs/placement.md, section 12. Jobs that end between the same two
/// ends of nodes may use the same nodes. So a demand has a row for each such interval in which some job ends.
///
/// Where no node has an end, the row of a demand is the demand.
class TimedDemands {
 public:
  /// Forgets all rows and reads the ends of the nodes.
  void begin(const kernel::ProblemView& p) {
    untils_ = untils_of(p);
    rows_.clear();
    ids_.clear();
  }
  /// Whether some node has an end.
  bool any() const { return !untils_.empty(); }
  /// Whether the ends are those of these nodes. O(nodes).
  bool are_of(const kernel::ProblemView& p) const { return untils_ == untils_of(p); }

  /// @param end  of the job, kNever: not known
  std::int32_t row(std::int32_t demand, TimeUs end) {
    if (!any()) return demand;
    const auto until = std::lower_bound(untils_.begin(), untils_.end(), end);
    const std::uint64_t key = static_cast<std::uint64_t>(demand) << 32 | static_cast<std::uint64_t>(until - untils_.begin());
    const auto [found, fresh] = ids_.try_emplace(key, static_cast<std::int32_t>(rows_.size()));
    if (fresh) rows_.push_back({demand, until == untils_.end() ? kNever : *until});
    return found->second;
  }
  std::int32_t demand(std::int32_t row) const { return any() ? rows_[static_cast<std::size_t>(row)].demand : row; }
  /// Nodes that stay until then are those that the jobs of a row may use. kNever: only nodes without an end.
  TimeUs end(std::int32_t row) const { return any() ? rows_[static_cast<std::size_t>(row)].end : kNever; }
  /// How many rows there are: more come.
  std::size_t size(const kernel::ProblemView& p) const { return any() ? rows_.size() : static_cast<std::size_t>(p.n_demands); }

  /// The first instant at which a job that waits, with that run time, loses another node; kNever: none.
  TimeUs loses_node_at(TimeUs now, TimeUs run) const {
    const auto until = std::lower_bound(untils_.begin(), untils_.end(), end_of(now, run));
    return until == untils_.end() ? kNever : *until - run + 1;
  }

 private:
  struct Row {
    std::int32_t demand;
    TimeUs end;
  };
  static std::vector<TimeUs> untils_of(const kernel::ProblemView& p) {
    std::vector<TimeUs> untils;
    for (std::int32_t node = 0; p.has_until != 0 && node < p.n_nodes; ++node) {
      if (p.node_until[node] != kNever) untils.push_back(p.node_until[node]);
    }
    std::sort(untils.begin(), untils.end());
    untils.erase(std::unique(untils.begin(), untils.end()), untils.end());
    return untils;
  }

  std::vector<TimeUs> untils_;  // distinct ends of nodes, ascending
  std::vector<Row> rows_;
  std::unordered_map<std::uint64_t, std::int32_t> ids_;  // of a demand, and the number of ends before the job's
};

}  // namespace berth::core
