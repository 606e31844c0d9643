#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "berth/kernel/place/state.hpp"
#include "host/core/kept/waiting_classes.hpp"

namespace berth::core {

/// Where the jobs of a class found no room, and what they lacked: docs/placement.md, section 12.
class DeadClasses {
 public:
  struct Dead {
    OrderPlace place;          // from here on no job of the class found room; job -1: not known
    std::int64_t missing = 0;  // members that lack room at least, in some option; kOnlyQuota: no option lacked room
    bool by_quota = false;     // some option lacked quota
    std::int64_t seen = 0;     // growths that are taken off `missing`, of all so far
  };
  static constexpr std::int64_t kOnlyQuota = INT64_MAX;

  /// What a node has more of: free, or held by jobs that may be displaced by others than before.
  struct NodeMore {
    std::int32_t node;
    std::int64_t gpus, cpu, memory;
  };

  /// What more there is: on nodes, with what is free there and what their victims hold, and of queues.
  class Growth {
   public:
    void add_node(const NodeMore& more) { nodes_.push_back({more, victims_.size(), victims_.size()}); }
    /// Of the last node: a job that may be displaced, and what it holds there.
    void add_victim(const OrderPlace& place, std::int64_t gpus, std::int64_t cpu, std::int64_t memory) {
      victims_.push_back({place, gpus, cpu, memory});
    }
    /// After the victims of a node: each then stands for those behind it, too.
    void end_node();
    /// [queues] 1: there is more; empty: of none
    std::vector<std::uint8_t>& quota() { return quota_; }

   private:
    friend class DeadClasses;
    struct Victims {
      OrderPlace place;
      std::int64_t gpus, cpu, memory;
    };
    struct Node {
      NodeMore more;
      std::size_t begin, end;  // of `victims_`, the last one first
    };
    /// Members that find room once the victims at this place are gone, with those before.
    struct Step {
      OrderPlace place;
      std::int64_t members;
    };
    /// Of a kind of members.
    struct Steps {
      std::int64_t state = 0, members = 0;  // for which they were listed
      std::size_t begin = 0, end = 0;       // of `steps_`
    };
    void clear();

    std::vector<Node> nodes_;
    std::vector<Victims> victims_;
    std::vector<std::uint8_t> quota_;
    std::vector<Steps> of_kind_;
    std::vector<Step> steps_;
  };

  /// No class is dead, and demands are others.
  void clear();
  /// No class is dead.
  void forget() { dead_.clear(); }
  void forget(std::int32_t of) {
    if (static_cast<std::size_t>(of) < dead_.size()) dead_[static_cast<std::size_t>(of)].place.job = -1;
  }
  /// A class whose growths of the last pass were not all taken off is dead no longer.
  void begin_pass(std::size_t classes) {
    dead_.resize(classes);
    first_ += n_growths_;
    n_growths_ = 0;
    ++state_;
  }
  /// Another growth of this pass, empty.
  Growth& grow();
  /// What is free is other than before.
  void free_changed() { ++state_; }
  bool is_dead(std::size_t of, const OrderPlace& place) const {
    return of < dead_.size() && is_dead(dead_[of]) && !(place < dead_[of].place);
  }
  void set(std::int32_t of, const OrderPlace& place, std::int64_t missing, bool by_quota) {
    dead_[static_cast<std::size_t>(of)] = {place, missing, by_quota, seen_all()};
  }
  /// Whether a dead class finds no room by the growths that it has not seen. They are then taken off what it lacks. O(its
  /// demands), and once for a kind of members and what is free: O(nodes and victims of the growths).
  /// @param state  what is free, now
  bool stays_dead(const kernel::ProblemView& problem, const kernel::PassState& state, const WaitingClasses& waiting, std::size_t of);
  /// Whether a class is dead and has not seen the last growth, and only that.
  bool misses_last(std::size_t of) const { return is_dead(dead_[of]) && dead_[of].seen == seen_all() - 1; }
  const OrderPlace& place(std::size_t of) const { return dead_[of].place; }
  /// The growths give the class nothing.
  void see_all(std::size_t of) { dead_[of].seen = seen_all(); }

 private:
  /// Members of several demands that find room on the same nodes.
  struct Kind {
    std::int64_t members = 0;  // the most of a demand
  };

  std::int64_t seen_all() const { return first_ + n_growths_; }
  bool is_dead(const Dead& dead) const { return dead.place.job >= 0 && dead.seen >= first_; }
  std::int64_t room(const kernel::ProblemView& problem, const kernel::PassState& state, Growth& growth, const OrderPlace& dead,
                    std::int32_t demand);
  void name_kind(const kernel::ProblemView& problem, std::int32_t demand);
  void list_steps(const kernel::ProblemView& problem, const kernel::PassState& state, Growth& growth, std::int32_t demand, const Kind& kind,
                  Growth::Steps& steps) const;

  std::vector<Dead> dead_;  // [classes]
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::int32_t, std::int32_t>, std::int32_t> kind_ids_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> kind_of_;  // [demands] -1: not known
  std::vector<Growth> growths_;        // of this pass, and room for others
  std::int64_t n_growths_ = 0;
  std::int64_t first_ = 0;  // growths of earlier passes
  std::int64_t state_ = 0;  // counts changes of what is free
};

/// A lower bound of the members of a demand that lack room; 1 or more where the demand does not fit.
std::int64_t members_missing(const kernel::ProblemView& problem, const kernel::PassState& state, const kernel::DemandRow& demand);

}  // namespace berth::core
