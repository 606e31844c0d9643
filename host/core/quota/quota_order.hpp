#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/other_standing.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/quota/victim_choice.hpp"

namespace berth::core {

/// How a job stands to what its queue is entitled to.
enum class QuotaStanding : std::uint8_t { kGuaranteed, kFair, kBorrowing };

/// What a decision knows about jobs, by job.
struct QuotaMarks {
  std::span<const std::uint8_t> lost;      ///< 1: runs on failed GPUs, and counts as waiting
  std::span<const std::int32_t> repaired;  ///< >= 0: is repaired, and not displaced
  std::span<const std::uint8_t> left_out;  ///< 1: is not displaced, nor ordered
};

/// Arranges the order of a policy by what queues are entitled to. Jobs that their queue is entitled to come first, and take GPUs
/// from jobs that borrow. docs/quotas.md proves that this ends.
///
/// A waiting job is entitled if some option is within what its queue is entitled to; it displaces jobs in such options alone.
/// Where the policy displaces jobs, the entitlement of a queue goes to its jobs in the policy's order. Otherwise it goes to its running
/// jobs first, the oldest first, so that none of them is displaced for a job of its own queue.
class QuotaOrder {
 public:
  /// Whether quotas can change an order of this state at all.
  static bool applies(const StateImpl& state, Quotas quotas);
  /// @param entry  of a policy that orders a queue
  /// @param problem  with the options in which waiting jobs are tried
  /// @param order  jobs in the policy's order; rearranged. Without a preemptive policy running jobs that borrow are added.
  /// @param find  where the policy does not displace jobs: chooses victims together (VictimChoice)
  /// @returns whether jobs may be displaced for quotas; else the order is as the policy has it
  /// O(jobs log jobs), and the search.
  bool arrange(const StateImpl& state, const kernel::ProblemView& problem, const PolicyEntry& entry, Quotas quotas, const QuotaMarks& marks,
               const FindVictims& find, std::vector<std::int32_t>& order);
  /// For a pass in which some jobs stay where they run, and all others seek places.
  /// @param problem  with the options in which the others are tried
  /// @param stay  jobs that stay; those that borrow and may be displaced are added to the order
  /// @param chosen  [jobs] 1: the policy has chosen how this one of the others runs
  /// @param order  the others; rearranged
  /// @returns false also where all that are entitled are chosen
  bool arrange_chosen(const StateImpl& state, const kernel::ProblemView& problem, Quotas quotas, const QuotaMarks& marks,
                      std::span<const std::int32_t> stay, std::span<const std::uint8_t> chosen, const FindVictims& find,
                      std::vector<std::int32_t>& order);

  /// After `arrange` returned true: [jobs] preemption classes of the pass, see `class_rule`.
  const std::int32_t* classes() const { return class_.data(); }
  /// The same: whether victims need a smaller class than the job that starts, not a later position alone.
  bool class_rule() const { return class_rule_; }
  /// The same classes where this job displaces all others of its standing.
  const std::int32_t* classes_with_first(std::int32_t job);
  QuotaStanding standing(std::int32_t job) const { return static_cast<QuotaStanding>(standing_[static_cast<std::size_t>(job)]); }
  /// After `arrange` or `arrange_chosen`: whether a job that is not borrowing is not borrowing in this option of the problem either.
  bool is_within(std::int32_t option) const { return within_[static_cast<std::size_t>(option)] != 0; }
  /// [options of the problem] 0: the job is not borrowing, but would in this option. Null: there is no such option.
  const std::uint8_t* may_displace() const { return narrows_ ? within_.data() : nullptr; }
  /// When the first running job that borrows may be displaced; kNever: none later than now.
  TimeUs victims_from() const { return victims_from_; }
  /// After `arrange` of a policy that does not displace jobs: whether its queue is entitled to a job that waits, in all of its options.
  /// Then the pass tries all jobs that borrow and may be displaced.
  bool is_entitled(std::int32_t job) const { return tries_all_ && evidence_[static_cast<std::size_t>(job)].in_all_options; }
  /// After `arrange` of a policy that displaces jobs: whether an amount is within the claim of a job that is
  /// not borrowing.
  bool is_claimed(const StateImpl& state, std::int32_t job, const QuotaAmount& amount) const;
  /// Adds to kLostPriority of a displaced job what the queue of the other is entitled to, if it was displaced for that.
  void say_why(const StateImpl& state, std::int32_t victim, Reason& reason) const;

