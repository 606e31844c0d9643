#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth {

/// A state as policies, the simulator, reports and bindings see it: read-only, and their only access to the engine's
/// data.
///
/// It refers to the state, so it is cheap to copy, and valid as long as the state. Columns are valid until the state's
/// next change.
class StateView {
 public:
  // A state is a view of itself.
  StateView(const ClusterState& state) : s_(&state.impl()) {}  // NOLINT(google-explicit-constructor)
  StateView(const StateImpl& state) : s_(&state) {}            // NOLINT(google-explicit-constructor)

  TimeUs now() const { return s_->now; }
  std::uint64_t revision() const { return s_->revision; }
  /// @throws StateLost when memory ran out during a change.
  void check_whole() const { s_->check_whole(); }

  // Descriptions.
  const std::vector<GpuType>& gpu_types() const { return s_->gpu_types; }
  const std::vector<Node>& nodes() const { return s_->nodes; }     ///< by rank
  const std::vector<Queue>& queues() const { return s_->queues; }  ///< parents before children
  const std::vector<Reservation>& reservations() const { return s_->reservations; }
  const std::vector<FinishedJob>& history() const { return s_->history; }
  const std::vector<JobRecord>& jobs() const { return s_->jobs; }               ///< by job; some may be empty
  const std::vector<std::int32_t>& job_order() const { return s_->job_order; }  ///< jobs by (submit, id)
  const std::vector<std::int32_t>& job_rank() const { return s_->job_rank(); }  ///< by job
  /// The descriptions as the validator reads them.
  const core::ClusterFacts& facts() const { return s_->facts(); }

  // Columns.
  const JobStore& job() const { return s_->job; }
  const NodeStore& node() const { return s_->node; }
  const kernel::ProblemView& problem() const { return s_->problem(); }
  core::SupplyView total_supply() const { return s_->total_supply(); }

  // One job; see StateImpl.
  TimeUs remaining(std::int32_t job) const { return s_->remaining(job); }
  TimeUs run_now(std::int32_t job) const { return s_->run_now(job); }
  TimeUs last_start(std::int32_t job) const { return s_->last_start(job); }
  std::int64_t attained_now(std::int32_t job) const { return s_->attained_now(job); }
  std::int64_t work_left_now(std::int32_t job) const { return s_->work_left_now(job); }
  bool lost_gpus(std::int32_t job) const { return s_->lost_gpus(job); }
  bool any_several_shapes() const { return s_->any_several_shapes(); }
  void advance(std::int32_t job, Progress& progress) const { s_->advance(job, progress); }

 private:
  friend const StateImpl& impl_of(const StateView& view);
  const StateImpl* s_;
};

/// For host/core alone.
inline const StateImpl& impl_of(const StateView& view) { return *view.s_; }

}  // namespace berth
