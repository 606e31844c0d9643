#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <vector>

#include "bench/defaults.hpp"
#include "bench/price/answer.hpp"
#include "bench/price/instances.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"

/// Options by prices on one core: a separable problem from scratch, and again after one job has changed.
namespace berth::bench {
namespace {

/// Lowers the values of its first job by a tenth, or restores them.
void change_one_job(PriceInstance& instance, const std::vector<std::int64_t>& at_first, bool back) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(instance.option_begin[1]); ++k) {
    instance.value[k] = back ? at_first[k] : at_first[k] * 9 / 10;
  }
}

void price(benchmark::State& bench) {
  const std::int64_t gpus = bench.range(0), jobs = bench.range(1);
  const auto types = static_cast<std::int32_t>(bench.range(2)), models = static_cast<std::int32_t>(bench.range(3));
  PriceInstance instance = price_instance(gpus, jobs, types, models, kSeed);
  const std::vector<std::int64_t> at_first = instance.value;
  bench.SetLabel(fmt::format("instance {:016x}", instance.hash()));
  const std::unique_ptr<core::PlacementBackend> cpu = core::make_cpu_backend(1);
  constexpr std::int64_t kGap = 100;  // millionths
  const ChoiceAnswer cold = choose(*cpu, instance.view(), {}, kGap);
  if (jobs <= 1'000) require(choose(*core::make_reference_backend(), instance.view(), {}, kGap) == cold, "the reference chooses otherwise");
  std::vector<double> again;
  bool back = false;
  ChoiceAnswer warm = cold;
  for (auto _ : bench) {
    Lap lap;
    benchmark::DoNotOptimize(choose(*cpu, instance.view(), {}, kGap));
    bench.SetIterationTime(lap.seconds());
    const std::vector<std::int64_t> earlier = warm.price;
    change_one_job(instance, at_first, back);
    back = !back;
    Lap next;
    warm = choose(*cpu, instance.view(), earlier, kGap);
    again.push_back(next.seconds());
  }
  std::nth_element(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(again.size() / 2), again.end());
  const auto gap = [](const ChoiceAnswer& a) { return 100 * (1 - static_cast<double>(a.value) / static_cast<double>(a.bound)); };
  bench.counters["gap_percent"] = gap(cold);
  bench.counters["evaluations"] = cold.evaluations;
  bench.counters["options"] = static_cast<double>(instance.value.size());
  bench.counters["again_ms"] = 1e3 * again[again.size() / 2];
  bench.counters["again_gap_percent"] = gap(warm);
}
BENCHMARK(price)
    ->ArgNames({"gpus", "jobs", "types", "models"})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Apply([](benchmark::internal::Benchmark* b) {
      for (const PriceSize& size : price_sizes()) {
        for (const std::int64_t types : {1, 3}) {
          for (const std::int64_t models : {0, 10}) b->Args({size.gpus, size.jobs, types, models});
        }
      }
    });

}  // namespace
}  // namespace berth::bench
