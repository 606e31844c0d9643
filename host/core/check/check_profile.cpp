#include <fmt/format.h>

#include "host/core/base/distinct.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::size_t kMostObserved = 5;

void check_points(const Profile& profile, const InputLocation& where) {
  if (profile.kind == ProfileKind::kTable && profile.points.empty()) where.fail_at("points", "a table needs at least one point");
  for (std::size_t i = 0; i < profile.points.size(); ++i) {
    const RatePoint& point = profile.points[i];
    const InputLocation at(where, "points", static_cast<std::int64_t>(i));
    check_text(point.gpu_type, at, "gpu_type");
    check_range(point.gpus, 1, kMaxGpusPerJob, at, "gpus");
    check_range(point.local_batch, 0, INT32_MAX, at, "local_batch");
    check_text(point.span, at, "span");
    check_decimal(point.rate, 6, 1, kScoreCeiling, at, "rate");
  }
}

void check_closed_form(const Profile& profile, const InputLocation& where) {
  const ClosedForm& form = profile.closed_form;
  if (profile.kind == ProfileKind::kClosedForm && form.step.empty()) where.fail_at("closed_form/step", "needs at least one GPU type");
  for (std::size_t i = 0; i < form.step.size(); ++i) {
    const InputLocation at(where, "closed_form/step", static_cast<std::int64_t>(i));
    check_text(form.step[i].gpu_type, at, "gpu_type");
    check_range(form.step[i].alpha_ns, 0, kMaxBytes, at, "alpha_ns");
    check_range(form.step[i].beta_ns, 0, kMaxBytes, at, "beta_ns");
    if (form.step[i].alpha_ns == 0 && form.step[i].beta_ns == 0) at.fail("a step that takes no time");
  }
  check_range(form.io_ns, 0, kMaxBytes, where, "closed_form/io_ns");
  check_decimal(form.cpu_milli_saturation, 3, 0, kMaxBytes, where, "closed_form/cpu_cores_saturation");
  check_decimal(form.overlap_ppm, 6, 0, kWhole, where, "closed_form/overlap");
}

}  // namespace

void check_profile(const Profile& profile, const InputLocation& where) {
  check_text(profile.model, where, "model");
  check_name(profile.unit, where, "unit");
  check_points(profile, where);
  check_closed_form(profile, where);
  check_range(profile.gradient_bytes, 0, kMaxBytes, where, "gradient_bytes");
  for (const TimeUs stage : profile.stage_us) check_time(stage, where, "stage_s");
  check_decimal(profile.gpu_utilisation_ppm, 6, 0, kWhole, where, "gpu_utilisation");
  check_decimal(profile.gpu_memory_utilisation_ppm, 6, 0, kWhole, where, "gpu_memory_utilisation");
  for (std::size_t i = 0; i < profile.colocation.size(); ++i) {
    check_name(profile.colocation[i].first, where, "colocation");
    check_decimal(profile.colocation[i].second, 6, 0, kWhole, where, "colocation");
  }
  find_repeat(
      profile.colocation.size(), [&](std::size_t i) { return std::string_view(profile.colocation[i].first); },
      [&](std::size_t i) { where.fail_at("colocation", fmt::format("duplicate profile '{}'", profile.colocation[i].first)); });
}

void check_progress(const Progress& p, const InputLocation& where) {
  check_decimal(p.work_done, 6, 0, kScoreCeiling, where, "work_done");
  check_decimal(p.work_total, 6, 0, kScoreCeiling, where, "work_total");
  check_decimal(p.epochs_done_micro, 6, 0, kScoreCeiling, where, "epochs_done");
  check_range(p.samples_done, 0, kScoreCeiling, where, "samples_done");
  check_range(p.dataset_size, 0, kScoreCeiling, where, "dataset_size");
  check_decimal(p.initial_loss_micro, 6, -kScoreCeiling, kScoreCeiling, where, "initial_loss");
  check_decimal(p.loss_micro, 6, -kScoreCeiling, kScoreCeiling, where, "loss");
  check_decimal(p.accuracy_ppm, 6, 0, kWhole, where, "accuracy");
  check_decimal(p.grad_sqr_micro, 6, 0, kScoreCeiling, where, "grad_sqr");
  check_decimal(p.grad_var_micro, 6, 0, kScoreCeiling, where, "grad_var");
  check_time(p.run_us, where, "run_s");
  check_decimal(p.attained_gpu_us, 6, 0, kScoreCeiling, where, "attained_gpu_s");
  for (std::size_t i = 0; i < p.observed.size(); ++i) {
    const InputLocation at(where, "observed", static_cast<std::int64_t>(i));
    check_range(p.observed[i].gpus, 1, kMaxGpusPerJob, at, "gpus");
    if (p.observed[i].rates.size() > kMostObserved) {
      at.fail_at("rates", fmt::format("{} rates are more than the last {}", p.observed[i].rates.size(), kMostObserved));
    }
    for (const std::int64_t rate : p.observed[i].rates) check_decimal(rate, 6, 0, kScoreCeiling, at, "rates");
  }
  find_repeat(
      p.observed.size(), [&](std::size_t i) { return p.observed[i].gpus; },
      [&](std::size_t i) {
        InputLocation(where, "observed", static_cast<std::int64_t>(i))
            .fail_at("gpus", fmt::format("duplicate count {}", p.observed[i].gpus));
      });
  check_range(p.restarts, 0, INT32_MAX, where, "restarts");
}

}  // namespace berth::core
