#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/export.hpp"
#include "berth/units.hpp"

namespace berth {

class ClusterState;

/// What a plan does with a job.
enum class Action : std::uint8_t {
  kStart,    ///< a waiting job starts
  kKeep,     ///< a running job keeps its allocation
  kResize,   ///< a running job continues in another shape
  kMigrate,  ///< a running job continues in the same shape on other GPUs
  kPreempt,  ///< a running job is displaced and waits
  kWait,
  kReject,   ///< a waiting job cannot run at all; see its reason
  kReplace,  ///< gang repair: a gang that lost members continues with replacements
  kReserve   ///< a waiting job gets GPUs for a later start
};

/// Whether a job with this action holds GPUs from the plan's instant on.
constexpr bool runs_now(Action action) {
  return action == Action::kStart || action == Action::kKeep || action == Action::kResize || action == Action::kMigrate ||
         action == Action::kReplace;
}

/// Why a job waits, is rejected or is displaced. Where several reasons hold, the dominant one is the first in this order:
///
/// 1. What displaced a running job: kNodeFailed, kLostPriority.
/// 2. A certificate (`Reason::certified`, with any of kNoGpuType .. kGpuMemory): no other state of the jobs would help.
/// 3. kDeadlineImpossible: by prediction, every alternative misses the hard deadline; the job is rejected. kNotAdmitted, kPromised, under
///    policies that promise deadlines.
/// 4. kBudget, when the scheduling pass ended before the job.
/// 5. kBehind; kNotChosen; kOutbid, where prices choose and no shape adds more objective value than its GPUs cost.
/// 6. kQuota, when no alternative is within the limits of its queues.
/// 7. kDelayTimer, where enough GPUs are free, and no domain of a level that the job still waits for has them.
/// 8. What is short for the alternative that lacks least, among those that the cluster could ever hold: kInsufficientGpus,
///    kGpuMemory, kCpu, kMemory, kNodeConstraint, then kTopologyRequired or kFragmented.
/// 9. Nothing is short by itself: kReservedFor; kBudget, when the search for a location was cut short; else kFragmented.
enum class ReasonCode : std::uint8_t {
  kNone,
  kNoGpuType,         ///< no node of any allowed type exists
  kNodeConstraint,    ///< labels, required or excluded nodes, virtual cluster, reservation or end time leave too few nodes
  kInsufficientGpus,  ///< too few GPUs are free (or exist, when certified)
  kTopologyRequired,  ///< no domain of the required level is large enough
  kFragmented,        ///< enough GPUs are free, but not with the members or locations requested
  kQuota,             ///< the queue, or one of its ancestors, is full
  kCpu,
  kMemory,
  kGpuMemory,
  kBehind,              ///< head of line: an earlier job waits
  kReservedFor,         ///< would delay the reservation of an earlier job
  kLostPriority,        ///< displaced by a more important job
  kDeadlineImpossible,  ///< `Reason::until_us`: the earliest predicted end
  kNodeFailed,          ///< displaced because its nodes or GPUs failed and it could not be repaired
  kBudget,              ///< the search was cut short; not a proof
  kOutbid,              ///< `best`: the objective value that `members` GPUs of `gpu_type` add in it; `asked`: their price
  kNotChosen,           ///< a policy that makes whole schedules gave it no GPUs
  kDelayTimer,   ///< waits until `Reason::until_us` for a domain of `level`; evidence as of kTopologyRequired; kNever: it goes nowhere else
  kNotAdmitted,  ///< its deadline cannot be promised, and it is rejected; `Reason::until_us`: one that could be promised
  kPromised,     ///< may not be displaced once it runs, and would take GPUs promised to others; `until_us`: when it could start
};

/// What is known about a plan as a whole.
enum class Proof : std::uint8_t {
  kPlacedValidated,      ///< the validator accepted every placement
  kInfeasibleCertified,  ///< every job is rejected with a certificate
  kBudgetExhausted       ///< for some job the search was cut short
};

/// One dominant reason with its evidence, all integers. `render_reason` makes the text.
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  bool certified = false;       ///< a necessary condition fails on the whole cluster, even if all jobs left it: `check_certificate`
  std::uint8_t topology = 0;    ///< of `level`
  std::int8_t level = -1;       ///< level at which `asked` and `best` are counted; -1: the whole cluster
  std::int32_t where = -1;      ///< node rank at level 0, else domain id; -1: the cluster
  std::int32_t other_job = -1;  ///< index of a job
  std::int32_t queue = -1;
  std::int32_t gpu_type = -1;
  std::int64_t asked = 0;    ///< GPUs, milli-cores or bytes, by code
  std::int64_t best = 0;     ///< maximum that `where` has
  std::int64_t missing = 0;  ///< the smallest single change: N more free in `where`; 0: none known
  /// The instant in the text. With kTopologyRequired: when the job stops waiting for such a domain.
  TimeUs until_us = kNever;
  /// Number of equal members that `asked` consists of. A member may not be split over nodes (segments: over domains of `level`).
  /// 0: splitting is allowed.
  std::int32_t members = 0;
  std::int64_t free = 0;             ///< all free GPUs, where `best` covers only some of them
  std::int32_t apart = 0;            ///< maximum number of members on one node, which `best` respects; 0: not relevant
  bool with_cpu_and_memory = false;  ///< `missing` GPUs must become free together with their cores and memory
  bool some_nodes = false;           ///< the job may use only some nodes of its GPU type; `best` and `missing` count only those
  /// GPUs out of service that would help the job if they returned, on nodes that it may use: idle ones of drained nodes, and failed
  /// ones. With kNodeFailed: the failed GPUs of the job itself.
  std::int64_t drained = 0, failed = 0;
  std::int32_t unavailable_nodes = 0;                         ///< number of these nodes
  std::array<std::int32_t, 3> unavailable_on = {-1, -1, -1};  ///< the first of them by rank; -1: no more
  bool operator==(const Reason&) const = default;
};

