#pragma once

#include <cstdint>
#include <span>
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
  /// What this decision found out about jobs before any was placed; all by slot.
  struct Marks {
    const std::vector<std::uint8_t>& lost;      // 1: runs on failed GPUs and was not mended: treated as waiting
    const std::vector<std::int32_t>& mended;    // >= 0: mended, must not be displaced in the same breath
    const std::vector<std::uint8_t>& declined;  // 1: can never run: left out
    // [options of the problem] 1: the job can never run so, by any GPUs that exist. Only for who chooses shapes; else empty.
    std::span<const std::uint8_t> impossible{};
  };

  /// Keys of all jobs that the policy orders, and their order. Preemptive policies order running jobs too.
  void order(const StateImpl& state, const PolicyEntry& entry, QueuePolicy& policy, const PolicyState& policy_state, const Marks& marks);
  /// Only what `remaining` gives, for a choice of shapes.
  void look(const StateImpl& state);
  /// What the policy keeps for the next decision. The state of `order` is as it was then.
  static void keep(const StateImpl& state, const QueuePolicy& policy, PolicyState& policy_state);
  /// An order from elsewhere, most important first: without jobs that are declined, and without running ones that nobody displaces.
  void order(const std::vector<std::int32_t>& slots) { order_ = slots; }
  /// [slots] of all jobs: StateImpl::remaining now; of the last `order` by a policy.
  const std::vector<TimeUs>& remaining() const { return remaining_; }
  /// First instant at which a key of that order changes by itself once the answer is carried out: Plan::order_until_us.
  TimeUs order_until(const StateImpl& state, const PolicyEntry& entry, QueuePolicy& policy, const kernel::PlaceResult& answer);
  /// The rest of the request.
  kernel::PlaceRequest request(const StateImpl& state, const PolicyEntry& entry, const WalkRules& rules, const Marks& marks,
                               std::int64_t work_limit);

 private:
  void look_at_cluster(const StateImpl& state);
  JobColumns columns(const StateImpl& state) const;
  void release_events(const StateImpl& state, const std::vector<std::uint8_t>& lost);

  std::vector<std::int32_t> slots_, order_;
  std::vector<std::int64_t> keys_;   // by slot
  std::vector<std::int64_t> batch_;  // by index in slots_
  std::vector<TimeUs> remaining_, option_run_;
  std::vector<std::int64_t> attained_;
  std::vector<TimeUs> waiting_since_, assigned_;
  std::int64_t cluster_gpus_ = 0;
  std::vector<std::uint8_t> running_, victim_ok_;
  std::vector<std::uint8_t> runs_then_;  // by slot
  std::vector<std::int32_t> gpus_then_;
  std::vector<kernel::ReleaseRow> releases_;
  std::vector<std::int64_t> service_;
  std::uint64_t history_seen_ = 0;
  const void* history_of_ = nullptr;
  JobOrder sorter_;
};

}  // namespace berth::core
