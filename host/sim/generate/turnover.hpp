#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"

namespace berth::sim {

/// Changes between two decisions on a cluster in use: ten seconds pass, some running jobs end, as many arrive.
class Turnover {
 public:
  /// Jobs that arrive are copies of jobs of the snapshot, which must outlive this.
  /// @param jobs  that end, and that arrive
  Turnover(const Snapshot& snapshot, std::uint64_t seed, int jobs = 4) : snapshot_(snapshot), random_(seed), jobs_(jobs) {}

  std::vector<Delta> next(const ClusterState& state);

 private:
  std::string some_running(const ClusterState& state, int part);

  const Snapshot& snapshot_;
  std::mt19937_64 random_;
  int jobs_;
  std::int64_t arrivals_ = 0;
};

}  // namespace berth::sim
