#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/run_list.hpp"
#include "host/sim/all_reduces.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {

/// Policy `ada-srsf` (Wang, Shi, Li, Chu, "Communication Contention Aware Scheduling of Multiple Deep Learning Training Jobs", arXiv
/// 2002.10105): jobs are placed beside others by LWF-kappa and stay; what they do in an iteration is ordered by remaining service, and
/// all-reduces are admitted by AdaDUAL (`IterationRules`).
struct AdaSrsfSettings {
  std::int32_t kappa = 1;  ///< up to so many GPUs a job takes the least loaded ones wherever they are; more are taken node by node
  bool first_fit = false;  ///< instead: the first GPUs with room, by node
  IterationRules rules{Admission::kAdaDual, Turns::kLeast};
};

/// Its name, rule and parameters. Simulations know it only.
const PolicyInfo& ada_srsf_info();
/// @throws InvalidArgument naming a parameter of `ada_srsf_info` and its value.
AdaSrsfSettings ada_srsf_settings(const std::vector<std::pair<std::string, std::string>>& params);

/// Its placement. Decides for one simulation of iterations, whose jobs know their remaining work (`oracle`).
///
/// A GPU's load is the sum over its jobs of the time that they still need: iterations left x (computing, and the all-reduce alone where a
/// job lies on several nodes). Waiting jobs stand in the order of their remaining service; one that finds too few GPUs with room waits,
/// and the next is tried.
class AdaSrsf {
 public:
  AdaSrsf(const AdaSrsfSettings& settings, const NetworkCost& cost, std::int32_t gpu_jobs, const Request& request);

  void decide(const ClusterState& state, Plan& plan, std::vector<TurnedAway>& away);

 private:
  struct Room {
    std::int32_t node, gpu;
    std::int32_t jobs = 0;
    __int128 load = 0;  // microseconds
  };
  struct Node {
    std::size_t begin, end;    // of rooms_
    std::int64_t cpu, memory;  // free
    std::int32_t asked = 0;    // GPUs that the job in hand would take
  };
  struct Waiting {
    __int128 service;
    std::int32_t slot;
  };
  bool look(const StateImpl& state);
  void add(const Job& job, const std::vector<std::size_t>& rooms);
  bool open(const StateImpl& state, const Job& job, std::int32_t gpu_type, std::int32_t node) const;
  bool find(const StateImpl& state, const Job& job, std::int32_t gpus, std::int32_t gpu_type);
  bool start(const StateImpl& state, std::int32_t slot);
  std::int64_t most_gpus(const StateImpl& state, const Job& job) const;

  AdaSrsfSettings settings_;
  NetworkCost cost_;
  std::int32_t gpu_jobs_;
  Request request_;
  core::RunList list_;
  std::vector<Room> rooms_;  // GPUs that work, by (node, index)
  std::vector<Node> nodes_;
  std::vector<std::size_t> candidates_, chosen_;  // of rooms_
  std::vector<core::RunLine> lines_;
  std::vector<Waiting> waiting_;
};

}  // namespace berth::sim
