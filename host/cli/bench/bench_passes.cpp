#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::cli {
namespace {

constexpr int kPassRepetitions = 5;
constexpr std::size_t kOraclePasses = 2;  // also computed by the reference
constexpr unsigned kLostInHundred = 1;    // percentage of nodes that a scenario lacks

// Nothing runs, so that every pass places jobs over the whole cluster.
ClusterState idle_cluster(const PassesSize& size, std::uint64_t seed) {
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

/// Scenarios over one problem: each has its own order of jobs and lacks some nodes.
class Passes {
 public:
  Passes(const PassesSize& size, std::uint64_t seed) : state_(idle_cluster(size, seed)) {
    const StateView s = state_;
    chosen_.choose("fifo", {{"discipline", "greedy"}});
    problem_.build(s, chosen_.rules);
    const core::PassInput::Marks marks{problem_.lost(), problem_.failures(), builder_.reject(s, problem(), certificates_)};
    std::vector<std::int32_t> order;
    for (const std::int32_t job : s.job_order()) {
      if (marks.rejected[static_cast<std::size_t>(job)] == 0) order.push_back(job);
    }
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::size_t>(size.scenarios);
    taken_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      for (std::int32_t node = 0; node < problem().n_nodes; ++node) {
        if (random() % 100 < kLostInHundred) taken_[i].push_back({node, ~std::uint64_t{0}});
      }
      core::PassInput& input = inputs_.emplace_back();
      input.order(order);
      scenarios_.push_back({input.request(s, *chosen_.entry, chosen_.rules, marks, 0), taken_[i], nullptr});
    }
  }

  const kernel::ProblemView& problem() const { return problem_.view(); }

  /// Of the first n scenarios.
  void run(core::PlacementBackend& backend, std::size_t n, std::vector<core::PassResult>& answers) const {
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
  core::PassProblem problem_;
  core::PlanBuilder builder_;
  core::CertificateMemory certificates_;
  std::vector<std::vector<kernel::TakenRow>> taken_;
  std::deque<core::PassInput> inputs_;  // a deque, because their columns are pointed to
  std::vector<core::PlaceTask> scenarios_;
};

bool alike(const core::PassResult& a, const core::PassResult& b) {
  const auto same = [](const kernel::PlacedRow& x, const kernel::PlacedRow& y) {
    return x.node == y.node && x.group == y.group && x.member == y.member && x.members == y.members && x.mask == y.mask &&
           x.share_ppm == y.share_ppm;
  };
  return a.outcome == b.outcome && a.option == b.option && a.entry_begin == b.entry_begin && a.entry_end == b.entry_end &&
         a.n_entries == b.n_entries &&
         std::equal(a.entries.data(), a.entries.data() + a.n_entries, b.entries.data(), b.entries.data() + b.n_entries, same);
}

void require_alike(const std::vector<core::PassResult>& a, const std::vector<core::PassResult>& b, const std::string& side) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!alike(a[i], b[i])) throw InternalError("a scheduling pass of " + side + " differs from those of the others");
  }
}

std::int64_t placed(const std::vector<core::PassResult>& answers) {
  std::int64_t jobs = 0;
  for (const core::PassResult& one : answers) {
    jobs += std::count_if(one.option.begin(), one.option.end(), [](std::int32_t option) { return option >= 0; });
  }
  return jobs;
}

/// @returns false: interrupted
bool time_passes(const BenchOrder& order, const BenchSide& side, const Passes& passes, std::vector<core::PassResult>& answers,
                 PassesRun& run) {
  const std::unique_ptr<core::PlacementBackend> backend = backend_of(side);
  for (int repetition = 0; repetition <= kPassRepetitions; ++repetition) {
    if (!order.go_on()) return false;
    const auto begin = std::chrono::steady_clock::now();
    passes.run(*backend, passes.size(), answers);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (repetition > 0) run.seconds.push_back(seconds);  // the first run warms the memory
  }
  std::vector<double> sorted = run.seconds;
  std::sort(sorted.begin(), sorted.end());
  run.median_s = sorted[sorted.size() / 2];
  return true;
}

}  // namespace

std::unique_ptr<core::PlacementBackend> backend_of(const BenchSide& side) {
  if (side.backend != Backend::kCuda) return core::make_cpu_backend(side.threads);
  std::string why;
  std::unique_ptr<core::PlacementBackend> backend = core::make_cuda_backend(why, nullptr, side.device);
  if (backend == nullptr) throw core::DeviceError(why);
  return backend;
}

std::vector<PassesSize> passes_sizes(bool quick) {
  if (quick) return {{8, 40, 16, {}}};
  return {{64, 100, 100, {}}, {256, 1'000, 1'000, {}}};
}

void measure_passes(const BenchOrder& order, PassesSize& size) {
  const Passes passes(size, order.seed);
  std::vector<core::PassResult> known, answers;
  passes.run(*core::make_reference_backend(), std::min(kOraclePasses, passes.size()), known);
  for (const BenchSide& side : order.sides) {
    PassesRun run;
    run.side = side.name;
    try {
      if (!time_passes(order, side, passes, answers, run)) return;
    } catch (const core::DeviceError& error) {
      order.left_out(fmt::format("{} is left out of {} scenarios: {}", side.name, size.scenarios, error.what()));
      continue;
    }
    require_alike(known, answers, side.name);
    run.placed = placed(answers);
    std::swap(known, answers);
    size.runs.push_back(std::move(run));
  }
}

}  // namespace berth::cli
