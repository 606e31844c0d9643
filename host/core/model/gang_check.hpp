#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/model/cluster_facts.hpp"

namespace berth::core {

/// Checks the shape of one placed gang, independent of other jobs: every member placed once and whole on one node,
/// `require`, `spread` and `segment` at every depth over every topology, GPU type and memory, and the constraints on
/// nodes. Reuses its memory.
class GangCheck {
 public:
  /// `entries` are those of one decision; their nodes and masks exist (see PlanValidator). `held`: what a repaired gang
  /// holds, whose member count must not change. Empty for all others.
  void check(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries,
             std::span<const HeldFact> held, Violations& found);

 private:
  void check_pieces(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries, Violations& found);
  void check_types(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries, Violations& found);
  void check_members(const Job& job, const Shape& shape, std::span<const HeldFact> held, Violations& found);
  bool starts_smallest(const Shape& shape) const;
  void check_require(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries, Violations& found);
  void check_spread(const ClusterFacts& facts, const Job& job, const Group& group, std::span<const PlanEntry* const> rows,
                    Violations& found);
  void check_segment(const ClusterFacts& facts, const Job& job, const Group& group, std::span<const PlanEntry* const> rows,
                     Violations& found);

  std::vector<const PlanEntry*> sorted_;                          // by (group, member)
  std::vector<std::pair<std::int32_t, std::int32_t>> places_;     // (domain, members)
  std::vector<std::pair<std::string_view, std::int32_t>> names_;  // groups by name
  std::vector<std::int32_t> parent_;                              // [groups]
  std::vector<std::int32_t> inside_;                              // [groups] node that fixes the required domain, -1: none yet
};

}  // namespace berth::core
