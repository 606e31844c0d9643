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

/// Placement without a plan: the best locations of each job, for schedulers with their own loop.
/// Also many "what if" scheduling passes over one state, for planners.
/// docs/placement.md defines placement; docs/what-if.md shows how to use it.
namespace berth {

/// Whole free GPUs of one node that a request counts as not free, as if another job held them.
/// GPUs that are not free are unaffected: when a scheduling pass displaces their job, they become free for others.
struct TakenGpus {
  std::string node;                        ///< id
  std::uint64_t gpus = ~std::uint64_t{0};  ///< mask of GPU indices; default: all
};

inline constexpr std::int32_t kMostCandidates = 16;  ///< of one job

struct ScoreRequest {
  std::vector<std::string> jobs;                  ///< ids; empty: all waiting jobs, by job rank
  LevelRef level{TopologyKind::kSwitch, "node"};  ///< candidates are the nodes, or the domains of this level that have a name
  std::int64_t leftover_weight = 1;               ///< GPU-milliseconds per GPU that would stay free in the location
  std::vector<std::pair<std::string, std::int64_t>>
      domain_cost;     ///< node id or full domain path -> GPU-milliseconds added, positive or negative
  std::int32_t k = 1;  ///< candidates per job, 1..kMostCandidates
  std::vector<TakenGpus> taken;
};

/// One location for one shape of one job. score = gpu_time_ms + leftover_weight * leftover + domain_cost, saturated.
struct Candidate {
  std::int32_t shape = -1;       ///< index in the job's shapes
  std::string_view gpu_type;     ///< type of the GPUs on which the shape would run
  std::string_view where;        ///< node id, full domain path, or "the cluster"; points into the state
  std::int32_t node = -1;        ///< rank, where the level is "node"
  std::int64_t score = 0;        ///< GPU-milliseconds; lower is better
  std::int64_t gpu_time_ms = 0;  ///< GPUs times predicted run time; 0: not known
  std::int64_t leftover = 0;     ///< GPUs that stay free in the location
  std::int64_t domain_cost = 0;
  bool operator==(const Candidate&) const = default;
};

/// Candidates of all requested jobs. Valid for one revision of one state.
struct Candidates {
  std::vector<std::int32_t> job;    ///< [n] indices of jobs, in the order requested
  std::vector<std::int32_t> begin;  ///< [n + 1] rows of `rows`; a job has at most k, and none where it fits nowhere
  std::vector<Candidate> rows;

  std::span<const Candidate> of(std::size_t i) const {
    return std::span(rows).subspan(static_cast<std::size_t>(begin[i]), static_cast<std::size_t>(begin[i + 1] - begin[i]));
  }
};

/// One "what if" scenario over a state. The default scenario decides as `Engine::decide` does under fifo.
struct Scenario {
  std::string policy = "fifo";  ///< gives the order of the jobs, the discipline, and whether running jobs may be displaced
  std::vector<std::pair<std::string, std::string>> params;  ///< "discipline", "packing", "max_tries" and the policy's own; see `policies()`
  std::vector<std::string> order;  ///< job ids, most important first, without repeats; not empty: replaces the order of the policy. Jobs
                                   ///< not named keep waiting or running.
  std::vector<std::string> leave_out;  ///< job ids: of these, waiting jobs do not start and running jobs are not displaced
  std::vector<TakenGpus> taken;
  std::optional<bool> preemptive;             ///< replaces the policy's value
  const PolicyState* policy_state = nullptr;  ///< state of the policy, read only; null: none
};

/// The outcome of every job in one scenario: the columns of a plan that placement decides, without predictions and reasons.
/// Rows are jobs by job rank, as in Plan::decisions.
struct ScenarioOutcome {
  std::vector<std::int32_t> job;          ///< [jobs] indices of jobs
  std::vector<Action> action;             ///< [jobs]
  std::vector<std::int32_t> shape;        ///< [jobs] index in the job's shapes; -1: none
  std::vector<TimeUs> reserve_at_us;      ///< [jobs] start of a job with Action::kReserve, else kNever
  std::vector<std::int32_t> entry_begin;  ///< [jobs + 1] rows of `entries`
  std::vector<PlanEntry> entries;         ///< GPUs on which jobs start or stay, or that are reserved for them
  Totals totals;                          ///< GPUs in `taken` count in `gpus`, not in `gpus_used`

  std::span<const PlanEntry> entries_of(std::size_t i) const {
    return std::span(entries).subspan(static_cast<std::size_t>(entry_begin[i]),
                                      static_cast<std::size_t>(entry_begin[i + 1] - entry_begin[i]));
  }
  bool operator==(const ScenarioOutcome&) const = default;
};

class PlacementImpl;

/// Answers questions about placement on a state without changing it.
/// Keeps its memory between calls. One thread at a time may use an object.
class BERTH_API Placement {
 public:
  /// @param backend  Does not change any answer.
  /// @param threads  CPU threads for scheduling passes and pairs, 1..4096. Does not change any answer.
  /// @param device   The GPU of the backend cuda: its index in `berth devices`, or its UUID. Empty: the first that can be used.
  /// @throws InvalidArgument naming the number of threads. A device that is none throws it at the first answer.
  explicit Placement(Backend backend = Backend::kAuto, int threads = 1, const std::string& device = {});
  ~Placement();
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;

  /// Finds the k best locations of each job, lowest score first.
  ///
  /// Equal scores go by the job's own preference of shapes, then by rank of the location.
  /// Jobs do not see each other's choices and no GPU is allocated: place one job, update the state (or `taken`), call again.
  /// A location is a candidate when each group of the shape has room in it on its own.
  /// Not checked: whether all groups fit at once, quotas, and the job's `require` and `prefer` (docs/placement.md, section 9).
  /// @param out  Out, overwritten; its memory is reused.
  /// @throws InvalidArgument for an unknown job, node, level or domain, or a k out of range, naming it. `out` is then unspecified.
  void score(const ClusterState& state, const ScoreRequest& request, Candidates& out);
  Candidates score(const ClusterState& state, const ScoreRequest& request);

  /// Runs a scheduling pass for each scenario. Scenarios are independent of each other.
  ///
  /// Where `Engine::decide` can decide the same request, the outcome equals its plan, job for job and GPU for GPU.
  /// Unlike a plan, the outcome is not validated and cannot be committed.
  /// @param out  Out, [scenarios], overwritten; its memory is reused.
  /// @throws InvalidArgument for an unknown policy, parameter, job or node, or a repeated job, naming the scenario and the value.
  ///         `out` is then unspecified.
  void place(const ClusterState& state, std::span<const Scenario> scenarios, std::vector<ScenarioOutcome>& out);
  std::vector<ScenarioOutcome> place(const ClusterState& state, std::span<const Scenario> scenarios);

  const std::string& backend() const;       ///< backend of the last answer: "reference", "cpu", "cuda"; empty before the first
  const std::string& backend_note() const;  ///< why it is not the requested backend; may be empty
  const std::string& device() const;        ///< GPU of the last answer, such as "0 (NVIDIA H200, GPU-01..)"; empty: the CPU

 private:
  std::unique_ptr<PlacementImpl> impl_;
};

}  // namespace berth
