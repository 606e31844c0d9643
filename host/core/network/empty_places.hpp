#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/model/capacity.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// A demand in two places of an empty cluster. No entries: there are no such places.
struct TwoPlaces {
  std::int32_t level = -1;             ///< of the switch topology: the lowest of which a domain could hold the demand; 0: the node
  std::vector<PlanEntry> tight, wide;  ///< inside the roomiest such domain; half in each of two
};

/// Finds the two places of demands whose gangs may wait for a domain (docs/traffic.md, "Waiting for a place"). Groups are
/// filled in their order, with their segments and spreads, and inside the levels that they require. It is no proof: a demand
/// that fits only with other choices has no place here.
class EmptyPlaces {
 public:
  /// Before `of` in this state.
  void begin(const StateImpl& state);
  /// O(nodes * groups * levels) where the first domains that are tried hold the demand.
  TwoPlaces of(const StateImpl& state, std::int32_t demand);

 private:
  using Nodes = std::vector<std::int32_t>;
  struct Take {
    std::int32_t row, node, members;
  };

  bool may_wait() const;
  void find_kinds();
  bool keeps_required(std::int32_t level) const;
  std::int32_t place(std::int32_t topology, std::int32_t level, std::int32_t node) const;
  bool named(std::int32_t level, std::int32_t domain) const;
  Nodes nodes_in(std::int32_t level, std::int32_t domain) const;
  std::vector<std::pair<std::int64_t, std::int32_t>> by_room(std::int32_t level) const;

  void clear();
  void undo(std::size_t takes);
  std::int64_t capacity(std::int32_t row, std::int32_t node) const;
  void take(std::int32_t row, std::int32_t node, std::int64_t members);
  bool fill(std::int32_t row, const Nodes& set, std::int64_t members);
  bool fill_segments(std::int32_t row, const Nodes& set, std::int64_t members);
  bool put(std::int32_t row, const Nodes& set);
  bool put_inside(std::int32_t row, const Nodes& set);
  bool put_whole(const Nodes& set);
  bool put_halves(const Nodes& first, const Nodes& second);
  bool split(std::int32_t row, const Nodes& first, const Nodes& second, std::int64_t& gpus_first);
  std::vector<PlanEntry> entries(const StateImpl& state) const;

  const kernel::ProblemView* problem_ = nullptr;
  Capacity total_;
  // Of the demand whose places are sought.
  kernel::DemandRow demand_{};
  std::vector<kernel::GroupRow> rows_;
  bool one_root_ = false;
  std::vector<std::int32_t> kinds_;  // one row of those that need the same of a node
  std::vector<std::int64_t> room_;   // [nodes] GPUs that members may use, if the node is empty
  std::vector<Capacity::Row> left_;  // [nodes] what the takes left
  std::vector<Take> takes_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> spread_;  // by row and domain: its members there
  std::int32_t tries_ = 0;                                                // that are left
};

}  // namespace berth::core