 private:
  std::int64_t had_of(const StateImpl& state, std::int32_t queue, std::int32_t column) const;
  void look(const StateImpl& state, std::span<const std::int32_t> running, std::span<const std::int32_t> order);
  QuotaStanding stand(const StateImpl& state, std::int32_t job, bool as_held);
  bool arrange_preemptive(const StateImpl& state, bool class_rule, const QuotaMarks& marks, std::vector<std::int32_t>& order);
  bool arrange_waiting(const StateImpl& state, const QuotaMarks& marks, std::span<const std::uint8_t> chosen, const FindVictims& find,
                       std::vector<std::int32_t>& order);
  void stand_running(const StateImpl& state, const QuotaMarks& marks);
  void list_counted(const StateImpl& state, const QuotaMarks& marks, std::int32_t job);
  bool has_room_if_last(const StateImpl& state, const QuotaMarks& marks, const FindVictims& find, std::int32_t job,
                        std::span<const std::int32_t> last, std::span<const std::int64_t> before);
  void count_others_last(const StateImpl& state, const QuotaMarks& marks, const FindVictims& find);
  void count_reach(const StateImpl& state, const QuotaMarks& marks);
  bool has_claim(std::int32_t queue, const QuotaAmount& claim, const QuotaAmount& one, bool fair) const;
  void claim(const StateImpl& state, std::int32_t job, bool is_running);
  void take(const StateImpl& state, std::int32_t job, const QuotaAmount& amount, QuotaStanding standing);
  void order_victims(const StateImpl& state);
  void rank_victims(const StateImpl& state);
  void choose_victims(const StateImpl& state, const FindVictims& find);
  void stand_without(const StateImpl& state, std::span<const std::int32_t> order);
  static bool is_protected(const StateImpl& state, const QuotaMarks& marks, std::int32_t job);

  const kernel::ProblemView* problem_ = nullptr;
  Quotas quotas_ = Quotas::kLimits;
  QuotaLedger ledger_;
  std::vector<std::int64_t> had_;     // [queues * columns of the ledger] GPUs of running jobs, in millionths
  std::vector<std::int64_t> excess_;  // [queues] QuotaLedger::excess of running jobs
  /// A running job that may be displaced.
  struct Victim {
    std::int32_t queue;  // of no queue: after all
    std::int32_t priority;
    std::int64_t cost;  // for each time that it was displaced, and this one
    std::int64_t restarts;
    TimeUs since;
    std::int32_t job;
    std::int64_t counts;  // QuotaLedger::counts
  };
  /// Victims of a queue, rows [next, end): what it has beyond what it is entitled to, over its weight.
  struct Excess {
    std::int64_t over, weight;
    std::size_t next, end;
  };
  std::vector<Victim> rows_;
  std::vector<DisplaceableJob> counted_;
  std::vector<VictimCandidate> candidates_;  // as `victims_`, the other way round
  std::vector<std::int32_t> entitled_;       // jobs that wait, in order
  std::vector<std::int32_t> without_room_;   // of these
  VictimChoice choice_;
  std::vector<Excess> heap_;
  std::vector<const Victim*> rows_of_;     // [jobs]
  std::vector<std::int32_t> queue_place_;  // [queues + 1]
  using RankKey = std::tuple<int, std::int32_t, std::int32_t>;
  std::vector<RankKey> rank_keys_;
  /// Why a job is not borrowing.
  struct Evidence {
    std::int32_t column = -1;  // -1: within in several types
    bool in_all_options = false;
    std::int64_t entitled = 0, before = 0;  // GPUs of its queue, and of those what jobs before it have, in millionths
  };
  std::vector<Evidence> evidence_;               // [jobs]
  std::vector<QuotaAmount> claims_;              // [jobs]
  std::vector<std::uint8_t> standing_;           // [jobs]
  std::vector<std::int32_t> class_;              // [jobs]
  std::vector<std::int32_t> class_with_first_;   // [jobs]
  std::vector<std::uint8_t> asked_;              // [jobs] 1: what it asks for is counted
  std::vector<std::int64_t> reach_;              // [types] see claim; millionths of GPUs
  std::vector<std::uint8_t> within_;             // [options of the problem] 0: see may_displace
  std::vector<std::int32_t> running_, victims_;  // jobs; victims: the first one is displaced last
  std::vector<std::int32_t> arranged_;
  bool narrows_ = false;  // some of `within_` are 0
  bool class_rule_ = false;
  bool tries_all_ = false;  // see is_entitled
  TimeUs victims_from_ = kNever;
};

}  // namespace berth::core
