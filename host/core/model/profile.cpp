#include "host/core/model/profile.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"
#include "host/core/model/all_reduce.hpp"
#include "host/core/model/measured_rate.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kOne = 1'000'000;

std::int32_t gpus_of(const Shape& shape, const SpanInfo& span) { return span.gpus > 0 ? span.gpus : shape.gpus; }

std::int64_t nodes_of(const Shape& shape, const SpanInfo& span) {
  if (span.level == 0) return 1;
  if (span.nodes > 0) return span.nodes;
  return saturate(ceil_div(gpus_of(shape, span), std::max(1, span.gpus_per_node)));
}

// linear-below-flat-above: with part of the requested GPUs a job runs at that part of its speed, with more no faster.
// Real jobs lose less when they shrink and gain something when they grow, so no plan relies on speed that does not
// exist.
std::int64_t opaque_rate(const Job& job, const Shape& shape, const SpanInfo& span) {
  const Shape& asked = job.shapes.empty() ? shape : job.shapes.front();
  const std::int64_t has = std::int64_t{gpus_of(shape, span)} * shape.share_ppm;
  const std::int64_t needed = std::int64_t{asked.gpus} * asked.share_ppm;
  return needed <= 0 ? 0 : std::max<std::int64_t>(1, mul_div(kOne, std::min(has, needed), needed));
}

// The same assumption for a rate that is stated for all GPUs of the shape.
std::int64_t stated_rate(const Shape& shape, const SpanInfo& span) {
  const std::int32_t has = std::min(gpus_of(shape, span), shape.gpus);
  return has == shape.gpus ? shape.rate : std::max<std::int64_t>(1, mul_div(shape.rate, has, shape.gpus));
}

const StepTime* step_time(const ClosedForm& form, std::string_view gpu_type) {
  const StepTime* any = nullptr;
  for (const StepTime& step : form.step) {
    if (step.gpu_type == gpu_type) return &step;
    if (step.gpu_type.empty() && any == nullptr) any = &step;
  }
  return any;
}

std::int64_t batch_of(const Shape& shape) { return std::max(1, shape.local_batch); }

// max(alpha b + beta, b gamma / min(c, c_sat)), at least 1 ns.
std::int64_t local_step_ns(const Job& job, const Shape& shape, const StepTime& step) {
  const ClosedForm& form = job.profile.closed_form;
  const std::int64_t compute = saturate(Wide{step.alpha_ns} * batch_of(shape) + step.beta_ns);
  std::int64_t cores = job.constraints.cpu_milli_per_gpu;
  if (form.cpu_milli_saturation > 0) cores = cores > 0 ? std::min(cores, form.cpu_milli_saturation) : form.cpu_milli_saturation;
  const std::int64_t input = cores > 0 ? saturate(Wide{form.io_ns} * batch_of(shape) * 1000 / cores) : 0;
  return std::max<std::int64_t>({1, compute, input});
}

