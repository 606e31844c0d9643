#pragma once

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

enum class Action : std::uint8_t { kStart, kKeep, kResize, kMigrate, kPreempt, kWait, kDecline, kReplace, kReserve };

/// Whether a job with this action has GPUs from the plan's instant on.
constexpr bool runs_now(Action action) {
  return action == Action::kStart || action == Action::kKeep || action == Action::kResize || action == Action::kMigrate ||
         action == Action::kReplace;
}

/// Why a job waits, is declined or is displaced. Where several hold, the dominant one is the first that applies in this order:
///
/// 1. what displaced a running job: kNodeFailed, kLostPriority;
/// 2. a certificate (`Reason::certified`, with any of kNoGpuType .. kGpuMemory): no other state of the jobs would help;
/// 3. kDeadlineImpossible: its hard deadline is out of reach in every alternative, by what is predicted; it is declined;
/// 4. kBudget, when its turn never came;
/// 5. kBehind; kNotChosen; kOutbid, where prices choose and no shape is worth more to it than its GPUs cost;
/// 6. kQuota, when no alternative is within the limits of its queues;
/// 7. what is short, of the alternative that lacks least (those that could never hold it apart): kInsufficientGpus, kGpuMemory, kCpu,
///    kMemory, kNodeConstraint, then kTopologyRequired or kFragmented;
/// 8. nothing is short by itself: kReservedFor; kBudget, when the search for a place was cut short; else kFragmented.
enum class ReasonCode : std::uint8_t {
  kNone,
  kNoGpuType,         ///< no node of any allowed type exists
  kNodeConstraint,    ///< labels, required, excluded, virtual cluster, reservation or end time leave too few nodes
  kInsufficientGpus,  ///< too few GPUs free (or existing, when certified)
  kTopologyRequired,  ///< no domain of the required level holds it
  kFragmented,        ///< enough GPUs, but not in the pieces or places asked for
  kQuota,             ///< the queue, or one above it, is full
  kCpu,
  kMemory,
  kGpuMemory,
  kBehind,              ///< head of line: an earlier job waits
  kReservedFor,         ///< would delay the reservation of an earlier job
  kLostPriority,        ///< displaced by a more important job
  kDeadlineImpossible,  ///< `Reason::until_us`: the earliest end that is predicted
  kNodeFailed,          ///< displaced because its nodes or GPUs failed and it could not be mended
  kBudget,              ///< the search was cut short; not a proof
  kOutbid,              ///< `best`: what `pieces` GPUs of `gpu_type` are worth to it; `asked`: their price
  kNotChosen,           ///< a policy that makes whole schedules gave it nothing
};

enum class Proof : std::uint8_t { kPlacedValidated, kInfeasibleCertified, kBudgetExhausted };

/// One dominant reason with its evidence, all integers; `render_reason` makes the text.
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  bool certified = false;       ///< a necessary condition fails on the whole cluster, whoever leaves: `check_certificate`
  std::uint8_t facet = 0;       ///< of `level`
  std::int8_t level = -1;       ///< level at which `asked` and `best` are counted; -1: the whole cluster
  std::int32_t where = -1;      ///< node rank at level 0, else domain id; -1: the cluster
  std::int32_t other_job = -1;  ///< slot
  std::int32_t queue = -1;
  std::int32_t gpu_type = -1;
  std::int64_t asked = 0;    ///< GPUs, milli-cores or bytes, by code
  std::int64_t best = 0;     ///< the most that `where` has
  std::int64_t missing = 0;  ///< the smallest single change: so many more free in `where`; 0: none known
  TimeUs until_us = kNever;
  std::int32_t pieces =
      0;  ///< `asked` is so many equal pieces, none of which may be split over nodes (or over domains of `level`); 0: it is not
  std::int64_t free = 0;    ///< GPUs free in all, where `best` is about a part of them
  std::int32_t apart = 0;   ///< at most so many of the pieces on one node, and `best` counts no more of any; 0: it does not matter
  bool beside = false;      ///< what is `missing` must become free with the cores and memory that go with it
  bool some_nodes = false;  ///< the job may not use all nodes of its GPU type: of those that it may, `best` and `missing` speak
  bool operator==(const Reason&) const = default;
};

