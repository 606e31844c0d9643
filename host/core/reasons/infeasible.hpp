#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/model/capacity.hpp"

namespace berth::core {

/// Whether a demand can never fit, whichever jobs leave: necessary conditions on everything that exists.
/// `certificate_holds` checks the same from descriptions. A feasible demand is recognised after a few nodes.
class Infeasible {
 public:
  /// `total`: all GPUs that exist, whatever the state of their node, with all their cores and memory.
  /// `lasting_filters`: as the problem's, without temporary restrictions (reservations).
  void begin(const kernel::ProblemView& problem, const SupplyView& total, const std::uint64_t* lasting_filters);
  /// A certified reason, or code kNone.
  Reason find(std::int32_t demand);
  /// Whether some group by itself can never satisfy its spread or segments. No certificate covers that.
  bool never_apart(std::int32_t demand);

 private:
  bool may_use(const kernel::DemandRow& d, std::int32_t node) const;
  template <class Found>
  bool any_allowed(const kernel::DemandRow& d, const Found& found) const;
  bool possible(const kernel::DemandRow& d) const;
  std::int64_t members_apart(const kernel::DemandRow& d, const kernel::GroupRow& group, std::int32_t topology, std::int32_t level,
                             std::int64_t most, std::int64_t unit);
  bool possible_inside(const kernel::DemandRow& d, const kernel::GroupRow& group) const;
  Reason of_group(const kernel::DemandRow& d, const kernel::GroupRow& group) const;
  Reason of_require(const kernel::DemandRow& d, const kernel::GroupRow& group);

  const kernel::ProblemView* problem_ = nullptr;
  Capacity total_;
  const std::uint64_t* lasting_ = nullptr;
  std::vector<std::int64_t> gpus_, members_;  // [domains of a level, or nodes]
};

}  // namespace berth::core
