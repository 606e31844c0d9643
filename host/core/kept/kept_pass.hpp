#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "berth/kernel/place/place.hpp"
#include "host/core/base/row_buffer.hpp"
#include "host/core/kept/dead_classes.hpp"
#include "host/core/kept/timed_demands.hpp"
#include "host/core/kept/victim_order.hpp"
#include "host/core/kept/waiting_classes.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/lowered_limits.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// What a pass does with a job that does not simply stay as it is.
struct PassChange {
  std::int32_t job = -1;
  kernel::Outcome outcome{};  // kPlaced, kMoved, kPreempted; a job that lost GPUs and finds none is kPreempted
  std::int32_t option = -1;   // of the job; -1: none
  std::int32_t entry_begin = 0, entry_end = 0;
  std::int32_t displaced_by = -1;  // job; -1: the job was not displaced
  OrderPlace place;                // in the order of the pass
  std::int32_t demand = -1;        // of the option
  std::int32_t queue = -1;         // of the job
};

/// The scheduling pass of docs/placement.md, section 6, over classes of waiting jobs instead of all jobs, on free GPUs
/// and an index of them that are kept between passes. It finds what the pass over all jobs finds: section 12.
///
/// For disciplines `strict` and `greedy`, exact demands, and nodes without shares. A class in which no job found room is not
/// tried again until more could be had than then. So a pass takes O(groups of dead classes, times nodes that have more)
/// besides what it tries; O(classes) under `strict` and `class_rule`, where limits were lowered, and the first time.
class KeptPass {
 public:
  struct Rules {
    bool preemptive = false, class_rule = false, strict = false;
    kernel::Packing packing{};
    std::int32_t max_tries = 0;
  };

  /// Parts of the running jobs: that hold GPUs of several types, and of one type.
  static constexpr std::size_t kSeveralTypes = 0;
  static std::size_t part_of(std::int32_t gpu_type) { return static_cast<std::size_t>(gpu_type) + 1; }

  /// Reads all nodes of a problem, with failures or without. @param running  jobs that may be displaced, in parts
  void begin(const StateImpl& state, const kernel::ProblemView& problem, const VictimOrder& running);
  /// Reads the nodes that changed since, and those that the last pass took from. The problem has the same nodes.
  /// @param changed  jobs that are others than before, or run elsewhere
  /// @param gain     running jobs that may be displaced by others than before
  void follow(const StateImpl& state, const kernel::ProblemView& problem, const VictimOrder& running, std::span<const std::int32_t> nodes,
              std::span<const std::int32_t> changed, std::span<const std::int32_t> gain);
  /// After `begin` or `follow` on the problem with these failures: their repairs, and what jobs gave up, which then are placed
  /// like waiting ones. None of their jobs is in `running`.
  void take_failures(const StateImpl& state, const Failures& failures);
  /// Classes that were dropped: others may come at their places.
  void forget(std::span<const std::int32_t> classes) {
    for (const std::int32_t of : classes) dead_.forget(of);
  }
  /// GPUs of all nodes: that work, and that are held whole.
  struct Sums {
    std::int64_t usable = 0, held = 0;
  };
  /// Of the problem, as it was read.
  const Sums& sums() const { return sums_; }
  /// GPUs that are free after the pass.
  std::int64_t free_after() const;
  /// Of this type; at least as many as are free.
  std::int64_t free_after(std::int32_t gpu_type) const { return free_.type_free[gpu_type] + withdrawn_gpus_; }

  /// After `begin` or `follow` on the same problem.
  /// @param lowered  queues whose jobs displace none
  /// @param demands  rows that the classes name; others come
  /// @param running  those that may be displaced; read only where `rules.preemptive`
  void run(const StateImpl& state, const Rules& rules, const LoweredLimits& lowered, TimedDemands& demands, WaitingClasses& waiting,
           VictimOrder& running, KeySource& keys);
  /// After `run`: as Overruns::withdraw. Those that hold nothing are no changes then.
  /// @returns false where such a job displaced others: the pass over all jobs is made instead.
  bool withdraw(Overruns& overruns);

