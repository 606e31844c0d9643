// The jobs of Dally's evaluation, from the statistics of its traces: models, GPUs, and GPU-time without communication.
// Ours: that these three are independent, and the tail of GPU-time (data/SOURCES.md).
#include "host/sim/generate/dally_jobs.hpp"

#include <algorithm>

namespace berth::sim {
namespace {

// Bytes of an all-reduce; profiled layer times x the factor of the model.
constexpr DallyModel kDallyModels[] = {
    {106'000, 70'560, "AlexNet", 244'361'984, 1'207'333},    {250'000, 304'136, "BERT", 562'044'928, 1'711'319},
    {250'000, 304'136, "MobileNetV3", 9'870'144, 63'197},    {76'000, 7'299, "ResNet18", 46'715'648, 180'246},
    {250'000, 304'136, "ResNet50", 102'011'648, 11'823'088}, {68'000, 9'733, "VGG", 531'405'568, 3'837'028},
};
constexpr Share kDallyGpus[] = {{540'000, 1}, {26'000, 2}, {104'000, 4}, {218'000, 8}, {84'000, 16},
                                {22'000, 32}, {2'000, 40}, {2'000, 48},  {2'000, 56}};
constexpr Share kDallyGangGpus[] = {{99'757, 2},  {2'433, 3},  {233'577, 4}, {462'287, 8}, {136'253, 16},
                                    {55'961, 32}, {4'866, 40}, {2'433, 48},  {2'433, 56}};
// GPU-seconds. The point at 98 % is ours: the mean is then that of the 500 jobs, 13,053.9 GPU-hours in all.
constexpr QuantilePoint kDallyGpuSeconds[] = {{0, 7'218},         {250'000, 10'711},  {500'000, 55'981},     {750'000, 130'679},
                                              {900'000, 203'053}, {980'000, 305'400}, {1'000'000, 1'165'582}};
// The 411 jobs have 13,413.1 GPU-hours: a quarter more each. Their quantiles are not known.
constexpr std::int64_t kGangPercent = 125;

}  // namespace

std::span<const DallyModel> dally_models() { return kDallyModels; }

Profile dally_profile(const DallyModel& model) {
  Profile profile;
  profile.kind = ProfileKind::kClosedForm;
  profile.model = model.name;
  profile.unit = "s";
  profile.gradient_bytes = model.gradient_bytes;
  profile.closed_form.step = {{"", 0, model.step_ns}};
  return profile;
}

TraceProfiles dally_profiles() {
  TraceProfiles profiles;
  for (const DallyModel& model : kDallyModels) profiles.emplace_back(model.name, dally_profile(model));
  return profiles;
}

std::span<const Share> dally_gpus(bool gangs) {
  return gangs ? std::span<const Share>(kDallyGangGpus) : std::span<const Share>(kDallyGpus);
}

const DallyModel& pick_dally_model(bool gangs, ItemDraws& draws) {
  std::int64_t at = draws.below(1'000'000);
  const DallyModel* model = kDallyModels;
  for (; at >= (gangs ? model->gangs_ppm : model->ppm); ++model) at -= gangs ? model->gangs_ppm : model->ppm;
  return *model;
}

void draw_dally_job(bool gangs, TraceJob& job, ItemDraws& draws) {
  job = {};
  job.model = job.profile = pick_dally_model(gangs, draws).name;
  job.gpus = pick(dally_gpus(gangs), draws);
  const TimeUs gpu_us = draw_duration(kDallyGpuSeconds, draws) * (gangs ? kGangPercent : 100) / 100;
  job.run_us = std::max<TimeUs>(1, gpu_us / job.gpus);
  job.work = job.run_us;  // millionths of a second
}

std::int64_t dally_mean_gpu_us(bool gangs) { return mean_beyond(kDallyGpuSeconds, 0) * (gangs ? kGangPercent : 100) / 100; }

}  // namespace berth::sim
