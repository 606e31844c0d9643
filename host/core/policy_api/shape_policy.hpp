#pragma once

#include <cstdint>
#include <span>

#include "berth/engine.hpp"
#include "berth/kernel/price/columns.hpp"
#include "berth/kernel/price/objective.hpp"
#include "host/backend/backend.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/state/state_view.hpp"

/// A policy that chooses shapes by a rule of its own. It answers for all jobs at once. The set of jobs, placement,
/// reasons and the proof of the bound are common to all such policies (host/core/choice/shape_problem.hpp).
namespace berth::core {

/// One question. Jobs are in rank order, options of one job adjacent; all of it is valid during the call only.
struct ShapeQuestion {
  StateView state;
  const PolicyState& kept;                     // of an earlier decision
  kernel::PriceView problem;                   // capacities, GPUs, and values by the policy's objective
  std::span<const ChoiceOption> options;       // [options] of the jobs; `current`: the job runs in it
  std::span<const kernel::ShapeTerms> shapes;  // [options] speed, run time left, cost of a change
  kernel::PriceRequest search;                 // the request of a search for prices over the whole problem
  std::uint64_t seed;
  std::int64_t max_iterations = 0;  // of a policy that searches, in its own unit; 0: none
  StopToken* stop_token = nullptr;  // checked by a policy that searches
};

class ShapePolicy {
 public:
  virtual ~ShapePolicy() = default;
  /// @param chosen  [jobs] out: relative to the job's first option, -1: none. Within the capacities. A pure function of
  /// the question; the
  ///                same from every backend.
  virtual void choose(const ShapeQuestion& question, PlacementBackend& backend, std::span<std::int32_t> chosen) = 0;
  /// Whether a job gets nothing because of prices: its reason then names prices, else the shortage.
  virtual bool by_price() const { return false; }
  /// Whether it computes shares of the time (docs/shares.md): its bound is then that of their level, not of a choice.
  virtual bool by_shares() const { return false; }
  /// Whether only the chosen options are tried: jobs without one get nothing, and no larger option is tried where room
  /// is left.
  virtual bool chosen_only() const { return false; }
  /// Whether it searches: budget and limit of iterations then apply to its own search. The search for the prices of its bound is
  /// short and is not cut.
  virtual bool searches() const { return false; }
  /// Its work in the last choice, in the unit of a limit of iterations.
  virtual std::int64_t work() const { return 0; }
  /// The score of its best after each generation of the last choice.
  virtual std::span<const std::int64_t> history() const { return {}; }
  /// After `choose`: an instant at which another choice is due, if no event comes before; kNever: none.
  virtual TimeUs next_change() const { return kNever; }
  /// Stores what it keeps in the caller's PolicyState, once the plan is final. Prices are stored for all policies.
  virtual void store(PolicyState&) const {}
};

}  // namespace berth::core
