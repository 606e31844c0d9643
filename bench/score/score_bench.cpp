#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/passes.hpp"
#include "berth/state.hpp"
#include "host/backend/backend.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/cpu/score.hpp"

/// `score`: the best nodes of every waiting job, as many jobs as nodes. With collapsing, equal nodes and equal
/// requests are scored once; without, every pair is scored. Both give the same result; `cuda` collapses.
namespace berth::bench {
namespace {

struct Prepared {
  std::int64_t size = 0;
  std::unique_ptr<ClusterState> state;
  std::unique_ptr<PassColumns> columns;
  std::vector<kernel::CandidateRow> out;

  kernel::ScoreQuery request(std::size_t n) const {
    kernel::ScoreQuery r{};
    r.n = static_cast<std::int32_t>(n);
    r.jobs = columns->waiting.data();
    r.option_run = columns->option_run.data();
    r.topology = 0;
    r.level = 0;
    r.leftover_weight = 1'000;
    r.k = kScoreBest;
    r.now = state->now();
    return r;
  }
};

Prepared& prepared(std::int64_t size) {
  static Prepared p;
  if (p.size == size) return p;
  p = {};
  p.state = std::make_unique<ClusterState>(busy_cluster(size, 2 * size));
  p.columns = std::make_unique<PassColumns>(*p.state);
  require(p.columns->waiting.size() >= static_cast<std::size_t>(size), "too few jobs wait");
  p.columns->waiting.resize(static_cast<std::size_t>(size));
  p.out.resize(static_cast<std::size_t>(size * kScoreBest));
  p.size = size;
  return p;
}

/// The first jobs' candidates equal those of the reference, which reads every node for each job.
void check(const Prepared& p) {
  const std::size_t n = std::min<std::size_t>(p.columns->waiting.size(), 32);
  std::vector<kernel::CandidateRow> want(n * kScoreBest);
  core::make_reference_backend()->score(p.state->impl().problem(), p.request(n), want.data());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const kernel::CandidateRow& a = want[i];
    const kernel::CandidateRow& b = p.out[i];
    require(a.score == b.score && a.option == b.option && a.where == b.where && a.leftover == b.leftover && a.gpu_time_ms == b.gpu_time_ms,
            "a candidate is not the reference's");
  }
}

void report(benchmark::State& bench, std::int64_t size) {
  bench.SetItemsProcessed(bench.iterations() * size);  // decisions
  bench.counters["pairs_per_second"] = {static_cast<double>(bench.iterations() * size * size), benchmark::Counter::kIsRate};
}

void score_cpu(benchmark::State& bench) {
  Prepared& p = prepared(bench.range(0));
  const cpu::Collapse collapse = bench.range(1) != 0 ? cpu::Collapse::kOn : cpu::Collapse::kOff;
  const int threads = static_cast<int>(bench.range(2));
  const kernel::ProblemView& problem = p.state->impl().problem();
  const kernel::ScoreQuery request = p.request(p.columns->waiting.size());
  cpu::ScoreTable table;
  cpu::score(table, problem, request, threads, collapse, p.out.data());
  check(p);
  for (auto _ : bench) cpu::score(table, problem, request, threads, collapse, p.out.data());
  report(bench, p.size);
}

void score_cuda(benchmark::State& bench) {
  std::string why;
  const std::unique_ptr<core::PlacementBackend> backend = core::make_cuda_backend(why);
  if (backend == nullptr) {
    bench.SkipWithError(("not run: " + why).c_str());
    return;
  }
  Prepared& p = prepared(bench.range(0));
  const kernel::ProblemView& problem = p.state->impl().problem();
  const kernel::ScoreQuery request = p.request(p.columns->waiting.size());
  backend->score(problem, request, p.out.data());
  check(p);
  // Includes the transfer of the results; the problem is on the device already.
  for (auto _ : bench) backend->score(problem, request, p.out.data());
  report(bench, p.size);
}

[[maybe_unused]] const bool registered = [] {
  const std::int64_t all = std::max(2U, std::thread::hardware_concurrency());
  for (const std::int64_t size : score_sizes()) {
    auto* cpu = benchmark::RegisterBenchmark("score/backend:cpu", score_cpu);
    cpu->ArgNames({"nodes", "collapse", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
    for (const std::int64_t threads : {std::int64_t{1}, all}) {
      for (const std::int64_t collapse : {1, 0}) cpu->Args({size, collapse, threads});
    }
    benchmark::RegisterBenchmark("score/backend:cuda", score_cuda)
        ->ArgNames({"nodes"})
        ->Arg(size)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
