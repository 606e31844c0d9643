#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/kept/victim_order.hpp"
#include "host/core/kept/waiting_classes.hpp"
#include "host/core/quota/quota_ledger.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Current keys of jobs, and how far those of running jobs fall.
class FallingKeys : public KeySource {
 public:
  /// Of a running job, as long as it stays the same: how much its key falls each microsecond, at the most, where `lowest_key` knows a
  /// bound; 0: it does not fall.
  virtual std::int64_t most_fall(std::int32_t job) = 0;
  /// The same: no key that it has until then is lower. It is at most the current key less `most_fall` for each microsecond until then;
  /// INT64_MIN: no bound is known.
  virtual std::int64_t lowest_key(std::int32_t job, TimeUs until) = 0;
};

/// The jobs within the guarantees of their queues, as QuotaOrder finds them where the policy displaces jobs: running or not, in the
/// policy's order. They are kept between decisions (docs/placement.md, section 12).
///
/// Of a queue, jobs that ask for the same are a class. A class is closed from a place on, its cut: what the entitled jobs up to there
/// have leaves no room for another. So an entitled job stays entitled, and a job behind the cut borrows, until
/// - more is asked for than the queue is entitled to,
/// - an entitled job at a cut or before it leaves its place for a later one, or the queue is entitled to more,
/// - a job of the class stands before the cut.
/// Only the entitled jobs behind such a place are judged again.
class GuaranteedJobs {
 public:
  /// Level of an entitled job in the order of a pass.
  static constexpr std::int32_t kLevel = -2;

  /// Forgets all jobs. @param ledger  what queues are entitled to, and the GPUs of their running jobs
  void begin(const StateImpl& state, const QuotaLedger& ledger);
  /// Reads a job that came, left, or changed. At most once between two calls of `judge`.
  /// @param is_there  the job is ordered; else it left, or is rejected
  /// @returns false where it cannot be judged here: it may run on several types or sizes that count differently
  bool follow(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job, bool is_there, FallingKeys& keys);
  /// Judges where something changed. O(queues * types), and O(jobs judged again * (classes + log jobs)).
  void judge(const StateImpl& state, FallingKeys& keys);
  /// Jobs whose level is another than before the last `judge`.
  std::span<const std::int32_t> changed() const { return changed_; }
  std::int32_t level(std::int32_t job) const { return entitled_.has(job) ? kLevel : 0; }
  /// Entitled jobs that wait.
  std::int64_t waiting() const { return waiting_; }
  /// QuotaOrder::victims_from of this order.
  TimeUs victims_from() const;
  /// As QuotaOrder::say_why, of a job that was displaced. After `judge` on the same state.
  void say_why(const StateImpl& state, std::int32_t victim, Reason& reason, FallingKeys& keys);

 private:
  /// Jobs of a queue that ask for the same.
  struct Class {
    std::int32_t queue;
    std::int32_t type;  // in which it counts; -1: its type does not count
    std::int64_t gpus;
    OrderPlace cut;  // jobs behind it borrow
    // What entitled jobs up to the cut have, with one more of the class, is at least this much more than the share.
    std::int64_t over;
    std::int64_t fall;   // the least `most_fall` of those of `falling`
    bool may_come;       // one that borrows may stand before the cut
    TimeUs quiet_until;  // none passes the cut until then
    // Of those that borrow, in that call of `judge`; 0: not known.
    OrderPlace first;
    std::int64_t first_in;
    // Those that borrow, the last one first. One whose key falls stands at a place that it does not pass until the horizon of its queue.
    // For each microsecond left until then, its key is higher by at least `fall`.
    std::vector<OrderPlace> resting, falling;
  };
  /// A running job that may not be displaced.
  struct Protected {
    std::int64_t label;
    std::int32_t job;
    QuotaAmount held;
    bool borrows;
    bool operator<(const Protected& other) const { return label < other.label; }
  };
  struct Queue {
    std::vector<std::int32_t> classes;
    std::vector<Protected> stay;  // by label
    TimeUs victims_from;          // of those of `stay` that borrow
    TimeUs horizon;               // of the places in `falling`
    TimeUs quiet_until;           // of all classes
    bool stay_changed, is_dirty;  // judged again
  };
  enum class Part : std::uint8_t { kOut, kEntitled, kRests, kFalls, kStays };
  struct Known {
    Part part = Part::kOut;
    std::int32_t of = -1;  // class, or queue of one that stays
    bool runs = false;
    bool was_entitled = false;  // after the last `judge`
    OrderPlace place;           // in the class, of one that borrows
  };
  /// A class while its queue is judged.
  struct Open {
    std::int32_t of;
    OrderPlace first;  // of those that borrow; behind all: there is none
  };

