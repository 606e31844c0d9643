#pragma once

#include <cstdint>
#include <vector>

#include "host/core/backend.hpp"
#include "host/core/ordering.hpp"
#include "host/core/policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Builds the order of a decision and the columns of its PlaceRequest. Memory is kept between decisions.
class WalkInput {
 public:
  /// Keys of all jobs that the policy orders, and their order. Preemptive policies order running jobs too.
  void order(const StateImpl& state, const PolicyEntry& entry, QueuePolicy& policy, PolicyState& policy_state,
             const std::vector<std::uint8_t>& lost);
  /// The rest of the request. `lost[slot]`: treated as waiting. `options`: rows in place of the problem's own (consolidate), or null.
  kernel::PlaceRequest request(const StateImpl& state, const PolicyEntry& entry, const WalkRules& rules, const std::vector<std::uint8_t>& lost,
                               std::int64_t work_limit);

  const std::vector<std::int32_t>& slots() const { return order_; }
  const TimeUs* option_run() const { return option_run_.data(); }

 private:
  void release_events(const StateImpl& state, const std::vector<std::uint8_t>& lost);

  std::vector<std::int32_t> slots_, order_;
  std::vector<std::int64_t> keys_;           // by slot
  std::vector<std::int64_t> batch_;          // by index in slots_
  std::vector<TimeUs> remaining_, option_run_;
  std::vector<std::int64_t> attained_;
  std::vector<TimeUs> waiting_since_;
  std::vector<std::uint8_t> running_, victim_ok_;
  std::vector<kernel::ReleaseRow> releases_;
  std::vector<std::int64_t> service_;
  std::uint64_t history_seen_ = 0;
  const void* history_of_ = nullptr;
  JobOrder sorter_;
};

}  // namespace berth::core
