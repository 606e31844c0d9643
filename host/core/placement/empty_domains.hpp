#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/kernel/base/problem.hpp"
#include "host/core/model/capacity.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Whether some named domain of a level could hold a demand, if it were empty and all of its nodes worked: each group by itself, with
/// its segments and spread, and the GPUs of all groups together. Answers are kept while descriptions stay.
class EmptyDomains {
 public:
  /// Before `hold` in this state.
  void begin(const StateImpl& state);
  /// @param level  0: a node; the highest: the cluster, which always counts as one that holds it. O(1), but O(nodes * groups) once for
  /// each demand and level; less where no domain has as many GPUs.
  bool hold(const StateImpl& state, std::int32_t demand, std::int32_t topology, std::int32_t level);

 private:
  bool find(const StateImpl& state, std::int32_t demand, std::int32_t topology, std::int32_t level);
  std::int64_t most_gpus(std::int32_t topology, std::int32_t level);
  bool may_use(std::int32_t node) const { return (may_use_[node / 64] >> (node % 64) & 1) != 0; }
  std::int64_t members_in(const kernel::GroupRow& group, const std::int32_t* nodes, std::int32_t n);
  std::int32_t place(std::int32_t topology, std::int32_t level, std::int32_t node) const;

  std::weak_ptr<const int> served_;
  std::uint64_t structure_ = 0;  // of the state that answers belong to
  const kernel::ProblemView* problem_ = nullptr;
  Capacity total_;
  std::vector<std::int8_t> known_;          // [demands * topologies * levels] -1: not known yet
  const std::uint64_t* may_use_ = nullptr;  // bits of the nodes that the demand may use at some time
  std::array<std::int64_t, std::size_t{kTopologyKinds} * kMaxLevels> most_gpus_{};  // of one domain; -1: not known yet
  std::vector<std::pair<std::int32_t, std::int64_t>> by_place_;                     // (domain of a segment or spread, members there)
};

}  // namespace berth::core
