#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/flow/network_simplex.hpp"
#include "bench/support/passes.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// The same instance twice: as a Berth problem, and as a flow. Three GPU types, racks of 16 nodes, nine one-GPU jobs
/// per ten GPUs. A job costs its run time on the type (milliseconds) and the cost of its rack. A place is the GPUs of
/// one type in one rack.
class Instance {
 public:
  explicit Instance(std::int64_t jobs);

  const ClusterState& state() const { return *state_; }
  const PassColumns& columns() const { return *columns_; }
  const FlowInstance& flow() const { return flow_; }

  /// Rounds of `score`: every unplaced job requests its 16 cheapest racks, then each job in order takes its
  /// cheapest one with a free GPU. It knows the cost of racks. @returns the place of each job.
  std::vector<int> by_score(core::PlacementBackend& backend, int& rounds) const;
  /// `place`: each job in order takes the type with room on which it runs shortest, in the tightest rack. It
  /// knows the run times but not the cost of racks.
  std::vector<int> by_order(core::PlacementBackend& backend) const;
  /// In the cost of the flow. Ends the process when a job has no place, or a place has more jobs than GPUs.
  std::int64_t cost(const std::vector<int>& places) const;

 private:
  int place_of(std::int32_t type, std::int32_t rack) const { return place_[static_cast<std::size_t>(rack * flow_.types + type)]; }
  std::int32_t type_of(std::int32_t job, std::int32_t option) const;

  std::unique_ptr<ClusterState> state_;
  std::unique_ptr<PassColumns> columns_;
  FlowInstance flow_;
  std::vector<std::int64_t> rack_cost_;  // [racks]
  std::vector<int> place_;               // [racks * types], -1: none
  std::vector<std::int32_t> node_rack_;  // [nodes]
  std::vector<std::vector<std::int32_t>> place_nodes_;
};

}  // namespace berth::bench
