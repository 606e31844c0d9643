#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/contend/fabric.hpp"
#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"
#include "bench/support/latency.hpp"
#include "berth/kernel/contend/loads.hpp"

/// `contend`: loads of links after each of many candidates is placed, one job that comes or goes, and the jobs that each
/// candidate contends with most, over the jobs of each link and over all pairs.
namespace berth::bench {
namespace {

constexpr std::int32_t kTop = 8;

/// Columns of the result that a case asks for.
struct Answer {
  explicit Answer(const Fabric& fabric) {
    const auto n = static_cast<std::size_t>(fabric.candidates.n());
    for (auto* column : {&load_sum, &load_max, &overload}) column->resize(n);
    failed.resize(n);
    for (auto* column : {&top_value, &top_job}) column->resize(n * kTop);
  }
  kernel::ContendResult loads() {
    kernel::ContendResult r{};
    r.load_sum = load_sum.data();
    r.load_max = load_max.data();
    r.overload = overload.data();
    r.failed = failed.data();
    return r;
  }
  kernel::ContendResult tops() {
    kernel::ContendResult r{};
    r.top_value = top_value.data();
    r.top_job = top_job.data();
    return r;
  }

  std::vector<std::int64_t> load_sum, load_max, overload;
  std::vector<std::int32_t> failed, top_value, top_job;
};

/// The first candidates' answers are the reference's.
void check(const Fabric& fabric, kernel::ContendRequest request, const Answer& got, bool tops) {
  request.n = std::min(request.n, 16);
  Answer want(fabric);
  core::make_reference_backend()->contend(fabric.view(), request, tops ? want.tops() : want.loads());
  const auto n = static_cast<std::ptrdiff_t>(request.n);
  const auto same = [](const auto& a, const auto& b, std::ptrdiff_t rows) { return std::equal(a.begin(), a.begin() + rows, b.begin()); };
  const bool equal = tops ? same(want.top_value, got.top_value, n * kTop) && same(want.top_job, got.top_job, n * kTop)
                          : same(want.load_sum, got.load_sum, n) && same(want.load_max, got.load_max, n) &&
                                same(want.overload, got.overload, n) && same(want.failed, got.failed, n);
  require(equal, "an answer is not the reference's");
}

void run(benchmark::State& bench, core::PlacementBackend& backend, const Fabric& fabric, kernel::ContendMethod method, bool tops) {
  Answer answer(fabric);
  const kernel::ContendRequest request = fabric.request(kTop, method);
  const kernel::ContendResult result = tops ? answer.tops() : answer.loads();
  for (auto _ : bench) {
    Lap lap;
    backend.contend(fabric.view(), request, result);
    bench.SetIterationTime(lap.seconds());
  }
  check(fabric, request, answer, tops);
  bench.SetItemsProcessed(bench.iterations() * request.n);
}

/// One job placed, and removed again.
void change(benchmark::State& bench) {
  const Fabric& fabric = spine_fabric();
  std::vector<std::int64_t> load = fabric.load;
  const Rows& rows = fabric.jobs;
  std::size_t job = 0;
  for (auto _ : bench) {
    const std::int32_t first = rows.begin[job], n = rows.begin[job + 1] - first;
    kernel::remove_row(load.data(), rows.link.data() + first, rows.use.data() + first, n);
    kernel::add_row(load.data(), rows.link.data() + first, rows.use.data() + first, n);
    benchmark::DoNotOptimize(load.data());
    benchmark::ClobberMemory();
    job = (job + 7'919) % static_cast<std::size_t>(rows.n());
  }
  require(load == fabric.load, "loads changed");
}

void crossing(benchmark::State& bench) {
  const Fabric fabric(kernel::kMostDenseLinks, static_cast<std::int32_t>(full_or_smoke(2'000, 64)),
                      static_cast<std::int32_t>(bench.range(0)), static_cast<std::int32_t>(bench.range(0)));
  const auto method = bench.range(1) != 0 ? kernel::ContendMethod::kDense : kernel::ContendMethod::kSparse;
  run(bench, *core::make_cpu_backend(1), fabric, method, true);
}

[[maybe_unused]] const bool registered = [] {
  benchmark::RegisterBenchmark("contend/one_job", change)->Unit(benchmark::kMicrosecond);
  const std::vector<std::int64_t> jobs = {contend_jobs()};
  register_batches("contend/loads", "jobs", jobs, [](benchmark::State& bench, core::PlacementBackend& backend) {
    run(bench, backend, spine_fabric(), kernel::ContendMethod::kAuto, false);
  });
  register_batches("contend/sparse/4096", "jobs", jobs, [](benchmark::State& bench, core::PlacementBackend& backend) {
    run(bench, backend, spine_fabric(), kernel::ContendMethod::kSparse, true);
  });
  register_batches("contend/sparse/512", "jobs", jobs, [](benchmark::State& bench, core::PlacementBackend& backend) {
    run(bench, backend, rack_fabric(), kernel::ContendMethod::kSparse, true);
  });
  register_batches("contend/dense/512", "jobs", jobs, [](benchmark::State& bench, core::PlacementBackend& backend) {
    run(bench, backend, rack_fabric(), kernel::ContendMethod::kDense, true);
  });
  auto* const both = benchmark::RegisterBenchmark("contend/crossing", crossing);
  both->ArgNames({"links", "dense"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t links : contend_row_links()) both->Args({links, 0})->Args({links, 1});
  return true;
}();

}  // namespace
}  // namespace berth::bench
