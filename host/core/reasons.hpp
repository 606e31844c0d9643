#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/infeasible.hpp"
#include "host/core/shortage.hpp"

namespace berth::core {

/// The state around one walk, as the reasons need it. All pointers must stay valid until the next begin().
struct ReasonInput {
  const kernel::ProblemView* problem = nullptr;
  /// [options] as the jobs ask, before a packing cuts demands to whole nodes: what certificates are about. Null: the problem's.
  const kernel::OptionRow* asked = nullptr;
  SupplyView free;                           // after the walk: what placed jobs took is gone, what preempted ones held is back
  const std::int64_t* queue_used = nullptr;  // [n_queues * (n_types + 1)] after the walk
  /// Everything that exists: `free` = mask of all GPUs of the node, failed, held and spare ones included; `cpu`, `memory` = what
  /// the node has in all (kNoLimit: not modelled); `sharing` = what the description says, whatever the node's state.
  SupplyView total;
  const TimeUs* option_run = nullptr;  // [options] as in PlaceRequest
  TimeUs now = 0;
  const std::uint64_t* lasting_filters = nullptr;  // see Infeasible::begin
  /// Changes whenever demands, filters, node descriptions or `total` change; certificates are kept while it stays the same.
  /// 0: never keep.
  std::uint64_t cluster_version = 0;
};

/// What the walk did with one job.
struct JobWalk {
  std::int32_t slot = kernel::kNone;
  kernel::Outcome outcome = kernel::Outcome::kWaits;
  /// kPreempted: the job that displaced it. kBehind: the first job that failed. kWaits and kQuota under kEasy: the reserved job,
  /// when it stood before this one. Else kNone. Slots.
  std::int32_t other = kernel::kNone;
  bool may_run = false;        // known to have no certificate
  bool lost_gpus = false;      // it ran on GPUs that failed and could not be mended
  bool gave_up = false;        // outcome kGaveUp
  TimeUs reserve_at = kNever;  // when the reserved job will start
};

/// Finds the dominant reason of every job that does not simply start or stay.
///
/// Once per plan: begin(), then explain() for each job with outcome kWaits, kBehind, kQuota, kBudget, kPreempted or kReserved.
/// The order of calls does not matter. Precedence is that of ReasonCode's comment; among the alternatives of a job the evidence is
/// that of the one that needs the smallest change (the first such in the order of options). A reason with `certified` means that no
/// alternative can ever run: the engine declines that job.
///
/// Evidence is memoised per demand (and per set of nodes that stay long enough, where some close): thousands of jobs with few
/// demands cost one look at the nodes per demand. No allocation after warm-up on problems of the same size.
class ReasonBuilder {
 public:
  void begin(const ReasonInput& input);
  Reason explain(const JobWalk& job);
  /// The certificate of a job that can never run, else code kNone.
  Reason never(std::int32_t slot) { return certificate(slot); }
  /// Whether a job can never run in one of its alternatives. `option`: in ProblemView::options.
  bool never_in(std::int32_t slot, std::int32_t option);

 private:
  Reason certificate(std::int32_t slot);
  bool quota_fails(std::int32_t slot, const kernel::DemandRow& demand, bool ever, Reason& reason) const;
  bool lacks_only(std::int32_t slot, std::int32_t option, const Reason& quota);
  const Reason& infeasible(std::int32_t demand);
  const Reason& shortage(std::int32_t demand, TimeUs run);
  Reason smallest_shortage(std::int32_t slot, bool& fits);
  std::int32_t fitting_demand(std::int32_t slot);

  ReasonInput in_;
  Infeasible infeasible_;
  Shortage shortage_;
  std::vector<TimeUs> untils_;            // distinct finite ends of nodes, ascending
  std::vector<Reason> short_of_, never_;  // [demands * (untils + 1)], [demands]
  std::vector<std::uint8_t> apart_;       // [demands] 1: Infeasible::never_apart
  std::vector<std::uint32_t> short_seen_, never_seen_;
  std::uint32_t epoch_ = 0, never_epoch_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace berth::core
