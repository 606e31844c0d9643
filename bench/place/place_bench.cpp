#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/passes.hpp"
#include "berth/state.hpp"
#include "host/backend/backend.hpp"
#include "host/core/state/state_impl.hpp"

/// place_batch: many passes over one problem. Each scenario has its own order of jobs and loses one node in a hundred.
/// A GPU is slower at one scenario and pays off at thousands.
namespace berth::bench {
namespace {

constexpr std::size_t kChecked = 4;  // scenarios also run on the reference

struct Prepared {
  std::int64_t count = 0;
  std::unique_ptr<ClusterState> state;
  std::unique_ptr<PassColumns> columns;
  std::vector<std::vector<std::int32_t>> orders;
  std::vector<std::vector<kernel::TakenRow>> taken;
  std::vector<core::PlaceTask> scenarios;
  std::vector<OwnedPlaceResult> outputs;
  std::vector<kernel::PlaceResult> results;
};

/// Nothing runs, so that every pass places jobs over the whole cluster.
std::unique_ptr<ClusterState> idle_cluster() {
  Snapshot snapshot = busy_cluster(scenario_size(), scenario_size());
  for (Job& job : snapshot.jobs) {
    job.state = JobState::kWaiting;
    job.allocation = {};
    job.lease_end_us = kNever;
  }
  return std::make_unique<ClusterState>(std::move(snapshot));
}

Prepared& prepared(std::int64_t count) {
  static Prepared p;
  if (p.count == count) return p;
  p = {};
  p.state = idle_cluster();
  p.columns = std::make_unique<PassColumns>(*p.state);
  const kernel::ProblemView& problem = p.state->impl().problem();
  const std::int32_t bound = core::entry_bound(problem);
  std::mt19937_64 random(kSeed);
  const auto n = static_cast<std::size_t>(count);
  p.orders.assign(n, p.columns->waiting);
  p.taken.resize(n);
  p.outputs.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::shuffle(p.orders[i].begin(), p.orders[i].end(), random);
    for (std::int32_t node = 0; node < problem.n_nodes; ++node) {
      if (random() % 100 == 0) p.taken[i].push_back({node, ~std::uint64_t{0}});
    }
    p.scenarios.push_back({p.columns->request(p.state->now(), p.orders[i]), p.taken[i], nullptr});
    p.outputs.emplace_back(p.orders[i].size(), bound);
  }
  for (OwnedPlaceResult& output : p.outputs) p.results.push_back(output.view());
  p.count = count;
  return p;
}

void check(Prepared& p) {
  const kernel::ProblemView& problem = p.state->impl().problem();
  const std::size_t n = std::min(kChecked, p.scenarios.size());
  const auto reference = core::make_reference_backend();
  for (std::size_t i = 0; i < n; ++i) {
    OwnedPlaceResult want(p.orders[i].size(), core::entry_bound(problem));
    reference->place(problem, p.scenarios[i], want.view());
    require(want.n_entries > 0 && same_pass(want, p.outputs[i]), "a scheduling pass differs from the reference's");
  }
}

void run(benchmark::State& bench, core::PlacementBackend& backend) {
  Prepared& p = prepared(bench.range(0));
  const kernel::ProblemView& problem = p.state->impl().problem();
  backend.place_batch(problem, p.scenarios, p.results);
  check(p);
  for (auto _ : bench) backend.place_batch(problem, p.scenarios, p.results);
  bench.SetItemsProcessed(bench.iterations() * p.count);  // scenarios
  bench.counters["jobs"] = static_cast<double>(scenario_size());
  bench.counters["nodes"] = static_cast<double>(scenario_size());
}

[[maybe_unused]] const bool registered = [] {
  register_batches("place", "scenarios", scenario_counts(), run);
  return true;
}();

}  // namespace
}  // namespace berth::bench
