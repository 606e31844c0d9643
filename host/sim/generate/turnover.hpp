#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"

namespace berth::sim {

/// Changes between two decisions on a cluster in use: ten seconds pass, four running jobs end, four jobs arrive.
class Turnover {
 public:
  /// Jobs that arrive are copies of jobs of the snapshot, which must outlive this.
  Turnover(const Snapshot& snapshot, std::uint64_t seed) : snapshot_(snapshot), random_(seed) {}

  std::vector<Delta> next(const ClusterState& state);

 private:
  std::string some_running(const ClusterState& state, int part);

  const Snapshot& snapshot_;
  std::mt19937_64 random_;
  std::int64_t arrivals_ = 0;
};

}  // namespace berth::sim
