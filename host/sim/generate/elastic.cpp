#include <algorithm>

#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

struct ElasticModel {
  const char* name;
  std::int64_t samples_per_s;     // of one GPU
  std::int64_t serial_per_mille;  // c of Amdahl's law, times 1000
  std::int64_t gradient_bytes;    // float32 parameters
};

// Gradient sizes are published parameter counts times 4 bytes; rates and serial fractions are ours (data/SOURCES.md, "elastic").
constexpr ElasticModel kModels[] = {{"ResNet50", 390, 25, 102'000'000},
                                    {"VGG16", 230, 90, 553'000'000},
                                    {"BERT-base", 110, 55, 440'000'000},
                                    {"GPT-2", 36, 40, 498'000'000}};

// Samples per second, in millionths: n GPUs have n / (1 + c (n - 1)) times the rate of one. Increasing and concave in n.
std::int64_t rate_at(const ElasticModel& model, std::int32_t gpus) {
  return model.samples_per_s * 1'000'000 * gpus / (1000 + model.serial_per_mille * (gpus - 1)) * 1000;
}

}  // namespace

void make_elastic(Demand& demand, std::int32_t most_gpus, ItemDraws& draws) {
  const Shape asked = demand.shapes.front();
  if (asked.share_ppm != kWholeGpu || !asked.groups.empty() || demand.endless) return;
  const ElasticModel& model = kModels[draws.below(static_cast<std::int64_t>(std::size(kModels)))];
  demand.profile.kind = ProfileKind::kTable;
  demand.profile.model = model.name;
  demand.profile.unit = "samples";
  demand.profile.gradient_bytes = model.gradient_bytes;
  // From a quarter of the requested GPUs to four times as many, by doubling.
  std::int32_t gpus = asked.gpus;
  for (int halvings = 0; halvings < 2 && gpus % 2 == 0; ++halvings) gpus /= 2;
  for (; gpus <= std::min<std::int64_t>(most_gpus, std::int64_t{asked.gpus} * 4); gpus *= 2) {
    RatePoint point;
    point.gpus = gpus;
    point.rate = rate_at(model, gpus);
    demand.profile.points.push_back(point);
    if (gpus == asked.gpus) continue;
    Shape shape = asked;
    shape.id = "g" + std::to_string(gpus);
    shape.gpus = gpus;
    demand.shapes.push_back(shape);
  }
}

}  // namespace berth::sim
