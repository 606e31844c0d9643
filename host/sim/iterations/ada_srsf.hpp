#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/engine/run_list.hpp"
#include "host/sim/base/decider.hpp"
#include "host/sim/iterations/iterations.hpp"

namespace berth::sim {

/// Policy `ada-srsf` (Wang, Shi, Li, Chu, "Communication Contention Aware Scheduling of Multiple Deep Learning Training Jobs", arXiv
/// 2002.10105). Jobs are placed next to others by LWF-kappa and stay.
/// Within an iteration they are ordered by remaining service, and AdaDUAL admits all-reduces (`IterationRules`).
struct AdaSrsfSettings {
  std::int32_t kappa = 1;  ///< up to N GPUs a job uses the least loaded ones anywhere; larger jobs are placed node by node
  bool first_fit = false;  ///< use the first GPUs with room instead, by node
  IterationRules rules{Admission::kAdaDual, GpuOrder::kLeast};
};

/// Its name, rule and parameters. Only simulations have this policy.
const PolicyInfo& ada_srsf_info();
/// @throws InvalidArgument naming a parameter of `ada_srsf_info` and its value.
AdaSrsfSettings ada_srsf_settings(const std::vector<std::pair<std::string, std::string>>& params);

/// The placement of `ada-srsf`. Decides for one simulation of iterations, whose jobs know their remaining work (`oracle`).
///
/// The load of a GPU is the sum over its jobs of their remaining time: iterations left x the time of one.
/// That time is the computing, plus the all-reduce alone where a job is on several nodes.
/// Waiting jobs are ordered by remaining service. A job that finds too few GPUs with room waits, and the next is tried.
class AdaSrsf {
 public:
  AdaSrsf(const AdaSrsfSettings& settings, const NetworkCost& cost, std::int32_t gpu_jobs, const Request& request);

  void decide(const ClusterState& state, Plan& plan, std::vector<Rejected>& away);

 private:
  struct Room {
    std::int32_t node, gpu;
    std::int32_t jobs = 0;
    __int128 load = 0;  // microseconds
  };
  struct Node {
    std::size_t begin, end;    // of rooms_
    std::int64_t cpu, memory;  // free
    std::int32_t asked = 0;    // GPUs that the current job would use
  };
  struct Waiting {
    __int128 service;
    std::int32_t job;
  };
  bool look(const StateView& state);
  void add(const Job& job, const std::vector<std::size_t>& rooms);
  bool open(const StateView& state, const Job& job, std::int32_t gpu_type, std::int32_t node) const;
  bool find(const StateView& state, const Job& job, std::int32_t gpus, std::int32_t gpu_type);
  bool start(const StateView& state, std::int32_t job);
  std::int64_t most_gpus(const StateView& state, const Job& job) const;

  AdaSrsfSettings settings_;
  NetworkCost cost_;
  std::int32_t gpu_jobs_;
  Request request_;
  core::RunList list_;
  std::vector<Room> rooms_;  // healthy GPUs, by (node, index)
  std::vector<Node> nodes_;
  std::vector<std::size_t> candidates_, chosen_;  // of rooms_
  std::vector<core::RunLine> lines_;
  std::vector<Waiting> waiting_;
};

}  // namespace berth::sim
