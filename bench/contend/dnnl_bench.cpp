#include <benchmark/benchmark.h>
#include <dnnl.h>

#include <vector>

#include "bench/contend/fabric.hpp"
#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "berth/kernel/contend/quantise.hpp"

/// oneDNN's product of the same 7-bit matrices as `contend/dense`, which chooses instructions at run time. Without the
/// largest of each row. OMP_NUM_THREADS=1 for one thread.
namespace berth::bench {
namespace {

std::vector<std::int8_t> dense_rows(const Rows& rows, std::int32_t links) {
  std::vector<std::int8_t> all(static_cast<std::size_t>(rows.n()) * static_cast<std::size_t>(links), 0);
  for (std::int32_t i = 0; i < rows.n(); ++i) {
    for (std::int32_t at = rows.begin[static_cast<std::size_t>(i)]; at < rows.begin[static_cast<std::size_t>(i) + 1]; ++at) {
      const auto e = static_cast<std::size_t>(at);
      all[static_cast<std::size_t>(i) * static_cast<std::size_t>(links) + static_cast<std::size_t>(rows.link[e])] =
          static_cast<std::int8_t>(kernel::pair_use(rows.use[e]));
    }
  }
  return all;
}

void product(benchmark::State& bench) {
  const Fabric& fabric = rack_fabric();
  const std::vector<std::int8_t> left = dense_rows(fabric.candidates, fabric.links), right = dense_rows(fabric.jobs, fabric.links);
  const dnnl_dim_t m = fabric.candidates.n(), n = fabric.jobs.n(), k = fabric.links;
  std::vector<std::int32_t> out(static_cast<std::size_t>(m * n));
  const std::int32_t zero = 0;
  for (auto _ : bench) {
    const dnnl_status_t status =
        dnnl_gemm_s8s8s32('N', 'T', 'F', m, n, k, 1.0F, left.data(), k, 0, right.data(), k, 0, 0.0F, out.data(), n, &zero);
    require(status == dnnl_success, "dnnl_gemm_s8s8s32 failed");
    benchmark::DoNotOptimize(out.data());
  }
  std::int32_t first = 0;
  for (dnnl_dim_t l = 0; l < k; ++l) first += left[static_cast<std::size_t>(l)] * right[static_cast<std::size_t>(l)];
  require(out[0] == first, "a product is another");
  bench.SetItemsProcessed(bench.iterations() * m);
}

[[maybe_unused]] const bool registered_dnnl = [] {
  benchmark::RegisterBenchmark("contend/dnnl/512", product)->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace berth::bench
