#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/bench_runs.hpp"
#include "host/core/backends.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/walk_input.hpp"
#include "host/core/walk_problem.hpp"
#include "host/core/walk_result.hpp"
#include "host/sim/generate.hpp"

namespace berth::cli {
namespace {

constexpr int kWalkTurns = 5;
constexpr std::size_t kOracleWalks = 2;  // also asked of the reference
constexpr unsigned kLostInHundred = 1;   // nodes of a scenario that are not there

// Nothing runs, so that every walk places jobs over the whole cluster.
ClusterState idle_cluster(const WalksSize& size, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = size.nodes;
  o.jobs = size.jobs;
  o.fabric = sim::Fabric::kTree;
  o.gpu_types = {{"V100-32GB", 3}, {"A100-80GB", 1}};
  o.seed = seed;
  Snapshot snapshot = sim::generate(o);
  for (Job& job : snapshot.jobs) {
    job.state = JobState::kWaiting;
    job.allocation = {};
    job.lease_end_us = kNever;
  }
  return ClusterState(std::move(snapshot));
}

/// Scenarios over one problem: each has the jobs in an order of its own and has lost some nodes.
class Walks {
 public:
  Walks(const WalksSize& size, std::uint64_t seed) : state_(idle_cluster(size, seed)) {
    const StateImpl& s = state_.impl();
    chosen_.choose("fifo", {{"discipline", "skip"}});
    problem_.build(s, chosen_.rules);
    const core::WalkInput::Marks marks{problem_.lost(), problem_.mended(), builder_.decline(s, problem(), certificates_)};
    std::vector<std::int32_t> order;
    for (const std::int32_t slot : s.job_order) {
      if (marks.declined[static_cast<std::size_t>(slot)] == 0) order.push_back(slot);
    }
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::size_t>(size.scenarios);
    taken_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      for (std::int32_t node = 0; node < problem().n_nodes; ++node) {
        if (random() % 100 < kLostInHundred) taken_[i].push_back({node, ~std::uint64_t{0}});
      }
      core::WalkInput& input = inputs_.emplace_back();
      input.order(order);
      scenarios_.push_back({input.request(s, *chosen_.entry, chosen_.rules, marks, 0), taken_[i], nullptr});
    }
  }

  const kernel::ProblemView& problem() const { return problem_.view(); }

  /// Of the first n scenarios.
  void run(core::PlacementBackend& backend, std::size_t n, std::vector<core::WalkResult>& answers) const {
    answers.resize(n);
    std::vector<kernel::PlaceResult> results;
    const std::int32_t bound = core::entry_bound(problem());
    for (std::size_t i = 0; i < n; ++i) results.push_back(answers[i].prepare(scenarios_[i].request.n, bound));
    backend.place_batch(problem(), std::span(scenarios_).first(n), results);
  }
  std::size_t size() const { return scenarios_.size(); }

 private:
  ClusterState state_;
  core::ChosenPolicy chosen_;
  core::WalkProblem problem_;
  core::PlanBuilder builder_;
  core::CertificateMemory certificates_;
  std::vector<std::vector<kernel::TakenRow>> taken_;
  std::deque<core::WalkInput> inputs_;  // their columns are pointed to
  std::vector<core::Scenario> scenarios_;
};

bool alike(const core::WalkResult& a, const core::WalkResult& b) {
  const auto same = [](const kernel::PlacedRow& x, const kernel::PlacedRow& y) {
    return x.node == y.node && x.group == y.group && x.member == y.member && x.members == y.members && x.mask == y.mask &&
           x.share_ppm == y.share_ppm;
  };
  return a.outcome == b.outcome && a.option == b.option && a.entry_begin == b.entry_begin && a.entry_end == b.entry_end &&
         a.n_entries == b.n_entries &&
         std::equal(a.entries.begin(), a.entries.begin() + a.n_entries, b.entries.begin(), b.entries.begin() + b.n_entries, same);
}

void require_alike(const std::vector<core::WalkResult>& a, const std::vector<core::WalkResult>& b, const std::string& side) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!alike(a[i], b[i])) throw InternalError("a walk of " + side + " is not that of the others");
  }
}

std::unique_ptr<core::PlacementBackend> backend_of(const BenchSide& side) {
  if (side.backend != Backend::kCuda) return core::make_cpu_backend(side.threads);
  std::string why;
  std::unique_ptr<core::PlacementBackend> backend = core::make_cuda_backend(why);
  if (backend == nullptr) throw core::DeviceError(why);
  return backend;
}

/// @returns false: interrupted
bool time_walks(const BenchOrder& order, const BenchSide& side, const Walks& walks, std::vector<core::WalkResult>& answers, WalksRun& run) {
  const std::unique_ptr<core::PlacementBackend> backend = backend_of(side);
  for (int turn = 0; turn <= kWalkTurns; ++turn) {
    if (!order.go_on()) return false;
    const auto begin = std::chrono::steady_clock::now();
    walks.run(*backend, walks.size(), answers);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (turn > 0) run.seconds.push_back(seconds);  // the first one warms the memory
  }
  std::vector<double> sorted = run.seconds;
  std::sort(sorted.begin(), sorted.end());
  run.median_s = sorted[sorted.size() / 2];
  return true;
}

}  // namespace

std::vector<WalksSize> walks_sizes(bool quick) {
  if (quick) return {{8, 40, 16, {}}};
  return {{64, 100, 100, {}}, {256, 1'000, 1'000, {}}};
}

void measure_walks(const BenchOrder& order, WalksSize& size) {
  const Walks walks(size, order.seed);
  std::vector<core::WalkResult> known, answers;
  walks.run(*core::make_reference_backend(), std::min(kOracleWalks, walks.size()), known);
  for (const BenchSide& side : order.sides) {
    WalksRun run;
    run.side = side.name;
    try {
      if (!time_walks(order, side, walks, answers, run)) return;
    } catch (const core::DeviceError& error) {
      order.left_out(fmt::format("{} is left out of {} scenarios: {}", side.name, size.scenarios, error.what()));
      continue;
    }
    require_alike(known, answers, side.name);
    std::swap(known, answers);
    size.runs.push_back(std::move(run));
  }
}

}  // namespace berth::cli
