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
    void clear() {
      nodes_.clear();
      victims_.clear();
    }
    void add_node(const NodeMore& more) { nodes_.push_back({more, victims_.size(), victims_.size()}); }
    /// Of the last node: a job that may be displaced, and what it holds there.
    void add_victim(const OrderPlace& place, std::int64_t gpus, std::int64_t cpu, std::int64_t memory) {
      victims_.push_back({place, gpus, cpu, memory});
    }
    /// After the victims of a node: each then stands for those behind it, too.
    void end_node();

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
    std::vector<Node> nodes_;
    std::vector<Victims> victims_;
  };

  /// No class is dead, and demands are others.
  void clear();
  /// No class is dead.
  void forget() { dead_.clear(); }
  void forget(std::int32_t of) {
    if (static_cast<std::size_t>(of) < dead_.size()) dead_[static_cast<std::size_t>(of)].place.job = -1;
  }
  void resize(std::size_t classes) { dead_.resize(classes); }
  bool is_dead(std::size_t of, const OrderPlace& place) const {
    return of < dead_.size() && dead_[of].place.job >= 0 && !(place < dead_[of].place);
  }
  void set(std::int32_t of, const Dead& dead) { dead_[static_cast<std::size_t>(of)] = dead; }

  /// Classes that may find room now are dead no longer. The others lack fewer members than before.
  /// O(classes + kinds of members * nodes and victims).
  /// @param state    what is free
  /// @param quota    [queues] 1: there is more; empty: of none
  /// @param behind   only classes that are dead from a place behind this one; null: all
  /// @param revived  called with each class that may find room
  template <class Revived>
  void grow(const kernel::ProblemView& problem, const kernel::PassState& state, const WaitingClasses& waiting, const Growth& growth,
            std::span<const std::uint8_t> quota, const OrderPlace* behind, const Revived& revived) {
    ++round_;
    steps_.clear();
    for (std::size_t c = 0; c < dead_.size(); ++c) {
      Dead& dead = dead_[c];
      if (dead.place.job < 0 || (behind != nullptr && !(*behind < dead.place))) continue;
      if (dead.missing != kOnlyQuota && !growth.nodes_.empty()) {
        std::int64_t most = 0;
        for (const std::int32_t d : waiting.demands(c)) most = std::max(most, room(problem, state, growth, dead.place, d));
        dead.missing -= most;
      }
      bool more = dead.missing <= 0;
      if (dead.by_quota && !quota.empty()) {
        for (std::int32_t q = waiting.queue(c); q >= 0; q = problem.queue_parent[q]) more = more || quota[static_cast<std::size_t>(q)] != 0;
      }
      if (!more) continue;
      dead.place.job = -1;
      revived(c);
    }
  }

 private:
  /// Members of several demands that find room on the same nodes.
  struct Kind {
    std::int64_t round = 0;
    std::size_t begin = 0, end = 0;  // of `steps_`
    std::int64_t members = 0;        // the most of a demand
  };
  /// Members that find room once the victims at this place are gone, with those before.
  struct Step {
    OrderPlace place;
    std::int64_t members;
  };

  std::int64_t room(const kernel::ProblemView& problem, const kernel::PassState& state, const Growth& growth, const OrderPlace& dead,
                    std::int32_t demand) {
    const auto d = static_cast<std::size_t>(demand);
    if (d >= kind_of_.size() || kind_of_[d] < 0) name_kind(problem, demand);
    Kind& kind = kinds_[static_cast<std::size_t>(kind_of_[d])];
    if (kind.round != round_) list_steps(problem, state, growth, demand, kind);
    std::int64_t members = 0;
    for (std::size_t i = kind.begin; i < kind.end; ++i) members += dead < steps_[i].place ? steps_[i].members : 0;
    return members;
  }
  void name_kind(const kernel::ProblemView& problem, std::int32_t demand);
  void list_steps(const kernel::ProblemView& problem, const kernel::PassState& state, const Growth& growth, std::int32_t demand,
                  Kind& kind);

  std::vector<Dead> dead_;  // [classes]
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::int32_t, std::int32_t>, std::int32_t> kind_ids_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> kind_of_;  // [demands] -1: not known
  std::vector<Step> steps_;
  std::int64_t round_ = 0;
};

/// A lower bound of the members of a demand that lack room; 1 or more where the demand does not fit.
std::int64_t members_missing(const kernel::ProblemView& problem, const kernel::PassState& state, const kernel::DemandRow& demand);

}  // namespace berth::core