// Units per second of `gpus` replicas that take `step_ns` each, in millionths; a share of a GPU runs at that share of its speed.
std::int64_t step_rate(const Profile& profile, const Shape& shape, std::int32_t gpus, std::int64_t step_ns) {
  const std::int64_t units = profile.unit == "steps" ? 1 : std::int64_t{gpus} * batch_of(shape);
  return mul_div(saturate(Wide{units} * kOne * 1'000'000'000 / step_ns), shape.share_ppm, kWholeGpu);
}

std::int64_t modelled_step_ns(const Job& job, const Shape& shape, const SpanInfo& span, const StepTime& step) {
  const std::int64_t exposed_ppm = kOne - std::clamp<std::int64_t>(job.profile.closed_form.overlap_ppm, 0, kOne);
  return saturating_add(local_step_ns(job, shape, step), mul_div(all_reduce_ns(job, shape, span), exposed_ppm, kOne));
}

std::int64_t closed_form_rate(const Job& job, const Shape& shape, const SpanInfo& span) {
  const StepTime* const step = step_time(job.profile.closed_form, span.gpu_type);
  if (step == nullptr) return 0;
  std::int64_t rate = step_rate(job.profile, shape, gpus_of(shape, span), modelled_step_ns(job, shape, span, *step));
  if (job.profile.unit == "s") {
    // A second of work is a second of the first shape without communication, on the given GPU type.
    const Shape& asked = job.shapes.empty() ? shape : job.shapes.front();
    const std::int64_t ideal = step_rate(job.profile, asked, asked.gpus, local_step_ns(job, asked, *step));
    rate = mul_div(rate, kOne, std::max<std::int64_t>(1, ideal));
  }
  return std::max<std::int64_t>(1, rate);
}

}  // namespace

std::int64_t computing_rate(const Job& job, const Shape& shape, std::string_view gpu_type) {
  if (shape.rate > 0 || job.profile.kind != ProfileKind::kClosedForm) return 0;
  const StepTime* const step = step_time(job.profile.closed_form, gpu_type);
  if (step == nullptr) return 0;
  if (job.profile.unit == "s") return kOne;
  return step_rate(job.profile, shape, shape.gpus, local_step_ns(job, shape, *step));
}

bool depends_on_place(const Job& job) {
  const std::vector<RatePoint>& points = job.profile.points;
  return job.profile.kind == ProfileKind::kClosedForm ||
         (job.profile.kind == ProfileKind::kTable &&
          std::any_of(points.begin(), points.end(), [](const RatePoint& point) { return !point.span.empty(); }));
}

std::int64_t step_ns(const Job& job, const Shape& shape, const SpanInfo& span) {
  if (shape.rate == 0 && job.profile.kind == ProfileKind::kClosedForm) {
    const StepTime* const step = step_time(job.profile.closed_form, span.gpu_type);
    return step == nullptr ? 0 : modelled_step_ns(job, shape, span, *step);
  }
  const bool measured = shape.rate > 0 || job.profile.kind == ProfileKind::kTable;
  const bool steps = job.profile.unit == "steps";
  if (!measured || !(steps || (job.profile.unit == "samples" && shape.local_batch > 0))) return 0;
  const std::int64_t rate = profile_rate(job, shape, span);
  if (rate == 0) return 0;
  const std::int64_t units = steps ? 1 : std::int64_t{gpus_of(shape, span)} * shape.local_batch;
  return std::max<std::int64_t>(1, saturate(Wide{units} * kOne * 1'000'000'000 / rate));
}

std::int64_t all_reduce_ns(const Job& job, const Shape& shape, const SpanInfo& span) {
  const std::int64_t nodes = nodes_of(shape, span);
  const std::int32_t gpus = gpus_of(shape, span);
  Tier inside;
  inside.ranks = nodes == 1 || span.one_nvlink_domain ? gpus : std::min(gpus, std::max(1, span.gpus_per_node));
  inside.bytes_per_s = span.nvlink_bytes_per_s > 0 ? span.nvlink_bytes_per_s : kPcieBytesPerS;
  inside.hop_ns = inside_hop_ns(span.nvlink_bytes_per_s);
  Tier between;
  if (!span.one_nvlink_domain) between.ranks = nodes;
  // A ring sorted by domain leaves each domain once, so an uplink carries what a node's NICs carry.
  between.bytes_per_s = span.nic_bytes_per_s;
  if (span.uplink_bytes_per_s > 0 && (between.bytes_per_s == 0 || span.uplink_bytes_per_s < between.bytes_per_s)) {
    between.bytes_per_s = span.uplink_bytes_per_s;
  }
  between.hop_ns = network_hop_ns(span.level, span.latency_ns);
  return hierarchical_all_reduce_ns(job.profile.gradient_bytes, inside, between);
}

std::int64_t profile_rate(const Job& job, const Shape& shape, const SpanInfo& span) {
  // Shares of several members may be on one GPU.
  const bool shares = shape.share_ppm < kWholeGpu ||
                      std::any_of(shape.groups.begin(), shape.groups.end(), [](const Group& g) { return g.share_ppm < kWholeGpu; });
  if (!shares && span.level == 0 && gpus_of(shape, span) > std::max(1, span.gpus_per_node)) return 0;
  if (shape.rate > 0) return stated_rate(shape, span);
  switch (job.profile.kind) {
    case ProfileKind::kOpaque:
      return opaque_rate(job, shape, span);
    case ProfileKind::kClosedForm:
      return closed_form_rate(job, shape, span);
    case ProfileKind::kTable: {
      const std::int64_t rate = measured_rate(job, shape, gpus_of(shape, span), span.gpu_type, span.level_name);
      return rate == 0 ? 0 : std::max<std::int64_t>(1, mul_div(rate, shape.share_ppm, kWholeGpu));
    }
  }
  return 0;
}

}  // namespace berth::core
