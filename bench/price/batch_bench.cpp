#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/price/answer.hpp"
#include "bench/price/instances.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"

/// Many choices at once, such as futures, seeds or parts: a thread each on the CPU, a block each on a GPU. A GPU is
/// slower at one.
namespace berth::bench {
namespace {

constexpr std::int64_t kGap = 100;  // millionths

struct Prepared {
  explicit Prepared(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      instances.push_back(price_instance(256, 160, 3, 0, kSeed + static_cast<std::uint64_t>(i)));
      answers.emplace_back(instances.back().view());
    }
    for (std::size_t i = 0; i < instances.size(); ++i) {
      tasks.push_back({instances[i].view(), {kGap, 200, false, nullptr}, nullptr});
      results.push_back(answers[i].view());
    }
  }

  std::vector<PriceInstance> instances;
  std::vector<ChoiceAnswer> answers;
  std::vector<core::PriceTask> tasks;
  std::vector<kernel::PriceResult> results;
};

void run(benchmark::State& bench, core::PlacementBackend& backend) {
  Prepared p(bench.range(0));
  backend.price(p.tasks, p.results);
  const std::unique_ptr<core::PlacementBackend> reference = core::make_reference_backend();
  for (std::size_t i = 0; i < std::min<std::size_t>(2, p.instances.size()); ++i) {
    require(choose(*reference, p.instances[i].view(), {}, kGap) == p.answers[i], "a choice is not the reference's");
  }
  for (auto _ : bench) backend.price(p.tasks, p.results);
  bench.SetItemsProcessed(bench.iterations() * bench.range(0));  // choices
}

[[maybe_unused]] const bool registered = [] {
  register_batches("prices_at_once", "problems", price_counts(), run);
  return true;
}();

}  // namespace
}  // namespace berth::bench
