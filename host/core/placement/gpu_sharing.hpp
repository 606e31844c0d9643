#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/gpu_sharers.hpp"
#include "host/core/placement/tried_options.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Jobs on shares of GPUs under a policy that places them by predicted interference (docs/genie.md, parameter `sharing`).
///
/// In the scheduling pass they ask for whole free GPUs (`PassProblem`). Afterwards jobs that still wait join others on GPUs
/// that are partly held, where each job there keeps enough of its rate. Memory is kept between decisions.
class GpuSharing {
 public:
  /// After a pass whose options are those of the jobs. Whole GPUs of jobs that asked for shares become shares. Then jobs that wait, in
  /// the order of the pass, are placed with others. They displace none, and use no node with an end.
  ///
  /// A job joins a GPU that some job has a share of and that has room, where every table says what the jobs there cost each other,
  /// each keeps at least `least_ppm` of its rate, and none that would meet its deadline misses it at the new rates. Of such GPUs it
  /// takes those where the smallest fraction that is kept is the largest; ties: lowest node, lowest GPU.
  /// @param problem  of the pass, with widened demands
  /// @param lost     [jobs of the state] 1: runs on failed GPUs and was not repaired
  void settle(const StateImpl& state, const kernel::ProblemView& problem, const TriedOptions& tried, std::span<const std::uint8_t> lost,
              std::int64_t least_ppm, const kernel::PlaceRequest& request, const kernel::PlaceResult& result);

 private:
  /// A GPU that the job may join.
  struct Offer {
    std::int64_t kept_ppm;  // the least fraction that a job there keeps
    std::int32_t node, gpu;
  };
  void split(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request, const kernel::PlaceResult& r,
             std::int32_t i);
  void look(const StateImpl& s, const kernel::ProblemView& p, std::span<const std::uint8_t> lost, const kernel::PlaceRequest& request,
            const kernel::PlaceResult& r);
  bool join(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::int32_t option, std::int64_t least_ppm,
            const kernel::PlaceResult& r, std::int32_t i);
  std::int64_t offer(const StateImpl& s, std::int64_t gpu, std::int32_t guest, TimeUs left, std::int64_t least_ppm, bool& too_late);
  bool would_miss(const StateImpl& s, std::int32_t job, TimeUs left, std::int64_t now_ppm, std::int64_t then_ppm) const;

  GpuSharers sharers_;
  FinalState after_;
  std::vector<std::uint8_t> stays_;  // [jobs of the state] 1: runs, and has its GPUs after the pass
  std::vector<std::int64_t> kept_;   // [jobs of the state] that have shares after the pass: what they keep, ppm
  std::vector<TimeUs> left_;         // the same: run time left alone
  std::vector<Offer> offers_, taken_;
  std::vector<std::int64_t> gpus_;              // that may be joined, ascending
  std::vector<std::int32_t> on_node_;           // [nodes] members of one gang
  std::unordered_set<std::uint64_t> hopeless_;  // (kind, demand) of jobs that found no GPU: later ones find none either
  std::vector<PlanEntry> entries_;
};

}  // namespace berth::core
