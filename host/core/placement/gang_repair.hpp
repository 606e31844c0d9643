#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/model/gang_check.hpp"
#include "host/core/placement/final_state.hpp"

namespace berth {
class StateImpl;
struct JobRecord;
}  // namespace berth

namespace berth::core {

/// Repairs gangs after node or GPU failures without evicting them: docs/placement.md section 8.
class GangRepair {
 public:
  /// Before the first repair in `now`. @param jobs  all that lost GPUs
  void begin(const StateImpl& state, std::span<const std::int32_t> jobs, FinalState& now);
  /// Places the lost members of a running job again, or drops those that the group can spare. On success `out` holds
  /// the whole gang in rank order and `now` is charged for it; on failure both are unchanged.
  bool repair(const StateImpl& state, std::int32_t job, FinalState& now, std::vector<PlanEntry>& out);

 private:
  enum class From : std::uint8_t { kSpares, kAll, kAllOrDrop };
  struct Member {
    std::int32_t row, member, node;  // row of the demand; node kNone while lost
    std::uint64_t mask;
    bool is_new, dropped;
  };
  struct Lost {
    std::int32_t row, node;
    std::uint64_t mask;
  };
  /// Location of the members around a lost one: their common domain at each level from the node up, kNone where they
  /// have none.
  struct Near {
    std::int32_t topology;
    std::vector<std::int32_t> domain;
  };
  bool read_members(const StateImpl& state, const JobRecord& record, const kernel::DemandRow& demand, const Shape& shape);
  bool place_lost(const StateImpl& state, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from);
  std::int32_t best_node(const StateImpl& state, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from,
                         const Member& lost);
  bool allowed(const StateImpl& state, const kernel::DemandRow& demand, const Member& lost, std::int32_t node) const;
  void look_around(const StateImpl& state, const kernel::DemandRow& demand, const Member& lost);
  void add_near(const StateImpl& state, std::int32_t begin, std::int32_t end, std::int32_t topology, std::int32_t top,
                std::vector<Near>& out) const;
  /// Sum of the levels between the node and each of them.
  static std::int32_t distance(const StateImpl& state, const std::vector<Near>& all, std::int32_t node);
  bool drop(const StateImpl& state, const kernel::DemandRow& demand, FinalState& now, const Member& lost);
  void undo(const StateImpl& state, const kernel::DemandRow& demand, FinalState& now);
  void give_back(const StateImpl& state, const kernel::DemandRow& demand, FinalState& now, const Member& placed);
  void append_entries(const StateImpl& state, const kernel::DemandRow& demand, std::vector<PlanEntry>& out) const;
  /// Whether the gang of the trial, now in these places, would end later than a node that it took.
  bool outstays(const StateImpl& state, std::int32_t job, std::span<const PlanEntry> gang) const;

  std::vector<std::int32_t> nodes_;  // on which GPUs are free or may come free, ascending: few of a busy cluster
  std::vector<Member> members_, trial_;
  std::vector<Lost> lost_;
  std::vector<std::int32_t> least_;  // [rows of the demand] members below which a group is not repaired
  std::vector<Near> preferred_;      // one per group around the lost member that prefers a level
  std::vector<Near> base_;           // of its own group, at most one
  GangCheck gang_;
};

/// Rate of a running job with the members and at the places of `gang`.
std::int64_t repaired_rate(const StateImpl& state, std::int32_t job, std::span<const PlanEntry> gang);

}  // namespace berth::core
