#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/core/backend/devices.hpp"
#include "host/sim/generate/generate.hpp"
#include "host/sim/generate/turnover.hpp"

namespace berth::cli {
namespace {

constexpr double kMostSeconds = 10;  // a GPU may take long for one pass
constexpr std::size_t kLeastDecisions = 10;

Snapshot used_cluster(const DecisionsSize& size, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = size.nodes;
  o.jobs = size.jobs;
  o.fabric = sim::Fabric::kTree;
  o.gpu_types = {{"V100-32GB", 3}, {"A100-80GB", 1}};
  o.seed = seed;
  return sim::generate(o);
}

/// Works like a scheduler: time advances, jobs end, jobs arrive, the engine decides, the plan is applied.
class DecisionStream {
 public:
  DecisionStream(const DecisionsSize& size, const BenchSide& side, std::uint64_t seed)
      : snapshot_(used_cluster(size, seed)), state_(snapshot_), turnover_(snapshot_, seed) {
    request_.policy = size.policy;
    request_.backend = side.backend;
    request_.device = side.device;
    request_.threads = side.threads;
  }

  /// After the last step.
  std::int64_t gpus_used() const { return plan_.totals.gpus_used; }
  /// From the changes to the validated plan. @throws core::DeviceError when the GPU failed and the CPU took over
  double step() {
    const std::vector<Delta> deltas = turnover_.next(state_);
    const auto begin = std::chrono::steady_clock::now();
    state_.apply(deltas);
    engine_.decide(state_, memory_, request_, plan_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!plan_.backend_note.empty()) throw core::DeviceError(plan_.backend_note);
    commit(state_, plan_);
    return seconds;
  }

 private:
  Snapshot snapshot_;
  ClusterState state_;
  Engine engine_;
  Request request_;
  PolicyState memory_;
  Plan plan_;
  sim::Turnover turnover_;
};

// The lowest value that `per_mille` thousandths do not exceed.
double percentile(const std::vector<double>& sorted, std::size_t per_mille) {
  const std::size_t rank = (sorted.size() * per_mille + 999) / 1000;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

std::vector<DecisionsSize> decisions_sizes(bool quick) {
  std::vector<DecisionsSize> sizes;
  for (const char* policy : {"fifo", "las"}) sizes.push_back({policy, quick ? 16 : 1'000, quick ? 64 : 4'000, quick ? 10 : 200, {}});
  return sizes;
}

void measure_decisions(const BenchOrder& order, DecisionsSize& size) {
  for (const BenchSide& side : order.sides) {
    // One scheduling pass runs on one thread, however many there are.
    if (side.backend == Backend::kCpu && side.threads > 1) continue;
    std::vector<double> seconds;
    double sum = 0;
    std::int64_t gpus_used = 0;
    try {
      DecisionStream stream(size, side, order.seed);
      (void)stream.step();
      while (static_cast<std::int32_t>(seconds.size()) < size.decisions && (sum < kMostSeconds || seconds.size() < kLeastDecisions)) {
        if (!order.go_on()) return;
        seconds.push_back(stream.step());
        sum += seconds.back();
        if (seconds.size() == kLeastDecisions) gpus_used = stream.gpus_used();
      }
    } catch (const core::DeviceError& error) {
      order.left_out(fmt::format("{} is left out of decisions of {}: {}", side.name, size.policy, error.what()));
      continue;
    }
    std::sort(seconds.begin(), seconds.end());
    size.runs.push_back(
        {side.name, static_cast<std::int32_t>(seconds.size()), percentile(seconds, 500), percentile(seconds, 990), sum, gpus_used});
  }
}

}  // namespace berth::cli
