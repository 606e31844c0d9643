#include <array>

#include "host/sim/generate/dally_jobs.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// Run times for snapshots: GPU-time over 1, 3, 8 and 16 GPUs. data/SOURCES.md, "dally".
constexpr QuantilePoint kDallyRun1[] = {{0, 7'218},         {250'000, 10'711},  {500'000, 55'981},     {750'000, 130'679},
                                        {900'000, 203'053}, {980'000, 305'400}, {1'000'000, 1'165'582}};
constexpr QuantilePoint kDallyRun4[] = {{0, 2'406},        {250'000, 3'570},   {500'000, 18'660},   {750'000, 43'560},
                                        {900'000, 67'684}, {980'000, 101'800}, {1'000'000, 388'527}};
constexpr QuantilePoint kDallyRun8[] = {{0, 902},          {250'000, 1'339},  {500'000, 6'998},    {750'000, 16'335},
                                        {900'000, 25'382}, {980'000, 38'175}, {1'000'000, 145'698}};
constexpr QuantilePoint kDallyRunMore[] = {{0, 451},          {250'000, 669},    {500'000, 3'499},   {750'000, 8'167},
                                           {900'000, 12'691}, {980'000, 19'088}, {1'000'000, 72'849}};
constexpr QuantilePoint kDallyWait[] = {{0, 0}, {500'000, 3'600}, {900'000, 43'200}, {1'000'000, 86'400}};  // ours

constexpr std::array<Quantiles, kSizeClasses> kDallyRun{kDallyRun1, kDallyRun4, kDallyRun8, kDallyRunMore};

}  // namespace

const WorkloadModel& dally_model(bool gangs) {
  static const WorkloadModel all{dally_gpus(false), {}, kDallyRun, kDallyWait, 1'000'000, 0, "V100-32GB"};
  static const WorkloadModel only_gangs{dally_gpus(true), {}, kDallyRun, kDallyWait, 1'000'000, 0, "V100-32GB"};
  return gangs ? only_gangs : all;
}

Demand draw_dally(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws) {
  const bool gangs = options.workload == Workload::kDallyGangs;
  const DallyModel& model = pick_dally_model(gangs, draws);
  Demand demand = draw_gang(dally_model(gangs), layout, options, draws);
  if (!options.elastic) demand.profile = dally_profile(model);
  return demand;
}

}  // namespace berth::sim
