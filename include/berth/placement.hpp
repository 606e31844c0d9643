#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/export.hpp"
#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

/// Placement without a plan: the best places of each job, for schedulers that keep their own loop; and many "what if" walks
/// over one state, for planners. What placement means in every detail: docs/placement.md; how to ask: docs/what-if.md.
namespace berth {

/// Whole free GPUs of one node that a question counts as not free, as though somebody else had them. GPUs that are not free are
/// not touched: what runs there stays, and when a walk displaces it they become free for others.
struct TakenGpus {
  std::string node;                        ///< id
  std::uint64_t gpus = ~std::uint64_t{0};  ///< mask of GPU indices; default: all
};

inline constexpr std::int32_t kMostCandidates = 16;  ///< of one job

struct ScoreRequest {
  std::vector<std::string> jobs;                                  ///< ids; empty: all waiting jobs, by job rank
  LevelRef level{Facet::kSwitch, "node"};                         ///< candidates are the nodes, or the named domains of this level
  std::int64_t leftover_weight = 1;                               ///< GPU-milliseconds per GPU that would be left free in the place
  std::vector<std::pair<std::string, std::int64_t>> domain_cost;  ///< node id or full domain path -> GPU-milliseconds added, any sign
  std::int32_t k = 1;                                             ///< candidates per job, 1..kMostCandidates
  std::vector<TakenGpus> taken;
};

/// One place for one shape of one job. score = gpu_time_ms + leftover_weight * leftover + domain_cost, saturated.
struct Candidate {
  std::int32_t shape = -1;       ///< index in the job's shapes
  std::string_view gpu_type;     ///< on which the shape would run
  std::string_view where;        ///< node id, full domain path, or "the cluster"; points into the state
  std::int32_t node = -1;        ///< rank, where the level is "node"
  std::int64_t score = 0;        ///< GPU-milliseconds, least first
  std::int64_t gpu_time_ms = 0;  ///< GPUs times predicted run time; 0: not known
  std::int64_t leftover = 0;     ///< GPUs left free in the place
  std::int64_t domain_cost = 0;
  bool operator==(const Candidate&) const = default;
};

/// Candidates of all jobs asked for; valid for one revision of one state.
struct Candidates {
  std::vector<std::int32_t> job;    ///< [n] slots, in the order asked
  std::vector<std::int32_t> begin;  ///< [n + 1] rows of `rows`; job i has at most k, none where it fits nowhere
  std::vector<Candidate> rows;

  std::span<const Candidate> of(std::size_t i) const {
    return std::span(rows).subspan(static_cast<std::size_t>(begin[i]), static_cast<std::size_t>(begin[i + 1] - begin[i]));
  }
};

/// One "what if" over a state. A default one asks what `Engine::decide` would say under fifo.
struct Scenario {
  std::string policy = "fifo";  ///< gives the order of the jobs, the discipline, and whether running jobs may be displaced
  std::vector<std::pair<std::string, std::string>> params;  ///< "discipline", "packing", "max_tries" and its own; see `policies()`
  std::vector<std::string> order;      ///< job ids, most important first, no repeats; not empty: in place of the policy's order.
                                       ///< Jobs not named wait where they wait and run where they run.
  std::vector<std::string> leave_out;  ///< job ids: who waits does not start, who runs is not displaced
  std::vector<TakenGpus> taken;
  std::optional<bool> preemptive;             ///< in place of the policy's
  const PolicyState* policy_state = nullptr;  ///< what the policy remembers; only read; null: nothing
};

/// What becomes of every job in one scenario: the columns of a plan that placement decides, without predictions and reasons.
/// Rows are jobs by job rank, as in Plan::decisions.
struct ScenarioOutcome {
  std::vector<std::int32_t> job;          ///< [jobs] slots
  std::vector<Action> action;             ///< [jobs]
  std::vector<std::int32_t> shape;        ///< [jobs] index in the job's shapes, -1: holds nothing
  std::vector<std::int32_t> entry_begin;  ///< [jobs + 1] rows of `entries`
  std::vector<PlanEntry> entries;         ///< GPUs that jobs start on, keep, or have reserved
  TimeUs reserve_at_us = kNever;          ///< start of the job with Action::kReserve
  Totals totals;                          ///< taken GPUs count in `gpus`, not in `gpus_used`

  std::span<const PlanEntry> entries_of(std::size_t i) const {
    return std::span(entries).subspan(static_cast<std::size_t>(entry_begin[i]),
                                      static_cast<std::size_t>(entry_begin[i + 1] - entry_begin[i]));
  }
  bool operator==(const ScenarioOutcome&) const = default;
};

class PlacementImpl;

/// Answers about placement on a state that it does not change. Keeps its memory between calls; one serves one thread at a time.
class BERTH_API Placement {
 public:
  /// @param threads  CPU threads over walks and pairs, 1..4096. Neither they nor the backend change any answer.
  /// @throws InvalidArgument naming the number of threads.
  explicit Placement(Backend backend = Backend::kAuto, int threads = 1);
  ~Placement();
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;

  /// The k best places of each job, least score first; equal scores by the job's own preference of shapes, then by rank of the place.
  ///
  /// Jobs do not see each other's choices and nothing is taken: place one, tell the state (or `taken`), ask again. A place is a
  /// candidate when it has room for every group of the shape; whether all groups fit at once, quotas, and the job's own `require` and
  /// `prefer` are not looked at (docs/placement.md, section 9).
  /// @param out  Out, overwritten; its memory is used again.
  /// @throws InvalidArgument for an unknown job, node, level or domain, or a k out of range, naming it. `out` is then not to be read.
  void score_candidates(const ClusterState& state, const ScoreRequest& request, Candidates& out);
  Candidates score_candidates(const ClusterState& state, const ScoreRequest& request);

  /// Walks every scenario by itself; none sees what another placed.
  ///
  /// Where the engine can be asked the same, the outcome is what `Engine::decide` says, job for job and GPU for GPU. Unlike a plan it
  /// is not validated, and nothing can be committed from it.
  /// @param out  Out, [scenarios], overwritten; its memory is used again.
  /// @throws InvalidArgument for an unknown policy, parameter, job or node, or a repeated job, naming the scenario and the value.
  ///         `out` is then not to be read.
  void place_in_order(const ClusterState& state, std::span<const Scenario> scenarios, std::vector<ScenarioOutcome>& out);
  std::vector<ScenarioOutcome> place_in_order(const ClusterState& state, std::span<const Scenario> scenarios);

  const std::string& backend() const;       ///< who gave the last answer: "reference", "cpu", "cuda"; empty before the first
  const std::string& backend_note() const;  ///< why another than asked for did; may be empty

 private:
  std::unique_ptr<PlacementImpl> impl_;
};

}  // namespace berth
