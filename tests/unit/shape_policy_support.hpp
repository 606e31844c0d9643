#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/state.hpp"
#include "tests/unit/validate_support.hpp"

/// One node of 8 GPUs, and jobs of several shapes, for policies that choose among them.
namespace berth::test {

inline Snapshot one_node() {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.gpu_types.resize(1);
  return s;
}

using GpuRates = std::vector<std::pair<std::int32_t, std::int64_t>>;  // GPUs, millionths of the unit per second

/// Speeds 1, 1.9, 3.4 and 5 on 1, 2, 4 and 8 GPUs.
inline const GpuRates kAmdahl{{1, 1'000'000}, {2, 1'900'000}, {4, 3'400'000}, {8, 5'000'000}};

/// Shapes are named by their GPUs.
inline Job& elastic(Snapshot& s, const std::string& id, const GpuRates& rates = kAmdahl) {
  Job& job = add_job(s, id, 1);
  job.shapes.clear();
  for (const auto& [gpus, rate] : rates) {
    Shape shape;
    shape.id = std::to_string(gpus);
    shape.gpus = gpus;
    shape.rate = rate;
    job.shapes.push_back(shape);
  }
  return job;
}

/// "start 4": what becomes of a job, and its shape.
inline std::string fate(const ClusterState& state, const Plan& plan, const std::string& id) {
  const std::int32_t slot = state.find_job(id);
  const Decision& d = plan.decisions.at(static_cast<std::size_t>(state.job_rank(slot)));
  std::string text(to_string(d.action));
  return d.shape < 0 ? text : text + " " + state.job(slot)->shapes.at(static_cast<std::size_t>(d.shape)).id;
}

}  // namespace berth::test
