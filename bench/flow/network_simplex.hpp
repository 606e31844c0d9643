#pragma once

#include <cstdint>
#include <vector>

/// C++17: LEMON does not compile as C++20.
namespace berth::bench {

/// One-GPU jobs, to be assigned GPUs of (type, domain) places at the lowest total cost `run_cost[job][type] +
/// place_cost[place]`. Enough GPUs exist for all jobs.
struct FlowInstance {
  int jobs = 0;
  int types = 0;
  std::vector<std::int64_t> run_cost;    // [jobs * types]
  std::vector<int> place_type;           // [places]
  std::vector<std::int64_t> place_cost;  // [places]
  std::vector<int> place_gpus;           // [places] free GPUs
};

struct FlowOptimum {
  std::int64_t cost = 0;
  double build_s = 0, solve_s = 0;
  bool proven = false;  // the flow is feasible and its potentials leave no improving arc, so it is the optimum
};

/// LEMON's network simplex on job -> type -> sink, with an arc to the sink for each place. This is the smallest
/// equivalent network: jobs + types + 1 nodes and jobs x types + places arcs. An arc for each job and place would be
/// slower.
FlowOptimum solve_flow(const FlowInstance& instance);

}  // namespace berth::bench
