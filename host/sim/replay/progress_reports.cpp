#include "host/sim/replay/progress_reports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/trace_phases.hpp"
#include "host/sim/base/noise_percent.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kOne = 1'000'000;

struct Curve {
  std::int64_t initial_loss_micro, floor_ppm, best_ppm, half_life;
};

Curve curve_of(const TraceJob& job, std::uint64_t seed) {
  core::TableHash hash;
  hash.add(std::string_view(job.model.empty() ? job.id : job.model));
  ItemDraws draws(seed, RandomStream::kCurve, hash.value());
  Curve curve{};
  curve.initial_loss_micro = 2 * kOne + draws.below(8 * kOne + 1);
  curve.floor_ppm = 50'000 + draws.below(250'001);
  curve.best_ppm = 600'000 + draws.below(380'001);
  curve.half_life = 1 + draws.below(30);
  return curve;
}

}  // namespace

ProgressReports::ProgressReports(std::string_view name, std::uint64_t seed) : seed_(seed) {
  if (name == "none") return;
  if (name == "epochs") {
    kind_ = Kind::kEpochs;
    return;
  }
  if (!is_noise(name)) throw InvalidArgument(fmt::format("unknown progress '{}'; known: none, epochs, noise:P", name));
  kind_ = Kind::kNoise;
  most_ppm_ = noise_percent("progress", name) * 10'000;
}

void ProgressReports::put(Progress& progress, const TraceJob& job, std::int64_t place, std::int64_t done, std::int64_t work) const {
  put_epochs(progress, job, place, core::epochs_after(job, done, work));
}

void ProgressReports::put_epochs(Progress& progress, const TraceJob& job, std::int64_t place, std::int64_t epochs) const {
  progress.epochs_done_micro = std::min(epochs, kScoreCeiling);
  progress.dataset_size = job.dataset_size;
  progress.samples_done = std::min(core::mul_div(progress.epochs_done_micro, job.dataset_size, kOne), kScoreCeiling);
  if (kind_ != Kind::kNoise) return;
  const Curve curve = curve_of(job, seed_);
  const std::int64_t epoch = progress.epochs_done_micro / kOne;
  const std::int64_t to_go_ppm = core::mul_div(kOne, curve.half_life, core::saturating_add(curve.half_life, epoch));
  ItemDraws draws(seed_, RandomStream::kReport,
                  (static_cast<std::uint64_t>(place) << 32) | (static_cast<std::uint64_t>(epoch) & UINT32_MAX));
  const auto noisy = [&](std::int64_t value) { return core::mul_div(value, kOne - most_ppm_ + draws.below(2 * most_ppm_ + 1), kOne); };
  const std::int64_t part_ppm = curve.floor_ppm + core::mul_div(kOne - curve.floor_ppm, to_go_ppm, kOne);
  progress.initial_loss_micro = curve.initial_loss_micro;
  progress.loss_micro = epoch == 0 ? curve.initial_loss_micro : noisy(core::mul_div(curve.initial_loss_micro, part_ppm, kOne));
  progress.accuracy_ppm = std::min(kOne, noisy(core::mul_div(curve.best_ppm, kOne - to_go_ppm, kOne)));
}

}  // namespace berth::sim
