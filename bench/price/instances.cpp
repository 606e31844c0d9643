#include "bench/price/instances.hpp"

#include <algorithm>
#include <span>

#include "berth/kernel/price/objective.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/core/choice/shape_view.hpp"
#include "host/sim/base/random.hpp"

namespace berth::bench {
namespace {

constexpr std::int32_t kCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 40, 48, 56, 64};
constexpr std::int64_t kFaster[] = {1000, 620, 370, 800, 500, 300, 900, 200};  // thousandths of the first type's speed
constexpr std::int64_t kFirstBatch = 8;

// Times in nanoseconds.
struct Model {
  std::int64_t sample, fixed, inside, between, between_each, noise;
};

Model draw(sim::ItemDraws& random) {
  Model m{};
  m.sample = 1'000'000 + random.below(10'000'000);
  m.fixed = 2'000'000 + random.below(20'000'000);
  m.inside = 5'000'000 + random.below(60'000'000);
  m.between = 2 * m.inside;
  m.between_each = 200'000 + random.below(800'000);
  m.noise = 10 + random.below(20'000);
  return m;
}

// Useful samples per second, the best of twenty batch sizes: throughput times (phi + M0) / (phi + M).
std::int64_t goodput(const Model& m, std::int32_t gpus, std::int64_t faster) {
  std::int64_t best = 0;
  for (std::int64_t local = kFirstBatch, k = 0; k < 20; ++k, local += std::max<std::int64_t>(1, local * 3 / 10)) {
    const std::int64_t compute = (m.sample * local + m.fixed) * 1000 / faster;
    const std::int64_t sync = gpus == 1 ? 0 : gpus <= 8 ? m.inside : m.between + m.between_each * gpus;
    const std::int64_t batch = local * gpus;
    best =
        std::max(best, kernel::mul_div(kernel::mul_div(batch, 1'000'000'000'000, compute + sync), m.noise + kFirstBatch, m.noise + batch));
  }
  return best;
}

}  // namespace

kernel::PriceView PriceInstance::view() const { return core::shape_view(capacity, option_begin, type, gpus, value); }

std::uint64_t PriceInstance::hash() const {
  core::TableHash hash;
  const auto add = [&](const auto& column) {
    hash.add(std::span<const std::int64_t>(std::vector<std::int64_t>(column.begin(), column.end())));
  };
  add(capacity);
  add(option_begin);
  add(type);
  add(gpus);
  add(value);
  return hash.value();
}

PriceInstance price_instance(std::int64_t gpus, std::int64_t jobs, std::int32_t types, std::int32_t models, std::uint64_t seed) {
  sim::ItemDraws random(seed, sim::RandomStream::kJob, 0);
  PriceInstance p;
  p.capacity.assign(static_cast<std::size_t>(types), gpus / types / 8 * 8);
  p.option_begin.push_back(0);
  std::vector<Model> kinds;
  for (std::int32_t i = 0; i < models; ++i) kinds.push_back(draw(random));
  for (std::int64_t j = 0; j < jobs; ++j) {
    const Model model = models > 0 ? kinds[static_cast<std::size_t>(random.below(models))] : draw(random);
    const std::int64_t alone = goodput(model, 1, kFaster[0]);
    for (std::int32_t t = 0; t < types; ++t) {
      const std::int64_t faster = models > 0 ? kFaster[t] : kFaster[t] * (80 + random.below(40)) / 100;
      for (const std::int32_t count : kCounts) {
        p.type.push_back(t);
        p.gpus.push_back(count);
        p.speed.push_back(kernel::mul_div(goodput(model, count, faster), kernel::kSpeedUnit, alone));
        p.value.push_back(kernel::power_gain(kernel::Power::kMinusOne, p.speed.back()));
      }
    }
    p.option_begin.push_back(static_cast<std::int32_t>(p.value.size()));
  }
  return p;
}

}  // namespace berth::bench