  /// Whether a running job at this place holds what the last pass gave it, there or at a later place.
  bool runs_as_placed(const StateImpl& state, const OrderPlace& place) const;
  std::span<const PassChange> changes() const { return changes_; }
  /// Of the last pass; null: none.
  const PassChange* change_of(std::int32_t job) const {
    const auto at = static_cast<std::size_t>(job);
    return at >= change_of_.size() || change_of_[at] == 0 ? nullptr : &changes_[change_of_[at] - 1];
  }
  std::span<const kernel::PlacedRow> entries() const { return {entries_.data(), static_cast<std::size_t>(n_entries_)}; }
  /// Strict, where some job found no room: that job after those that were withdrawn, in order. All others that wait are
  /// behind the first of them.
  std::span<const std::int32_t> in_front() const { return in_front_; }

 private:
  /// A job to be tried next: the first of a class that was not tried, or a displaced job.
  struct Head {
    OrderPlace place;
    std::int32_t of = -1;                                                    // class; -1: displaced, or lost GPUs
    std::size_t at = 0;                                                      // in the class
    bool operator<(const Head& other) const { return other.place < place; }  // the first comes out of a heap first
  };
  using Pass = kernel::Pass<kernel::SerialGroup>;
  using NodeMore = DeadClasses::NodeMore;
  static constexpr std::int64_t kAll = INT64_MAX / 4;

  NodeMore read_node(std::int32_t node);
  void count_gpus(const StateImpl& state, std::int32_t node);
  void add_victim(const VictimOrder& running, std::int32_t job);
  void add_held(std::int32_t job);
  void add_queues(const StateImpl& state, std::int32_t job);
  void add_up_more();
  void list_growth(const VictimOrder& running);
  bool has_victims(const OrderPlace& place, const kernel::DemandRow& demand);
  bool holds_node_of(std::int32_t victim, std::int32_t filter) const;
  void list_lost();
  void push(const Head& head);
  void push_at(const WaitingClasses& waiting, std::int32_t of, std::size_t at);
  void wake(const Pass& pass, const WaitingClasses& waiting, const OrderPlace* from);
  void wake_by_displaced(const Pass& pass, const WaitingClasses& waiting, const OrderPlace& after);
  void push_first(const WaitingClasses& waiting, const DeadClasses::Woken& woken);
  void forget_lowered(const WaitingClasses& waiting);
  void revive(const WaitingClasses& waiting, std::size_t of, const OrderPlace& after);
  void name_rows(const WaitingClasses& waiting, const Head& head);
  void make_room_for_rows();
  std::int32_t start(Pass& pass, const OrderPlace& place);
  void note_failure(const Pass& pass, std::int32_t job);
  std::int32_t displace(Pass& pass, const OrderPlace& place);
  bool may_displace(const OrderPlace& victim) const;
  void begin_reach(Pass& pass, const OrderPlace& place);
  bool in_reach(Pass& pass, const OrderPlace& place);
  void take_from_reach(const Pass& pass, const PassChange& change);
  void read_limits(const OrderPlace& place);
  bool may_take(std::int32_t o) const { return takes_[static_cast<std::size_t>(o)] != 0; }
  bool may_gain(std::int32_t job) const;
  std::int32_t fit(Pass& pass, std::int32_t job);
  std::int32_t release_to(Pass& pass, const OrderPlace& place, std::int32_t count, std::int32_t to);
  bool list_next(const OrderPlace& place);
  bool more_to_read(const OrderPlace& place);
  bool matters(std::int32_t job, std::int32_t victim) const;
  void give_back(Pass& pass, const OrderPlace& place, std::int32_t gpu_type, std::int32_t count);

  const kernel::OptionRow& option_of(std::int32_t job, std::int32_t o) const { return p_->options[p_->option_begin[job] + o]; }
  std::int32_t options_of(std::int32_t job) const { return p_->option_end[job] - p_->option_begin[job]; }
  /// Of the job that is tried.
  std::size_t row_of(std::int32_t o) const { return static_cast<std::size_t>(rows_[static_cast<std::size_t>(o)]); }
  TimeUs end_of(std::int32_t o) const { return demands_->end(rows_[static_cast<std::size_t>(o)]); }
  bool quota_ok(const Pass& pass, std::int32_t job, std::int32_t o) const;

