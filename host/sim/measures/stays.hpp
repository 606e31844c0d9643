#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/units.hpp"

namespace berth::sim {

/// GPUs of one node that a job had, from one instant until another.
struct Stay {
  std::int32_t job = 0;   ///< position in the trace
  std::int32_t node = 0;  ///< of Stays::nodes
  std::int32_t share_ppm = 1'000'000;
  std::uint64_t gpus = 0;  ///< mask of GPU indices
  TimeUs from_us = 0, until_us = kNever;
  bool operator==(const Stay&) const = default;
};

struct StayNode {
  std::string name;
  std::int32_t gpus = 0;
};

/// Which GPUs each job had when. A stay ends when the job ends, stops, or gets other GPUs.
class Stays {
 public:
  void add_node(std::string name, std::int32_t gpus) { nodes_.push_back({std::move(name), gpus}); }
  const std::vector<StayNode>& nodes() const { return nodes_; }

  /// A job gets GPUs of a node. Calls for one job come together.
  void hold(std::int32_t job, std::int32_t node, std::uint64_t gpus, TimeUs now, std::int32_t share_ppm = 1'000'000);
  /// It gives back all that it has.
  void release(std::int32_t job, TimeUs now);

  /// By start. Those of jobs that have not given their GPUs back last until `end_us`. Those that took no time are left out: the job got
  /// other GPUs, or lost them, at that instant.
  std::vector<Stay> finish(TimeUs end_us);

 private:
  std::vector<StayNode> nodes_;
  std::vector<Stay> stays_;
  std::unordered_map<std::int32_t, std::size_t> open_;  // job -> the first of its stays that have not ended
};

}  // namespace berth::sim
