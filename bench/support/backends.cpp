#include "bench/support/backends.hpp"

#include <algorithm>
#include <memory>
#include <thread>

namespace berth::bench {

void register_batches(const std::string& name, const std::string& axis, const std::vector<std::int64_t>& counts, const BatchBench& run) {
  const std::int64_t all = std::max(2U, std::thread::hardware_concurrency());
  const auto on_cpu = [run](benchmark::State& bench) { run(bench, *core::make_cpu_backend(static_cast<int>(bench.range(1)))); };
  const auto on_cuda = [run](benchmark::State& bench) {
    std::string why;
    const std::unique_ptr<core::PlacementBackend> backend = core::make_cuda_backend(why);
    if (backend == nullptr) {
      bench.SkipWithError(("not run: " + why).c_str());
      return;
    }
    run(bench, *backend);
  };
  for (const std::int64_t count : counts) {
    benchmark::RegisterBenchmark((name + "/backend:cpu").c_str(), on_cpu)
        ->ArgNames({axis, "threads"})
        ->Args({count, 1})
        ->Args({count, all})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark((name + "/backend:cuda").c_str(), on_cuda)
        ->ArgNames({axis})
        ->Arg(count)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace berth::bench