  const kernel::ProblemView* p_ = nullptr;
  kernel::SerialGroup group_;
  kernel::PassState free_{}, reach_{};
  kernel::Scratch scratch_{};
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> memory_;  // of the three above
  std::vector<std::uint64_t> open_;            // [nodes] as of the problem
  std::vector<Sums> node_sums_;                // [nodes] the same
  Sums sums_;
  std::vector<std::int32_t> touched_;  // nodes that differ from the state's since the last pass
  std::vector<std::int32_t> lost_;     // jobs that lost GPUs and were not repaired, by job rank

  // Of the pass that runs or ran last, and what the next one needs of it.
  const StateImpl* s_ = nullptr;
  Rules rules_;
  const LoweredLimits* lowered_ = nullptr;
  TimedDemands* demands_ = nullptr;
  VictimOrder* running_ = nullptr;
  KeySource* keys_ = nullptr;
  std::vector<Head> heads_;
  DeadClasses dead_;
  std::vector<DeadClasses::Woken> woken_;
  std::vector<std::uint8_t> was_lowered_;  // [queues] of the last pass; empty: no limit was lowered
  std::vector<std::int32_t> started_;      // classes of which the last pass placed some job
  bool none_dead_ = true;                  // no class is known to be dead
  // Of the job that is tried, as of a class. Known once it found no room.
  std::int64_t missing_ = 0;
  bool by_quota_ = false;
  std::vector<std::vector<std::int32_t>> victims_on_;  // [nodes] jobs that may be displaced; some have left
  /// Found once in a pass.
  struct LastVictim {
    std::int64_t pass = 0;
    OrderPlace place;  // job -1: none
  };
  struct Missing {
    std::int64_t pass = 0, members = 0;
  };
  std::vector<Missing> missing_of_;       // [rows]
  std::vector<LastVictim> last_victim_;   // [filters] the last job that holds a node of it
  std::vector<NodeMore> more_;            // than after the last pass; several of a node add up
  std::vector<std::uint8_t> more_quota_;  // [queues] 1: less is used, or more could be given back
  std::vector<std::int64_t> queue_used_;  // after the last pass
  std::vector<OrderPlace> displaced_;     // by one job
  std::vector<PassChange> changes_;
  std::vector<std::size_t> change_of_;  // [jobs] index in `changes_` + 1; 0: none
  RowBuffer<kernel::PlacedRow> entries_;
  std::int32_t n_entries_ = 0;
  std::int32_t blocked_ = -1;                         // strict: the first job that found no room; -1: none
  std::vector<std::int32_t> in_front_;                // see `in_front`
  std::int64_t withdrawn_gpus_ = 0;                   // taken in `free_`, and free after the pass
  std::span<const std::int32_t> rows_;                // of the job that is tried: [options] of TimedDemands
  std::vector<std::int32_t> rows_of_head_;            // the same, where the job is in no class
  std::vector<std::int64_t> known_now_, infeasible_;  // [rows] the round, the pass in which it did not fit
  std::int64_t round_ = 0, pass_ = 0;
  // `reach_`: what is free, with all possible victims behind a place gone. Stored keys decide which are behind it, so some
  // may be before it by now. It is built when the jobs of a pass have read victims for as long as that takes.
  static constexpr std::size_t kReadsPerRelease = 8, kFewVictims = 32;
  bool has_reach_ = false;
  std::size_t reads_left_ = 0;
  std::vector<OrderPlace> in_reach_;  // these victims, from the end of the order
  // Of one job that displaces others.
  std::vector<std::uint8_t> takes_;  // [options] 0: it displaces none in this one, as a limit was lowered
  std::vector<OrderPlace> listed_;
  VictimReader victims_;
  bool is_in_reach_ = false;  // the job may read all
  bool listed_by_quota_ = false;
};

}  // namespace berth::core
