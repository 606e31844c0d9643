#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/reasons/infeasible.hpp"
#include "host/core/reasons/shortage.hpp"

namespace berth::core {

/// The state around one scheduling pass, as the reasons need it. All pointers must stay valid until the next begin().
struct ReasonInput {
  const kernel::ProblemView* problem = nullptr;
  /// [options] as the jobs request them, before a packing cuts demands to whole nodes: the subject of certificates.
  /// Null: the problem's.
  const kernel::OptionRow* asked = nullptr;
  const std::uint8_t* left_out = nullptr;    // [options] 1: the pass does not try it; null: it tries all
  SupplyView free;                           // after the pass: without the GPUs of placed jobs, with those of preempted ones
  const std::int64_t* queue_used = nullptr;  // [n_queues * (n_types + 1)] after the pass
  /// Everything that exists: `free` = mask of all GPUs of the node, including failed, held and spare ones; `cpu`,
  /// `memory` = the node's total (kNoLimit: not modelled); `sharing` = as described, whatever the node's state.
  SupplyView total;
  /// [n_nodes] GPUs out of service, and those that some job holds after the pass; null: all are in service.
  const std::uint64_t *drained = nullptr, *failed = nullptr, *held = nullptr;
  /// [jobs], rows: what jobs held when the decision began. The problem has no rows of a job that lost GPUs.
  const std::int32_t* held_begin = nullptr;
  const std::int32_t* held_end = nullptr;
  const kernel::HeldRow* held_rows = nullptr;
  const TimeUs* option_run = nullptr;  // [options] as in PlaceRequest
  TimeUs now = 0;
  const std::uint64_t* lasting_filters = nullptr;  // see Infeasible::begin
  /// Changes with demands, filters, node descriptions or `total`; certificates are cached while it stays the same. 0:
  /// never cache.
  std::uint64_t cluster_version = 0;
};

/// Outcome of the pass for one job.
struct JobPass {
  std::int32_t job = kernel::kNone;
  kernel::Outcome outcome = kernel::Outcome::kWaits;
  /// Index of the related job, else kNone. kPreempted: the job that displaced it. kBehind: the first job that failed.
  /// kWaits, kQuota and kReserved: the first reserved job, when it came before this one.
  std::int32_t other = kernel::kNone;
  bool may_run = false;        // known to have no certificate
  bool lost_gpus = false;      // it ran on GPUs that failed and could not be repaired
  bool gave_up = false;        // outcome kGaveUp
  TimeUs reserve_at = kNever;  // kReserved: when the job will start
  TimeUs other_at = kNever;    // when that reserved job will start
};

/// Finds the dominant reason of every job that does not simply start or stay.
///
/// Once per plan: begin(), then explain() for each job with outcome kWaits, kBehind, kQuota, kBudget, kPreempted or
/// kReserved, in any order. Precedence is that of ReasonCode's comment. The evidence is that of the alternative that
/// needs the smallest change (the first such in the order of options). A reason with `certified` means that no
/// alternative can ever run: the engine rejects that job.
///
/// Evidence is cached per demand (and, where nodes close, per set of nodes that stay open long enough). Thousands of
/// jobs with few demands then read the nodes once per demand. No allocation after the first problem of the same size.
class ReasonBuilder {
 public:
  void begin(const ReasonInput& input);
  /// The same for certificates alone, which need neither `free` nor what is out of service.
  void begin_certificates(const ReasonInput& input);
  Reason explain(const JobPass& job);
  /// The certificate of a job that can never run, else code kNone.
  Reason never(std::int32_t job_index) { return certificate(job_index); }
  /// Whether a job can never run in one of its alternatives. `option`: in ProblemView::options.
  bool never_in(std::int32_t job_index, std::int32_t option);
  /// Adds to a reason that was found elsewhere which GPUs are out of service that the job could use.
  void add_unavailable(std::int32_t job_index, Reason& reason) const;

 private:
  Reason certificate(std::int32_t job_index);
  std::size_t cell(std::int32_t queue, std::int32_t column) const {
    return static_cast<std::size_t>(queue) * static_cast<std::size_t>(in_.problem->n_types + 1) + static_cast<std::size_t>(column);
  }
  std::int64_t kept_idle(std::int32_t queue, std::int32_t column) const;  // what a queue keeps and does not use
  bool quota_fails(std::int32_t job_index, const kernel::DemandRow& demand, bool ever, Reason& reason) const;
  bool lacks_only(std::int32_t job_index, std::int32_t option, const Reason& quota);
  bool left_out(std::int32_t option) const { return in_.left_out != nullptr && in_.left_out[option] != 0; }
  const Reason& infeasible(std::int32_t demand);
  const Reason& shortage(std::int32_t demand, TimeUs run);
  bool some_may_run(std::int32_t job_index);
  Reason smallest_shortage(std::int32_t job_index, bool& fits);
  std::int32_t fitting_demand(std::int32_t job_index);
  std::uint64_t unavailable(std::int32_t node) const;
  void add_node(std::int32_t node, std::uint64_t gpus, Reason& reason) const;
  bool would_serve(const kernel::DemandRow& demand, std::int32_t node) const;
  void add_unavailable(const kernel::DemandRow& demand, Reason& reason) const;
  void add_lost(std::int32_t job_index, Reason& reason) const;

  ReasonInput in_;
  bool infeasible_begun_ = false;
  Infeasible infeasible_;
  Shortage shortage_;
  std::vector<std::int64_t> kept_below_;  // [queues * (types + 1)] `kept_idle` of its children; empty where no queue keeps anything
  std::vector<TimeUs> untils_;            // distinct finite ends of nodes, ascending
  std::vector<Reason> short_of_, never_;  // [demands * (untils + 1)], [demands]
  std::vector<std::uint8_t> apart_;       // [demands] 1: Infeasible::never_apart
  std::vector<std::uint32_t> short_seen_, never_seen_;
  std::uint32_t epoch_ = 0, never_epoch_ = 0;
  std::uint64_t version_ = 0;
  std::vector<std::int32_t> out_of_service_;                          // nodes of which something is, ascending
  mutable std::vector<std::pair<std::int32_t, std::uint64_t>> lost_;  // scratch of add_lost
};

}  // namespace berth::core
