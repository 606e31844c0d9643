#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/core/backend/devices.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/batch/replay_batch.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"

namespace berth::cli {
namespace {

constexpr int kReplayRepetitions = 3;
constexpr std::int64_t kNodeGpus = 8;

Trace drawn_trace(const ReplaysSize& size, std::uint64_t seed) {
  sim::SyntheticOptions options;
  options.jobs = size.jobs;
  options.gpus = size.nodes * kNodeGpus;
  options.load_ppm = 950'000;
  options.seed = seed;
  sim::SyntheticJobs source(options);
  Trace trace;
  trace.name = "helios";
  while (const TraceJob* const job = source.next()) {
    trace.jobs.push_back(*job);
    source.release(*job);
  }
  return trace;
}

// Each replay has thresholds or estimates of its own.
std::vector<sim::ReplaySpec> specs_of(const ReplaysSize& size, const Snapshot& cluster) {
  std::vector<sim::ReplaySpec> specs;
  for (std::int32_t i = 0; i < size.replays; ++i) {
    sim::ReplaySpec& spec = specs.emplace_back();
    spec.policy = size.policy;
    spec.params = {{"packing", "count"}, {"discipline", "greedy"}};
    if (spec.policy == "las") spec.params.emplace_back("thresholds_gpu_s", fmt::format("{},36000", 600 + 60 * i));
    if (spec.policy == "srtf" && i > 0) spec.estimates = fmt::format("noise:{}", 1 + i % 100);
    spec.seed = static_cast<std::uint64_t>(i);
    spec.cluster = &cluster;
  }
  return specs;
}

bool alike(const std::vector<sim::ReplayOutcome>& a, const std::vector<sim::ReplayOutcome>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const sim::ReplayOutcome& x, const sim::ReplayOutcome& y) {
    return x.jct_us == y.jct_us && x.wait_us == y.wait_us && x.completed == y.completed && x.preemptions == y.preemptions;
  });
}

double mean_jct_s(const std::vector<sim::ReplayOutcome>& outcomes) {
  double sum = 0, jobs = 0;
  for (const sim::ReplayOutcome& one : outcomes) {
    sum += static_cast<double>(one.jct_us) / kSecond;
    jobs += static_cast<double>(one.completed);
  }
  return jobs > 0 ? sum / jobs : 0;
}

}  // namespace

std::vector<ReplaysSize> replays_sizes(bool quick) {
  std::vector<ReplaysSize> sizes;
  for (const char* policy : {"las", "srtf"}) sizes.push_back({policy, quick ? 4 : 64, quick ? 200 : 5'000, quick ? 4 : 32, {}});
  return sizes;
}

void measure_replays(const BenchOrder& order, ReplaysSize& size) {
  const Trace trace = drawn_trace(size, order.seed);
  const Snapshot cluster = io::uniform_cluster(size.nodes, kNodeGpus);
  const std::vector<sim::ReplaySpec> specs = specs_of(size, cluster);
  std::vector<sim::ReplayOutcome> known, outcomes;
  for (const BenchSide& side : order.sides) {
    ReplaysRun run;
    run.side = side.name;
    try {
      const std::unique_ptr<core::PlacementBackend> backend = backend_of(side);
      for (int repetition = 0; repetition <= kReplayRepetitions; ++repetition) {
        if (!order.go_on()) return;
        const auto begin = std::chrono::steady_clock::now();
        outcomes = sim::replay_batch(trace, sim::named_overheads("none"), specs, *backend, false);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (repetition > 0) run.seconds.push_back(seconds);  // the first run warms the memory
      }
    } catch (const core::DeviceError& error) {
      order.left_out(fmt::format("{} is left out of replays of {}: {}", side.name, size.policy, error.what()));
      continue;
    }
    if (!known.empty() && !alike(known, outcomes)) throw InternalError("a replay of " + side.name + " differs from those of the others");
    std::vector<double> sorted = run.seconds;
    std::sort(sorted.begin(), sorted.end());
    run.median_s = sorted[sorted.size() / 2];
    run.mean_jct_s = mean_jct_s(outcomes);
    std::swap(known, outcomes);
    size.runs.push_back(std::move(run));
  }
}

}  // namespace berth::cli
