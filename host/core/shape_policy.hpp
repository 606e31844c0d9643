#pragma once

#include <cstdint>
#include <span>

#include "berth/engine.hpp"
#include "berth/kernel/choice.hpp"
#include "berth/kernel/objective.hpp"
#include "host/core/backend.hpp"
#include "host/core/objective.hpp"

/// What a policy that chooses shapes by a rule of its own is. It answers for all jobs at once; who may be chosen for, where jobs are
/// placed, reasons and the proof of the bound are the same for all (host/core/shape_choice.hpp).
namespace berth::core {

/// One question. Jobs stand by rank, the options of one job together; all of it is valid during the call only.
struct ShapeQuestion {
  const StateImpl& state;
  const PolicyState& kept;                     // of an earlier decision
  kernel::ChoiceView problem;                  // capacities, GPUs, and values by the policy's objective
  std::span<const ChoiceOption> options;       // [options] whose they are; `current`: the job runs so
  std::span<const kernel::ShapeTerms> shapes;  // [options] speed, run time left, what a change costs
  kernel::ChoiceRequest search;                // as a search for prices over the whole problem would be asked for
  std::uint64_t seed;
  std::int64_t work_limit = 0;  // of a policy that searches, in its own unit; 0: none
  Watch* watch = nullptr;       // heeded by a policy that searches
};

class ShapePolicy {
 public:
  virtual ~ShapePolicy() = default;
  /// @param chosen  [jobs] out: relative to the job's first option, -1: none. Within the capacities. A pure function of the question; the
  ///                same from every backend.
  virtual void choose(const ShapeQuestion& question, PlacementBackend& backend, std::span<std::int32_t> chosen) = 0;
  /// Whether a job gets nothing because others pay more: its reason speaks of prices, else of what is short.
  virtual bool by_price() const { return false; }
  /// Whether it seeks shares of the time (docs/shares.md): its own bound is that of their level, not of a choice.
  virtual bool by_shares() const { return false; }
  /// Whether jobs that it gives nothing, and shapes larger than what it gives, are not to be tried where room is left.
  virtual bool chosen_only() const { return false; }
  /// Whether it searches: budget and limit of work are its own then, and the search for the prices of its bound, which is short beside it,
  /// is not cut.
  virtual bool searches() const { return false; }
  /// What it has searched in the last choice, in the unit of a limit of work.
  virtual std::int64_t work() const { return 0; }
  /// The score of its best after each generation of the last choice.
  virtual std::span<const std::int64_t> history() const { return {}; }
  /// Leaves what it keeps in the caller's PolicyState, once the plan stands. Prices are kept for all.
  virtual void store(PolicyState&) const {}
};

}  // namespace berth::core