/// GPUs of one node given to members of one group.
struct PlanEntry {
  std::int32_t node = -1;   ///< rank
  std::int32_t group = 0;   ///< index in the shape's groups; 0 for a flat gang
  std::int32_t member = 0;  ///< first member
  std::int32_t members = 0;
  std::uint64_t gpus = 0;  ///< mask of GPU indices
  std::int32_t share_ppm = kWholeGpu;
  bool time_shared = false;  ///< the holders of shares of a GPU take turns on it; false: whole, or a partition of its own
  bool operator==(const PlanEntry&) const = default;
};

struct Decision {
  std::int32_t job = -1;  ///< slot
  Action action = Action::kWait;
  std::int32_t shape = -1;       ///< index in the job's shapes, -1: none
  std::int32_t entry_begin = 0;  ///< rows of Plan::entries, in rank order of the gang
  std::int32_t entry_end = 0;
  std::int32_t local_batch = 0;         ///< samples per GPU and step; 0: not stated
  std::int64_t learning_rate_pico = 0;  ///< 1e-12, for that batch; 0: not stated
  std::int64_t rate = 0;                ///< predicted, millionths of the unit per second; 0: not known
  TimeUs start_us = kNever;             ///< of kStart (now), kReserve (later)
  TimeUs finish_us = kNever;            ///< predicted
  TimeUs cost_us = 0;                   ///< what displacing or moving it costs in run time
  Reason reason;
  bool operator==(const Decision&) const = default;
};

struct Totals {
  std::int64_t gpus = 0;       ///< healthy GPUs in the cluster
  std::int64_t gpus_used = 0;  ///< whole GPUs in use when the plan is carried out
  std::int64_t starts = 0, keeps = 0, moves = 0, preempts = 0, waits = 0, declines = 0, replaces = 0, reserves = 0;
  bool operator==(const Totals&) const = default;
};

struct Timing {
  double load_s = 0, compile_s = 0, decide_s = 0, order_s = 0, place_s = 0, reasons_s = 0, validate_s = 0;
};

/// What a plan is worth under an objective, and the most that any plan could be: docs/prices.md.
struct Bound {
  std::string objective;                                     ///< empty: the policy has none
  std::int64_t value = 0;                                    ///< of the plan, `terms` taken off
  std::int64_t bound = 0;                                    ///< no plan is worth more; follows from the prices
  std::vector<std::pair<std::string, std::int64_t>> prices;  ///< of a GPU of each type, in the same unit
  std::vector<std::pair<std::string, std::int64_t>>
      terms;  ///< that were asked for: what the plan's places lose by each (docs/objectives.md)
  bool operator==(const Bound&) const = default;
};

/// The answer of one decision, valid for one revision of one state.
struct Plan {
  std::uint64_t revision = 0;
  TimeUs now_us = 0;
  std::string policy;
  std::vector<std::pair<std::string, std::string>> params;
  std::string backend;       ///< who answered: "reference", "cpu", "cuda"
  std::string backend_note;  ///< why another backend than asked answered; may be empty
  std::uint64_t seed = 0;
  std::int64_t work_done = 0;  ///< jobs walked; by policies that search: evaluations made
  std::string stopped_by;      ///< "done", "work", "budget", "cancel"
  Proof proof = Proof::kPlacedValidated;
  std::uint64_t tables = 0;  ///< hash of the tables that were used
  /// When the policy orders the jobs otherwise by itself, or the hard deadline of one that waits is out of reach, once the plan is carried
  /// out and if nothing happens before: a reason to decide again. `now_us`: all the time, as with remaining run times; kNever: only after
  /// events.
  TimeUs order_until_us = kNever;
  std::vector<std::pair<std::string, std::int64_t>> objective;
  Bound bound;
  /// Of a policy that searches: a generation (0: where it began) and the score of its best from then on, each time that it changed; of more
  /// than 1,000 changes some, evenly, and the last.
  std::vector<std::pair<std::int64_t, std::int64_t>> history;
  Totals totals;
  std::vector<Decision> decisions;  ///< every job of the state, by job rank
  std::vector<PlanEntry> entries;
  Timing timing;
};

/// As in files: "start", "insufficient_gpus", "placed_validated". For values of the type only.
BERTH_API std::string_view to_string(Action action);
BERTH_API std::string_view to_string(ReasonCode code);
BERTH_API std::string_view to_string(Proof proof);

/// Equal in everything that promise 1 covers: all but backend, stopped_by, revision, timing.
BERTH_API bool same_plan(const Plan& a, const Plan& b);

}  // namespace berth
