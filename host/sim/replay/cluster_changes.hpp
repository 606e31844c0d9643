#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/delta.hpp"
#include "berth/events.hpp"
#include "berth/state.hpp"
#include "host/sim/base/failure_rates.hpp"

namespace berth::sim {

/// Changes of the nodes and GPUs of a simulated cluster: listed events, random failures, and GPUs that are being released.
///
/// Several failures of a node may overlap; it recovers when all of them are over.
/// Each node has its own process of random failures, with draws by (node, count), so that the policy has no influence on them.
class ClusterChanges {
 public:
  /// GPUs that were lost: all GPUs of a node, or one.
  struct Struck {
    std::int32_t node, gpu;  ///< gpu -1: all GPUs
    TimeUs notice_us;        ///< for how long it was known
  };
  /// Changes at one instant.
  struct Happened {
    std::vector<Delta> deltas;
    std::vector<Struck> struck;
    std::vector<std::string> killed;  ///< ids of jobs
  };

  /// @throws InvalidArgument for an event that names an unknown node or GPU.
  ClusterChanges(const ClusterState& state, const ClusterEvents& listed, const FailureRates& rates, std::uint64_t seed);

  /// Whether nothing can ever happen.
  bool none() const { return events_.empty() && random_.empty(); }
  /// The next change after `now`; kNever: none.
  /// @param failing  Whether nodes and GPUs keep failing. Without running or coming jobs only repairs happen.
  ///                 What was due meanwhile is drawn again, because exponential times are memoryless.
  TimeUs next(TimeUs now, bool failing);
  /// Appends the changes up to `now`.
  void take(TimeUs now, bool failing, Happened& out);
  /// GPUs that are up: their node is available at `now`, and neither it nor the GPU has failed.
  std::int64_t gpus_up(const ClusterState& state, TimeUs now) const;

 private:
  enum class Kind : std::uint8_t { kBegin, kGone, kEnd };
  struct Event {
    TimeUs at;
    std::int64_t order;
    Kind kind;
    ClusterEvent::What what;
    std::int32_t node, gpu;
    TimeUs until, notice;
    std::string job;
    bool operator>(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };
  /// The next failure of a node or of one of its GPUs.
  struct Random {
    TimeUs at;
    std::int32_t node;
    bool whole;
    bool operator>(const Random& other) const { return std::tie(at, node, whole) > std::tie(other.at, other.node, other.whole); }
  };
  struct NodeNow {
    NodeState usual = NodeState::kReady;
    TimeUs available_from = 0, available_until = kNever;
    std::int32_t failed = 0, draining = 0, gpus = 0, gpus_failed = 0;
    std::uint32_t failures = 0;  // number drawn so far
  };

  void add(Event event);
  void begin(const Event& event, TimeUs now, Happened& out);
  void strike(std::int32_t node, std::int32_t gpu, TimeUs notice, Happened& out);
  void repair(std::int32_t node, std::int32_t gpu, Happened& out);
  void report(std::int32_t node, Happened& out) const;
  void draw(std::int32_t node, bool whole, TimeUs now);
  void fail(const Random& failure, TimeUs now, Happened& out);

  const FailureRates rates_;
  const std::uint64_t seed_;
  std::vector<NodeNow> nodes_;
  std::vector<std::string> ids_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> gpu_failed_;  // (node, GPU): number of overlapping failures
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::priority_queue<Random, std::vector<Random>, std::greater<>> random_;
  std::int64_t order_ = 0;
};

}  // namespace berth::sim