/// GPUs of one node that members of one group receive.
struct PlanEntry {
  std::int32_t node = -1;   ///< rank
  std::int32_t group = 0;   ///< index in the shape's groups; 0 for a flat gang
  std::int32_t member = 0;  ///< first member
  std::int32_t members = 0;
  std::uint64_t gpus = 0;  ///< mask of GPU indices
  std::int32_t share_ppm = kWholeGpu;
  bool time_shared = false;  ///< jobs with shares of the GPU use it in time slices; false: a whole GPU or a partition of its own
  bool operator==(const PlanEntry&) const = default;
};

struct Decision {
  std::int32_t job = -1;  ///< index of the job in the state
  Action action = Action::kWait;
  std::int32_t shape = -1;       ///< index in the job's shapes, -1: none
  std::int32_t entry_begin = 0;  ///< rows of Plan::entries, in rank order of the gang
  std::int32_t entry_end = 0;
  std::int32_t local_batch = 0;         ///< samples per GPU and step; 0: not stated
  std::int64_t learning_rate_pico = 0;  ///< 1e-12, for that batch; 0: not stated
  std::int64_t rate = 0;                ///< predicted, millionths of the unit per second; 0: not known
  TimeUs start_us = kNever;             ///< of kStart (now), kReserve (later)
  TimeUs finish_us = kNever;            ///< predicted
  TimeUs cost_us = 0;                   ///< run time that displacing or moving the job costs
  Reason reason;
  bool operator==(const Decision&) const = default;
};

/// GPUs of a plan, and its number of decisions by action. `moves` counts kMigrate and kResize.
struct Totals {
  std::int64_t gpus = 0;       ///< healthy GPUs in the cluster
  std::int64_t gpus_used = 0;  ///< whole GPUs in use after the plan is applied
  std::int64_t starts = 0, keeps = 0, moves = 0, preempts = 0, waits = 0, rejects = 0, replaces = 0, reserves = 0;
  bool operator==(const Totals&) const = default;
};

