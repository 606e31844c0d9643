#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/kernel/place/state.hpp"
#include "host/core/kept/timed_demands.hpp"
#include "host/core/kept/waiting_classes.hpp"

namespace berth::core {

/// Where the jobs of a class found no room, and what they lacked: docs/placement.md, section 12.
///
/// Dead classes stand in groups of those that could use the same. When a growth comes, each group that has a class which
/// may find room has a turn: its classes are looked at in the order of their places, by what is free when a pass comes
/// there. Where a job has taken it all, the rest of the group is not looked at.
class DeadClasses {
 public:
  static constexpr std::int64_t kOnlyQuota = INT64_MAX;

  /// What a node has more of: free, or held by jobs that may be displaced by others than before.
  struct NodeMore {
    std::int32_t node;
    std::int64_t gpus, cpu, memory;
  };

  /// What more there is on nodes, with what is free there and what their victims hold.
  class Growth {
   public:
    void add_node(const NodeMore& more) { nodes_.push_back({more, victims_.size(), victims_.size()}); }
    /// Of the last node: a job that may be displaced, and what it holds there.
    void add_victim(const OrderPlace& place, std::int64_t gpus, std::int64_t cpu, std::int64_t memory) {
      victims_.push_back({place, gpus, cpu, memory});
    }
    /// After the victims of a node: each then stands for those behind it, too.
    void end_node();

   private:
    friend class DeadClasses;
    static constexpr OrderPlace kBehindAll{INT64_MAX, INT64_MAX, 0};
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
      OrderPlace last;                      // classes from here on find no room
      OrderPlace first = kBehindAll;        // no class before it is looked at
    };
    void clear();

    std::vector<Node> nodes_;
    std::vector<Victims> victims_;
    std::vector<Steps> of_kind_;
    std::vector<Step> steps_;
    std::int64_t state_ = 0;  // for which `steps_` were listed
  };

  /// A class that is dead no longer, and from where on it was.
  struct Woken {
    std::int32_t of;
    OrderPlace place;
  };

  /// No class is dead, and demands are others.
  void clear();
  /// No class is dead.
  void forget();
  void forget(std::int32_t of) {
    if (static_cast<std::size_t>(of) < dead_.size()) leave(dead_[static_cast<std::size_t>(of)]);
  }
  void begin_pass(std::size_t classes);
  bool is_dead(std::size_t of, const OrderPlace& place) const {
    return of < dead_.size() && dead_[of].place.job >= 0 && !(place < dead_[of].place);
  }
  /// No job of a class found room from a place on.
  /// @param missing   members that lack room at least, in some option; kOnlyQuota: no option lacked room
  /// @param by_quota  some option lacked quota
  void set(const kernel::ProblemView& problem, const TimedDemands& demands, const WaitingClasses& waiting, std::int32_t of,
           const OrderPlace& place, std::int64_t missing, bool by_quota);
  /// Places that groups list. After `begin_pass`: one of each dead class that lacked room.
  std::size_t listed() const;
  /// Another growth of this pass, empty. Then `begin_turns`.
  Growth& grow();
  /// By the last growth. O(kinds of members * its nodes and victims).
  /// @param from  only of classes that are dead from this place or one behind it; null: of all
  void begin_turns(const kernel::ProblemView& problem, const kernel::PassState& state, const OrderPlace* from);
  /// What is free is other than before.
  void free_changed() { ++state_; }
  /// Looks at classes whose turn comes before a place, until one may find room. Those that stay dead lack fewer members
  /// than before.
  /// @param state  what is free, now
  /// @param until  null: all
  std::optional<Woken> wake_next(const kernel::ProblemView& problem, const kernel::PassState& state, const OrderPlace* until);
  /// Classes that lacked quota of a queue that has more now. O(classes that lacked quota).
  /// @param quota   [queues] 1: there is more
  /// @param from    as `begin_turns`
  /// @param woken   is cleared first
  void wake_by_quota(const kernel::ProblemView& problem, const WaitingClasses& waiting, std::span<const std::uint8_t> quota,
                     const OrderPlace* from, std::vector<Woken>& woken);

 private:
  struct Dead {
    OrderPlace place;  // from here on no job of the class found room; job -1: not known
    std::int64_t missing = 0;
    bool by_quota = false;
    bool is_listed = false;   // in `by_quota_`
    std::int32_t group = -1;  // in which it has an entry; -1: none
  };
  /// Members of several demands that find room on the same nodes.
  struct Kind {
    std::int32_t demand;
    TimeUs end;                // TimedDemands::end
    std::int64_t members = 0;  // the most of a demand
  };
  struct Entry {
    OrderPlace place;
    std::int32_t of;
    bool operator<(const Entry& other) const { return place < other.place; }
  };
  struct Group {
    std::vector<std::int32_t> kinds;
    std::vector<Entry> order;  // with some that are dead no longer
    std::vector<Entry> fresh;  // since `begin_pass`
    bool is_changed = false;   // in `changed_groups_`
  };
  /// The next class of a group to be looked at for a growth.
  struct Turn {
    OrderPlace place;
    std::size_t growth, group, at;
    bool operator<(const Turn& other) const { return other.place < place; }  // the first comes out of a heap first
  };

  bool is_of(const Entry& entry) const {
    const Dead& dead = dead_[static_cast<std::size_t>(entry.of)];
    return dead.place.job >= 0 && dead.missing != kOnlyQuota && dead.place.is_at(entry.place);
  }
  void leave(Dead& dead) {
    dead.place.job = -1;
    if (dead.group >= 0) change_group(std::exchange(dead.group, -1));
  }
  void change_group(std::int32_t group);
  std::int32_t group_of(const kernel::ProblemView& problem, const TimedDemands& demands, std::span<const std::int32_t> rows);
  std::int32_t kind_of(const kernel::ProblemView& problem, const TimedDemands& demands, std::int32_t timed);
  const Growth::Steps& steps_of(const kernel::ProblemView& problem, const kernel::PassState& state, Growth& growth, std::int32_t kind);
  void list_steps(const kernel::ProblemView& problem, const kernel::PassState& state, Growth& growth, const Kind& kind,
                  Growth::Steps& steps) const;
  bool gives_room(const kernel::ProblemView& problem, const kernel::PassState& state, const Turn& turn);
  std::int64_t room(const kernel::ProblemView& problem, const kernel::PassState& state, const Turn& turn);

  std::vector<Dead> dead_;  // [classes]
  std::map<std::tuple<std::int32_t, TimeUs, std::int32_t, std::int64_t, std::int64_t, std::int32_t, std::int32_t>, std::int32_t> kind_ids_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> kind_of_;  // [rows of TimedDemands] -1: not known
  std::map<std::vector<std::int32_t>, std::int32_t> group_ids_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> changed_groups_;  // in which classes came or left since `begin_pass`
  std::vector<std::int32_t> by_quota_;        // classes that lacked quota, with some that do no longer
  std::vector<std::int32_t> kinds_of_;        // of one class
  std::vector<Growth> growths_;               // of this pass, and room for others
  std::size_t n_growths_ = 0;
  std::vector<Turn> turns_, first_turns_;  // first: of a growth
  std::int64_t state_ = 0;                 // counts changes of what is free
};

/// A lower bound of the members of a demand that lack room; 1 or more where the demand does not fit.
/// @param end  of the job, kNever: not known
std::int64_t members_missing(const kernel::ProblemView& problem, const kernel::PassState& state, const kernel::DemandRow& demand,
                             TimeUs end);

}  // namespace berth::core
