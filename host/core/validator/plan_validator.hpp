#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/model/cluster_facts.hpp"
#include "host/core/model/gang_check.hpp"
#include "host/core/reasons/certificate.hpp"

namespace berth::core {

struct ValidateOptions {
  std::size_t most = 20;               ///< maximum number of violations reported
  CertificateMemory* known = nullptr;  ///< certificates checked already, of the same facts; null: the validator's own memory
};

/// What running jobs hold, as the state counts it.
struct HeldSums {
  std::span<const std::uint64_t> gpus;        ///< [nodes]
  std::span<const std::int64_t> cpu, memory;  ///< [nodes] milli-cores, bytes
  std::span<const std::int64_t> queue;        ///< [queues * (types + 1)] millionths of a GPU that are charged: kernel::ProblemView
  std::span<const std::int32_t> broken;       ///< nodes with GPUs that are held and do not work
};

/// Checks plans against descriptions. Reuses its memory: after a first plan of the same size a valid plan costs no
/// allocation.
///
/// Every job has one decision in job-rank order, and its action fits its state. The resulting allocations (kept,
/// started, moved, repaired) use existing, healthy, open, unshared GPUs, cores, memory and quotas within their limits.
/// Kept jobs keep exactly what they hold; displaced ones were preemptible; gangs are complete (GangCheck). A
/// reservation is checked against what is still held or reserved during it. A job that waits, is rejected or is preempted has
/// a reason. Over-commitment among kept jobs' cores, memory and quotas in the state is not an error of the plan.
///
/// O(decisions + entries) for kept and waiting jobs; a started job costs its entries times its constraints.
class PlanValidator {
 public:
  /// @returns the violations, at most `options.most`; valid until the next call.
  const std::vector<std::string>& check(const ClusterFacts& facts, const Plan& plan, const ValidateOptions& options = {});
  /// The same for a plan of changes, on a state in which no open node has shares of GPUs. O(what it lists).
  ///
  /// It trusts `held`: that it is what all running jobs hold, and names all nodes with GPUs that are held and do not work.
  /// So jobs that are not listed are not read. It does not check what a plan says of them: how many of them wait and
  /// how many are kept, the totals of GPUs, and the objective. `check` does, on the plan that `complete` makes of it.
  const std::vector<std::string>& check_changes(const ClusterFacts& facts, const HeldSums& held, const Plan& plan,
                                                const ValidateOptions& options = {});

 private:
  struct Use {
    std::uint64_t whole = 0;   // GPUs given whole
    std::uint64_t shared = 0;  // GPUs with shares
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::uint64_t works = 0;  // of NodeFacts, as is `type`: copied because kept jobs are many and nodes are spread over memory
    std::int32_t type = -1;
    bool changed = false;  // a new job is here: the sums are due to the plan
  };
  struct Share {
    std::int32_t node, gpu;
    std::int64_t ppm, memory, order;
    bool operator<(const Share& o) const { return node != o.node ? node < o.node : gpu != o.gpu ? gpu < o.gpu : order < o.order; }
  };

  /// A job on a node, now or later.
  struct Stay {
    std::int32_t node;
    TimeUs from, to;
    bool later;  // reserved
    const Decision* decision;
    const PlanEntry* entry;
  };

  void reset(const ClusterFacts& facts);
  void reset_sums(const ClusterFacts& facts);
  void read_held(const HeldSums& held);
  bool in_order(Violations& found) const;
  void find_highest_class();
  void check_decision(const Decision& decision, Violations& found);
  bool entries_exist(const Decision& decision, const Job& job, Violations& found);
  void check_action(const Decision& decision, const JobFacts& job, Violations& found);
  void check_kept(const Decision& decision, const JobFacts& job, Violations& found);
  void check_placed(const Decision& decision, const JobFacts& job, Violations& found);
  void check_open(const Decision& decision, const Job& job, const PlanEntry& entry, TimeUs start, bool repairs, Violations& found);
  bool held_before(const JobFacts& job, const PlanEntry& entry) const;
  void check_repaired(const Decision& decision, const JobFacts& job, Violations& found);
  void check_displaced(const Decision& decision, const JobFacts& job, Violations& found);
  void charge(const Job& job, const PlanEntry& entry, std::int64_t decision, bool is_new, Violations& found);
  void add_use(const Job& job, const PlanEntry& entry, std::int64_t decision, bool is_new);
  void charge_queue(const JobFacts& job, std::int32_t type, std::int64_t quota, bool is_new);
  void keep_idle_quotas();
  void check_batch(const Decision& decision, const Job& job, const Shape& shape, Violations& found);
  void check_shares(Violations& found);
  void check_nodes(Violations& found);
  void check_queues(Violations& found);
  void check_node(std::int32_t rank, Violations& found);
  void check_reservations(Violations& found);
  void find_stays();
  void check_stays(std::span<const Stay> stays, Violations& found);
  void check_apart(const Stay& stay, const Stay& other, Violations& found);
  bool sums_fit(std::int32_t node, Violations& found);
  void check_reserved_limits(Violations& found);
  void check_limits_then(const Decision& decision, Violations& found);
  bool has_limit(std::int32_t queue) const;
  void charge_decision(const Decision& decision, std::int64_t sign);
  void check_totals(Violations& found);
  void check_actions(bool all_jobs, Violations& found);
  std::int64_t working_gpus();
  void report_clash(const Job& job, const PlanEntry& entry, std::uint64_t clash, std::int64_t decision, Violations& found);
  bool lost_gpus(const JobFacts& job) const;
  bool same_as_held(std::span<const PlanEntry> entries, std::span<const HeldFact> held);
  std::span<const PlanEntry> entries_of(const Decision& decision) const {
    return std::span(plan_->entries)
        .subspan(static_cast<std::size_t>(decision.entry_begin), static_cast<std::size_t>(decision.entry_end - decision.entry_begin));
  }

  const ClusterFacts* facts_ = nullptr;
  const Plan* plan_ = nullptr;
  ValidateOptions options_;
  GangCheck gang_;
  std::vector<std::string> out_;
  std::vector<Use> use_;             // [nodes]
  std::vector<std::int32_t> nodes_;  // that a plan of changes names
  std::vector<std::uint64_t> held_;  // [nodes] by running jobs; filled where some GPUs are being released
  std::vector<Share> shares_;
  std::vector<Stay> stays_;           // on nodes with reservations
  std::vector<const Stay*> present_;  // on one node at one instant
  /// [queues * (types + 1)] millionths of a GPU, with what queues below keep while idle; at last, when reservations begin.
  std::vector<std::int64_t> queue_use_;
  std::vector<const Decision*> begins_, ends_;  // of reservations by start; a heap of all that end, the first on top
  std::vector<std::uint8_t> queue_changed_;     // same shape
  std::vector<PlanEntry> sorted_a_, sorted_b_;  // allocations compared row by row
  CertificateMemory certificates_;
  std::int32_t highest_class_ = 0;  // of the jobs that this plan starts; used with `priority`
  bool any_start_ = false;
  std::int64_t gpus_used_ = 0;             // whole GPUs of the resulting allocations
  std::array<std::int64_t, 9> actions_{};  // decisions of each action
};

}  // namespace berth::core