/// Wall-clock seconds of the steps of a decision. They are not part of the result: `same_plan` ignores them.
struct Timing {
  double load_s = 0, compile_s = 0, decide_s = 0, order_s = 0, place_s = 0, reasons_s = 0, validate_s = 0;
};

/// The objective value of a plan, and an upper bound on that of any plan: docs/prices.md.
struct Bound {
  std::string objective;                                     ///< empty: the policy has no objective
  std::int64_t value = 0;                                    ///< of the plan, after subtracting `terms`
  std::int64_t bound = 0;                                    ///< upper bound on the value of any plan; follows from the prices
  std::vector<std::pair<std::string, std::int64_t>> prices;  ///< of one GPU of each type, in the same unit
  std::vector<std::pair<std::string, std::int64_t>>
      terms;  ///< requested terms: what the locations in the plan lose by each (docs/objectives.md)
  bool operator==(const Bound&) const = default;
};

/// The result of one decision. Valid for one revision of one state.
///
/// With `Request::changes_only` it lists only what changes: jobs that do not simply go on or wait, and reservations that
/// differ (`reservations_since`). It is the same plan otherwise. The policies and parameters of docs/placement.md, section
/// 12, then also decide in time for what changed; others take time for all jobs. A decision on the same revision without it
/// gives the rest: the reasons of the jobs that wait, and the predictions of those that run.
struct Plan {
  std::uint64_t revision = 0;
  TimeUs now_us = 0;
  std::string policy;
  std::vector<std::pair<std::string, std::string>> params;
  std::string backend;       ///< backend of the answer: "reference", "cpu", "cuda"
  std::string backend_note;  ///< why it is not the requested backend; may be empty
  std::string device;        ///< GPU of the answer, such as "0 (NVIDIA H200, GPU-01..)"; empty where no GPU has answered
  std::uint64_t seed = 0;
  std::int64_t iterations = 0;  ///< jobs of the scheduling pass, or evaluations, generations or rounds of the policy
  std::string stopped_by;       ///< "done", "iterations", "budget", "cancel"
  Proof proof = Proof::kPlacedValidated;
  std::uint64_t tables = 0;  ///< hash of the tables used
  /// Time to decide again if no event happens before, after the plan is applied.
  /// From then on the policy orders the jobs differently, or the hard deadline of a waiting job cannot be met.
  /// `now_us`: the order changes all the time, as with remaining run times. kNever: only events change it.
  TimeUs order_until_us = kNever;
  std::vector<std::pair<std::string, std::int64_t>> objective;
  Bound bound;
  /// Of a policy that searches: (generation, best score from then on) at each change; generation 0 is the start.
  /// Of more than 1,000 changes it keeps an even selection and the last.
  std::vector<std::pair<std::int64_t, std::int64_t>> history;
  Totals totals;              ///< of all jobs of the state, listed or not
  bool changes_only = false;  ///< running jobs that are not listed keep their GPUs, and waiting ones wait
  /// 0: all reservations are listed. Else a plan of changes lists those that differ from the engine's last plan, and this is
  /// the revision of that plan. A reservation differs where its job is described again, or anything but its reason is other.
  std::uint64_t reservations_since = 0;
  /// By job rank: jobs of the state with a reservation in that plan, of which this plan lists no decision, and that are not
  /// reserved any more. Jobs that left the state are not listed.
  std::vector<std::int32_t> reservations_dropped;
  std::vector<Decision> decisions;  ///< every job of the state, or those that `changes_only` leaves, by job rank
  std::vector<PlanEntry> entries;
  Timing timing;
};

/// The name used in files: "start", "insufficient_gpus", "placed_validated". The value must be an enumerator.
BERTH_API std::string_view to_string(Action action);
BERTH_API std::string_view to_string(ReasonCode code);
BERTH_API std::string_view to_string(Proof proof);

/// Returns true when two plans are equal except for backend, device, stopped_by, revision and timing (promise 1 of the engine).
BERTH_API bool same_plan(const Plan& a, const Plan& b);

}  // namespace berth
