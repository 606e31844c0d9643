#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/policy_api/quotas.hpp"
#include "host/core/quota/dominant_shares.hpp"
#include "host/core/quota/queue_shares.hpp"

namespace berth::core {

/// GPUs that count for quotas, in millionths, and their type; cores and host memory count for dominant shares.
struct QuotaAmount {
  static constexpr std::int32_t kLastBit = 63;
  std::int64_t gpus = 0;
  std::int32_t type = kernel::kNone;  ///< kNone: any of `types`
  std::uint64_t types = 0;            ///< bits of types; the last one is for all from `kLastBit` on
  std::int64_t cpu = 0, memory = 0;   ///< milli-cores, bytes
  /// The most GPUs of both, of the types of both. @param one  of one type
  void join(const QuotaAmount& one) {
    if (gpus == 0) {
      *this = one;
      return;
    }
    gpus = std::max(gpus, one.gpus);
    cpu = std::max(cpu, one.cpu);
    memory = std::max(memory, one.memory);
    if (one.type == type) return;
    if (types == 0) types = bit_of(type);
    types |= bit_of(one.type);
    type = kernel::kNone;
  }
  bool may_be(std::int32_t of) const { return (types & bit_of(of)) != 0; }
  static std::uint64_t bit_of(std::int32_t of) { return std::uint64_t{1} << std::min(of, kLastBit); }
  QuotaAmount operator-() const { return {-gpus, type, types, -cpu, -memory}; }
  bool operator==(const QuotaAmount&) const = default;
};
/// Calls visit(column) for the types of an amount, and for all types together. @param columns  types, and one
template <class Visit>
void for_each_column(const QuotaAmount& amount, std::int32_t columns, const Visit& visit) {
  if (amount.type >= 0) visit(amount.type);
  for (std::int32_t type = 0; amount.types != 0 && type + 1 < columns; ++type) {
    if (amount.may_be(type)) visit(type);
  }
  visit(columns - 1);
}
/// What a job asks for, running or not: of each type in the first option of that type; of several types the most of these. Nothing
/// where it has no option.
QuotaAmount asked_amount(const kernel::ProblemView& problem, std::int32_t job);
/// What a job asks for in one option of the problem.
QuotaAmount asked_in(const kernel::ProblemView& problem, std::int32_t option);
/// What a running job holds, of the type that it holds.
QuotaAmount held_amount(const StateImpl& state, std::int32_t job);

/// A job as its queue counts it.
struct QuotaJob {
  std::int32_t queue = -1;  ///< -1: of none
  QuotaAmount asked, held;
};
/// A running job without options asks for what it holds.
QuotaJob quota_job(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job);

/// Fills up what queues are entitled to, job by job. Columns are GPU types, and all types together.
class QuotaLedger {
 public:
  /// Nothing is asked for and nothing taken.
  void begin(const StateImpl& state);
  /// A job of the queue asks for GPUs, or has them. What may be of several types is asked for of each.
  void ask(std::int32_t queue, const QuotaAmount& amount) {
    add(asked_, queue, amount);
    add(asked_amounts_, queue, amount);
  }
  /// After all asked: finds what queues are entitled to.
  void divide(const StateImpl& state, Quotas quotas);
  /// After `divide` without fair shares: as `ask`, and the shares follow.
  void ask_more(const StateImpl& state, std::int32_t queue, const QuotaAmount& amount);
  /// Of several types: in each of them.
  void take(std::int32_t queue, const QuotaAmount& amount) {
    add(taken_, queue, amount);
    add(taken_amounts_, queue, amount);
  }
  void take_nothing() {
    taken_.assign(taken_.size(), 0);
    taken_amounts_.assign(taken_amounts_.size(), {});
  }
  /// Whether the queue stays within its guarantee, or its fair share, if it takes more: in each column of the amount in which it or
  /// an ancestor states a guarantee, of which there must be one. A fair share also counts over all types. Of several types one suffices.
  /// A dominant share counts alone.
  bool is_within(std::int32_t queue, const QuotaAmount& more, bool fair) const;
  /// What a waiting job is charged with: each of its options that is within, so that none is exceeded in whichever it starts. The most
  /// GPUs of them, of all of their types; 0: none is within. Calls visit(option, is within) for all options.
  template <class Visit>
  QuotaAmount within_options(const kernel::ProblemView& problem, std::int32_t job, std::int32_t queue, bool fair,
                             const Visit& visit) const {
    QuotaAmount all;
    for (std::int32_t o = problem.option_begin[job]; o < problem.option_end[job]; ++o) {
      const QuotaAmount one = asked_in(problem, o);
      const bool within = is_within(queue, one, fair);
      visit(o, within);
      if (within) all.join(one);
    }
    return all;
  }
  /// False: no job is within, however little it asks for.
  bool has_room(std::int32_t queue, bool fair) const;
  /// The column by which a queue is judged: all types together, where something is stated of them, else the type.
  std::int32_t column_of(std::int32_t queue, std::int32_t type, bool fair) const {
    return fair || shares_.states(queue, columns_ - 1) ? columns_ - 1 : type;
  }
  /// Whether the queue, or one above it, states a guarantee of the type; not one: false.
  bool states(std::int32_t queue, std::int32_t type) const { return type >= 0 && shares_.states(queue, type); }
  /// In millionths of a GPU.
  std::int64_t taken(std::int32_t queue, std::int32_t column) const;
  std::int64_t entitled(std::int32_t queue, std::int32_t column, bool fair) const {
    return fair ? shares_.fair(queue, column) : shares_.guaranteed(queue, column);
  }
  /// What the queue states, or the sum of its children's if that is more.
  std::int64_t guarantee(std::int32_t queue, std::int32_t column) const { return shares_.guarantee(queue, column); }
  /// Over all types. Where none is stated of these, the sum of the types, as far as its jobs ask for that.
  std::int64_t entitled(std::int32_t queue, bool fair) const;
  /// By jobs of the queue itself.
  std::int64_t asked(std::int32_t queue, std::int32_t column) const {
    return asked_[static_cast<std::size_t>(queue) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
  }
  /// [queues * columns]
  std::span<const std::int64_t> taken() const { return taken_; }
  bool is_all_types(std::int32_t column) const { return column == columns_ - 1; }
  /// How much of what the queue is entitled to over all types an amount is; with dominant shares in billionths of the cluster, else in
  /// millionths of a GPU.
  std::int64_t counts(const QuotaAmount& amount) const {
    return quotas_ == Quotas::kDominant ? dominant_.of({amount.gpus, amount.cpu, amount.memory}) : amount.gpus;
  }
  /// What the queue has taken beyond what it is entitled to: as `counts`.
  std::int64_t excess(std::int32_t queue) const;
  bool is_dominant(bool fair) const { return fair && quotas_ == Quotas::kDominant; }

 private:
  bool is_within_type(std::int32_t queue, const QuotaAmount& more, bool fair) const;
  void add(std::vector<std::int64_t>& to, std::int32_t queue, const QuotaAmount& amount) const;
  static void add(std::vector<SharedAmounts>& to, std::int32_t queue, const QuotaAmount& amount);
  static SharedAmounts sum(const SharedAmounts& a, const QuotaAmount& b);

  std::int32_t columns_ = 0;
  Quotas quotas_ = Quotas::kLimits;
  QueueShares shares_;
  DominantShares dominant_;
  std::vector<std::int64_t> asked_, taken_;                   // [queues * columns] of the queue's own jobs
  std::vector<SharedAmounts> asked_amounts_, taken_amounts_;  // [queues] the same, over all types
};

}  // namespace berth::core
