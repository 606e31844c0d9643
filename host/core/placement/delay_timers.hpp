#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/placement/delay_windows.hpp"
#include "host/core/placement/empty_domains.hpp"
#include "host/core/policy_api/policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Jobs that wait for one domain of a level, no longer than a timer says: those that jobs state (docs/topology.md) and those of a
/// policy (docs/dally.md). A wait counts from when the job lost its GPUs, or was submitted. Memory is kept between decisions.
class DelayTimers {
 public:
  /// When a wait ends. kNever beyond the largest time: no state has such an instant.
  static TimeUs end_of(TimeUs since, TimeUs wait);
  /// Whether some job may wait so in this state.
  static bool apply_to(const StateImpl& state, const PassRules& rules);
  /// Before a pass: demands of jobs whose timers run are narrowed to the level that they wait for.
  /// @param kept     how long gangs waited before; null: nothing is known
  /// @param options  [options of the problem] those of such jobs are changed in place
  void narrow(const StateImpl& state, const std::optional<DelayRule>& rule, const PolicyState* kept, std::span<kernel::OptionRow> options);
  /// The same for some jobs, where no job states how long it waits: `begin`, then `narrow`. Each of them may come again.
  void begin(const StateImpl& state, const std::optional<DelayRule>& rule, const PolicyState* kept,
             std::span<const kernel::OptionRow> options);
  void narrow(const StateImpl& state, std::span<const std::int32_t> jobs, std::span<kernel::OptionRow> options);
  /// A gang that asks for a demand and has waited for some time waits for another level when it has waited this long; kNever: for
  /// none. After `begin`.
  TimeUs next_change(const StateImpl& state, std::int32_t asked, TimeUs waited);
  /// Answers of `next_change` are the same as long as this is.
  std::uint64_t version() const { return version_; }
  /// Since an earlier version: the numbers of GPUs of the gangs for which they may be others. Null: for all of them.
  const std::vector<std::int64_t>* changed_since(std::uint64_t version) const { return version < all_changed_ ? nullptr : &changed_; }
  /// After the pass: how long the jobs waited that start, and when timers matter. O(jobs of the pass + nodes)
  void look(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
            const kernel::PlaceResult& placed);
  /// Of a running job that stands in a looser level than its tightest possible one, under a rule of which jobs move: its demands become
  /// those of the loosest tighter level that has room, counting the GPUs that it holds itself. After `narrow`.
  /// @param problem  with the GPUs that are free
  /// @returns false where there is none; then its demands stay
  bool tighten(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job, std::span<kernel::OptionRow> options);
  /// Its demands become those of `narrow` again.
  void loosen(std::int32_t job, const kernel::ProblemView& problem, std::span<kernel::OptionRow> options) const;
  /// Whether that is in one domain of a tighter level than what a running job holds.
  bool is_tighter(const StateImpl& state, std::int32_t job, std::span<const kernel::PlacedRow> entries) const;
  /// Whether a job in these places is in a looser level than one that could hold it. @param option  in which it runs there
  bool is_loose(const StateImpl& state, std::int32_t option, std::span<const kernel::PlacedRow> entries);
  bool is_loose(const StateImpl& state, std::int32_t job);
  /// Whether a job of the last `narrow` waits for a level.
  bool waits(std::int32_t job) const { return begin_[static_cast<std::size_t>(job)] != end_[static_cast<std::size_t>(job)]; }
  /// When the first timer of a job that waits then runs out; kNever: none does. After `look`.
  TimeUs until() const { return until_; }
  /// Plans name the level that a job waits for, and until when. After `look`.
  void say_until(Plan& plan) const;
  /// How long gangs waited, for the next `narrow`. After `look`.
  void store(PolicyState& kept) {
    if (rule_ && rule_->history > 0) windows_.store(kept);
  }

 private:
  /// A level of the cluster, of the topologies `nvlink` and `switch` together: each holds more GPUs than the one before.
  struct Rung {
    std::int32_t topology, level;
    std::int64_t gpus;  // the most in a named domain
  };
  struct Timer {
    std::int32_t topology, level;
    TimeUs until;
  };
  /// A gang that asks for a demand, when all timers of levels below this rung have run out, and that of the rung below last.
  struct Stage {
    TimeUs from;          // after waiting for so long, unless it is in a later stage
    TimeUs to;            // until it has waited so long; kNever: for ever
    std::int32_t demand;  // what it asks for then, kNone: not known yet
  };

  void read_levels(const StateImpl& state);
  void forget_stages();
  void forget_stages_of(const StateImpl& state, std::span<const std::int64_t> gpus);
  /// The highest one that begins by then.
  std::size_t stage_at(const Stage* stages, TimeUs waited) const;
  TimeUs timer(const DelayRule& rule, std::int32_t rung, std::int64_t gpus);
  Stage* stages_of(const StateImpl& state, const DelayRule& rule, std::int32_t asked);
  std::int32_t by_rule(const StateImpl& state, const DelayRule& rule, TimeUs since, std::int32_t asked);
  std::int32_t by_job(const StateImpl& state, const Job& job, TimeUs since, std::int32_t asked, std::int32_t demand);
  std::int32_t narrowed(const StateImpl& state, std::int32_t demand, const Timer& timer);
  std::int32_t preferring(const StateImpl& state, std::int32_t demand, std::int32_t level);
  template <class Rows>
  std::int32_t rung_of(const StateImpl& state, Rows entries) const;
  std::int32_t inside(const StateImpl& state, std::int32_t demand, const Rung& rung);
  std::int32_t preferring_below(const StateImpl& state, std::int32_t demand, std::int32_t rung);
  bool has_room(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job, std::int32_t rung, std::int64_t gpus);
  std::int32_t tightest_of(const StateImpl& state, std::int32_t asked);
  std::span<const Timer> timers_of(std::int32_t job) const;

  std::weak_ptr<const int> served_;
  std::uint64_t structure_ = 0;  // of the state that `rungs_` belongs to
  std::vector<Rung> rungs_;
  std::vector<std::string> names_;  // of the rungs
  EmptyDomains empty_;
  DelayWindows windows_;
  std::optional<DelayRule> rule_;
  // What the table of demands answered, kNone: not yet.
  std::vector<std::int32_t> inside_;       // [demands * topologies * levels]
  std::vector<std::int32_t> preferring_;   // [demands * levels]
  std::vector<Stage> stages_;              // [demands][rungs + 1] under `rule_`; demands whose first has `to` < 0: not yet
  std::uint64_t stages_of_ = 0;            // DelayWindows::version of them
  std::uint64_t version_ = 0;              // of them
  std::uint64_t all_changed_ = 0;          // the last version of which all are others
  std::vector<std::int64_t> changed_;      // GPUs of gangs of which some are others since then
  std::vector<Timer> timers_;              // of narrowed options, by job
  std::vector<std::int32_t> begin_, end_;  // [jobs] in `timers_`
  // Where jobs move: [options] what jobs ask for, and what `narrow` made of it.
  std::vector<std::int32_t> asked_, narrowed_;
  std::vector<std::vector<std::int64_t>> free_;  // [rungs][domains] free GPUs; empty: not counted yet
  std::vector<std::int64_t> most_free_;          // [rungs]
  TimeUs until_ = kNever;
};

}  // namespace berth::core
