#include "host/sim/generate/ones_jobs.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// data/SOURCES.md, "ones".
constexpr Share kOnesGpus[] = {{200'000, 2}, {300'000, 4}, {100'000, 8}, {400'000, 16}};
constexpr QuantilePoint kOnesRun4[] = {{0, 41},        {100'000, 57},  {250'000, 71},  {500'000, 212},  {750'000, 397},
                                       {900'000, 540}, {950'000, 561}, {980'000, 598}, {1'000'000, 638}};
constexpr QuantilePoint kOnesRun8[] = {{0, 114},       {100'000, 115}, {250'000, 116}, {500'000, 138},  {750'000, 236},
                                       {900'000, 282}, {950'000, 283}, {980'000, 284}, {1'000'000, 285}};
constexpr QuantilePoint kOnesRunMore[] = {{0, 73},        {100'000, 87},    {250'000, 131},   {500'000, 359},    {750'000, 527},
                                          {900'000, 865}, {950'000, 1'077}, {980'000, 1'200}, {1'000'000, 1'271}};
constexpr QuantilePoint kOnesWait[] = {{0, 0},         {100'000, 19},  {250'000, 47},  {500'000, 95},   {750'000, 145},
                                       {900'000, 247}, {950'000, 252}, {980'000, 268}, {1'000'000, 304}};

Shape shape_on(const OnesKind& kind, std::int32_t gpus) {
  Shape shape;
  shape.id = "g" + std::to_string(gpus);
  shape.gpus = gpus;
  shape.local_batch = ones_batch(kind, gpus);
  shape.learning_rate_pico = ones_learning_rate_pico(kind, gpus);
  return shape;
}

}  // namespace

const WorkloadModel& ones_model() {
  static const WorkloadModel model{kOnesGpus, {}, {kOnesRun4, kOnesRun4, kOnesRun8, kOnesRunMore}, kOnesWait, 1'000'000, 0, "V100-32GB"};
  return model;
}

Demand draw_ones(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws) {
  const OnesKind& kind = pick_ones_kind(draws);
  const std::int32_t most = layout.most_gpus();
  Demand demand;
  demand.gpus = std::min(kind.gpus, most);
  demand.profile = ones_profile(kind);
  demand.epoch_size = kind.epoch_size;
  demand.shapes.push_back(shape_on(kind, demand.gpus));
  if (!options.elastic) return demand;
  for (const RatePoint& point : demand.profile.points) {
    if (point.gpus != demand.gpus && point.gpus <= most) demand.shapes.push_back(shape_on(kind, point.gpus));
  }
  return demand;
}

}  // namespace berth::sim