  std::int32_t class_of(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job);
  void drop(std::int32_t job);
  void stay(const StateImpl& state, std::int32_t job);
  void borrow(std::int32_t job, std::int32_t of, const OrderPlace& place, FallingKeys& keys);
  void enter(std::int32_t job);
  void leave(std::int32_t job);
  void loosen(Queue& queue, std::int64_t gpus, const OrderPlace& from, const OrderPlace& to);
  void tighten(const Queue& queue, const Class& of, const OrderPlace& from);
  void read_shares();
  void read_stay(const StateImpl& state, std::size_t queue);
  void look_ahead(Queue& queue, TimeUs until, FallingKeys& keys);
  void look_for_passing(Queue& queue, FallingKeys& keys);
  static void set_cut(Class& of, const OrderPlace& cut);
  OrderPlace lowest_place(const Class& of, const OrderPlace& falling, TimeUs until) const;
  OrderPlace place_now(const OrderPlace& falling, FallingKeys& keys);
  void rest(Class& of);
  bool passes_cut(Class& of, FallingKeys& keys);
  TimeUs quiet_until(const Class& of) const;
  const OrderPlace& first_of(Class& of, FallingKeys& keys);
  bool is_over(std::int32_t queue) const;
  std::int64_t over(const Class& of, const std::vector<std::int64_t>& taken) const;
  void take(const Class& of, std::int64_t gpus);
  void accept(std::int32_t job);
  OrderPlace next_to_try(const Queue& queue, FallingKeys& keys);
  OrderPlace last_stored(std::int32_t queue) const;
  OrderPlace last_of(std::int32_t queue, FallingKeys& keys);
  void judge_rest(std::int32_t queue, const OrderPlace& rest, FallingKeys& keys);
  void judge_queue(std::int32_t queue, FallingKeys& keys);

  std::size_t at(std::int32_t queue, std::int32_t column) const {
    return static_cast<std::size_t>(queue) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  const QuotaLedger* ledger_ = nullptr;
  std::int32_t columns_ = 0;
  std::vector<Queue> queues_;  // the last one: of jobs without a queue
  std::vector<Class> classes_;
  VictimOrder entitled_;               // a part for each queue
  std::vector<Known> known_;           // [jobs of the state]
  std::vector<std::int64_t> share_;    // [queues * columns] what they are entitled to; kUncounted: nothing is stated
  std::vector<std::int64_t> stay_;     // the same: what jobs that stay have of it
  std::vector<std::int64_t> taken_;    // the same, with what entitled jobs ask for
  std::vector<std::int32_t> touched_;  // jobs that came to the entitled ones, or left them
  std::vector<std::int32_t> changed_;
  std::vector<OrderPlace> fresh_;  // of one queue: jobs that are entitled from now on, in order
  std::vector<OrderPlace> again_;  // of one queue: jobs behind all that stay entitled, the last one first
  std::size_t read_ = 0;           // of one queue: entitled jobs among these
  std::vector<Open> open_;
  std::vector<OrderPlace> rested_;         // of a class: those of `falling` that were found not to fall
  std::int64_t waiting_ = 0, judged_ = 0;  // judged: times
  TimeUs judged_at_ = 0;
  bool filling_ = false;  // since `begin`: orders of jobs that borrow are put in order when they are judged
};

}  // namespace berth::core
