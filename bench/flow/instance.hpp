#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "bench/flow/network_simplex.hpp"
#include "bench/support/passes.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// Of jobs in these places. Ends the process when a job has no place, or a place has more jobs than GPUs.
std::int64_t flow_cost(const FlowInstance& flow, const std::vector<int>& places);

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
  /// As `flow_cost`.
  std::int64_t cost(const std::vector<int>& places) const { return flow_cost(flow_, places); }

  /// Another job, drawn as those of the instance were.
  Job new_job(std::int64_t number, std::mt19937_64& random) const;
  /// Writes what a job costs on each type, without places.
  static void run_costs(const ClusterState& state, std::int32_t job, std::int64_t* out);
  int place_of_node(std::int32_t node) const;

 private:
  int place_of(std::int32_t type, std::int32_t rack) const { return place_[static_cast<std::size_t>(rack * flow_.types + type)]; }
  static std::int32_t type_of(const ClusterState& state, std::int32_t job, std::int32_t option);

  std::vector<GpuType> gpu_types_;
  std::unique_ptr<ClusterState> state_;
  std::unique_ptr<PassColumns> columns_;
  FlowInstance flow_;
  std::vector<std::int64_t> rack_cost_;  // [racks]
  std::vector<int> place_;               // [racks * types], -1: none
  std::vector<std::int32_t> node_rack_;  // [nodes]
  std::vector<std::vector<std::int32_t>> place_nodes_;
};

}  // namespace berth::bench
