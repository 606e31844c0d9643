#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// One taker of a weighted max-min division.
struct ShareRequest {
  std::int64_t most = 0;    ///< what it takes at the most
  std::int64_t weight = 0;  ///< 0: it gets no more than `first`
  std::int64_t first = 0;   ///< what it gets before the rest is divided
  std::int64_t gets = 0;    ///< out
  std::int64_t kept = 0;    ///< what of `first` it gets before others get theirs
};

/// Memory of a division, kept between divisions.
struct ShareMemory {
  struct Remainder {
    Wide parts;
    std::size_t taker;
  };
  std::vector<std::size_t> order;
  std::vector<Remainder> remainders;
};

/// Divides `amount` by weighted max-min. First every taker gets `kept`, in their order, then `first`. The rest goes to those that want
/// more, in proportion to their weights; none gets more than `most`. What each gets of the rest is in whole units, and units that are
/// left go, one each, to the greatest remainders, ties to the first. It is the division of KAI (docs/quotas.md, "Shares").
/// O(n) on average, O(n log n) where not all take whole units. @returns what is left
std::int64_t divide_share(std::int64_t amount, std::int64_t unit, std::span<ShareRequest> takers, ShareMemory& memory);

/// What the jobs of each queue are entitled to, in millionths of a GPU, by GPU type and over all types (docs/quotas.md).
///
/// A queue hands what it has down to its children: first their guarantees, as far as they ask for them, then the rest by weight. Jobs of
/// a queue with children are a child without a guarantee and with the weight of the queue. Beyond guarantees nothing is handed down that
/// is more than the GPUs that work, and no queue is entitled to more than these.
///
/// Guarantees of types count over all types, too, as far as they are asked for, where a queue states none of all types.
///
/// Of a limit nothing is handed down that a queue keeps and does not ask for, and nothing at all where queues below keep more than it. So
/// with all that is handed down no other limit is exceeded.
///
/// GPU types of which no queue states a quota are left out: all of theirs is 0.
class QueueShares {
 public:
  /// Whether some queue states a guarantee. Else nothing is entitled to anything.
  static bool any_guarantee(const StateImpl& state);
  /// @param demand  [queues * (types + 1)] what the jobs of each queue itself ask for, running and waiting
  /// @param fair    false: `fair` is not found
  /// O(queues * types), and O(children * log children) for each queue.
  void set(const StateImpl& state, std::span<const std::int64_t> demand, bool fair);
  /// After `set` without fair shares, on the same queues and GPUs that work: the jobs of a queue ask for more, or for less.
  /// O(depth * types), and a division for each queue of which what it asks for, or has, changed.
  void change(const StateImpl& state, std::int32_t queue, std::int32_t column, std::int64_t more);
  /// Its own, or the sum of its children's if that is more. Over all types, if it states none of these, also the sum of its types.
  std::int64_t guarantee(std::int32_t queue, std::int32_t column) const { return guarantee_[at(queue, column)]; }
  /// Of the jobs of the queue itself. Column `types` is for all types together.
  std::int64_t guaranteed(std::int32_t queue, std::int32_t column) const {
    return states(queue, column) ? guaranteed_[at(queue, column)] : 0;
  }
  std::int64_t fair(std::int32_t queue, std::int32_t column) const { return fair_[at(queue, column)]; }
  /// Whether the queue, or one that it belongs to, states a guarantee in that column.
  bool states(std::int32_t queue, std::int32_t column) const { return stated_[at(queue, column)] != 0; }
  std::span<const std::int32_t> children(std::int32_t queue) const {
    const auto q = static_cast<std::size_t>(queue);
    return std::span(child_).subspan(child_begin_[q], child_begin_[q + 1] - child_begin_[q]);
  }
  /// What is asked for of the queue, with those below it, and by its own jobs: within limits.
  std::int64_t asked(std::int32_t queue, std::int32_t column) const { return asked_[at(queue, column)]; }
  std::int64_t asked_by_own(const StateImpl& state, std::int32_t queue, std::int32_t column) const;

 private:
  std::size_t at(std::int32_t queue, std::int32_t column) const {
    return static_cast<std::size_t>(queue) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }
  bool is_all(std::int32_t column) const { return column == columns_ - 1; }
  /// What it gets before the rest is divided.
  std::int64_t first(std::int32_t queue, std::int32_t column) const {
    return is_all(column) ? first_[static_cast<std::size_t>(queue)] : guarantee_[at(queue, column)];
  }
  std::int64_t first_of_all(std::int32_t queue) const;
  std::int64_t usable_first(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  std::int64_t has_at_root(std::int32_t queue, std::int32_t column) const;
  /// What the parent cannot hand to others, of what is charged for the queue: no job of the queue asks for it.
  std::int64_t idle_above(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  /// What it gets of its parent's before others get their guarantees: it is charged in any case.
  std::int64_t claim(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  std::int64_t within_limit(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  void read_queues(const StateImpl& state);
  void sum_up(const StateImpl& state, std::span<const std::int64_t> demand);
  void count_gpus(const StateImpl& state);
  void list_takers(const StateImpl& state, std::int32_t from, std::int32_t column);
  /// What its own jobs may take of what it has.
  std::int64_t own_part(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  /// After `list_takers`.
  void hand_down(const StateImpl& state, std::int32_t from, std::int32_t column, std::vector<std::int64_t>& has,
                 std::vector<std::int64_t>& out);
  /// Of the cluster, among queues without a parent.
  void divide_fair(const StateImpl& state);
  /// @param levels  so many are looked at in any case. @returns how many were
  std::size_t change_one(const StateImpl& state, std::int32_t queue, std::int32_t column, std::int64_t more, std::size_t levels);

  std::int32_t columns_ = 0;
  std::vector<std::uint8_t> counts_;  // [columns] 0: no queue states a quota of it, and nothing is divided
  // [queues * columns]
  std::vector<std::int64_t> demand_;       // of a queue's own jobs
  std::vector<std::int64_t> asked_;        // with children, at most the limits
  std::vector<Wide> sum_;                  // the same before the limit of the queue
  std::vector<std::int64_t> idle_;         // of `idle_above`, the sum of a queue's children's; empty: no queue keeps anything
  std::vector<std::int64_t> kept_below_;   // the sum of what a queue's children, or those below them, keep; as `idle_`
  std::vector<std::int64_t> guarantee_;    // of a queue, at least the sum of its children's
  std::vector<std::int64_t> of_children_;  // guarantees of a queue's children
  // [queues] over all types
  std::vector<std::int64_t> first_, first_below_;  // below: the sum of a queue's children's
  std::vector<std::uint8_t> states_all_;           // 1: it states a guarantee itself
  std::vector<std::int64_t> guaranteed_, fair_;
  std::vector<std::int64_t> has_, has_fair_;  // what a queue hands down
  std::vector<std::uint8_t> stated_;
  std::vector<std::size_t> child_begin_;  // [queues + 1] ranges of `child_`
  std::vector<std::int32_t> child_;
  std::vector<std::int32_t> path_, changed_;
  std::vector<std::int64_t> before_;
  // Of one column: what is divided among. `first_ones_`: what the children of a queue get before the rest is divided.
  std::vector<ShareRequest> takers_;
  std::int64_t first_ones_ = 0;
  std::vector<std::int64_t> gpus_;  // [columns] that work
  ShareMemory memory_;
};

}  // namespace berth::core
