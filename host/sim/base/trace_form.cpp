#include "host/sim/base/trace_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/profile.hpp"
#include "host/core/model/shape_id.hpp"
#include "host/core/model/trace_phases.hpp"
#include "host/sim/base/stated_shapes.hpp"

namespace berth::sim {
namespace {

constexpr auto kSwitchTopology = static_cast<std::size_t>(TopologyKind::kSwitch);

Shape shape_for(const TraceJob& job, std::int32_t gpus, const std::string& gpu_type) {
  Shape shape;
  shape.id = core::default_shape_id(gpus, gpu_type);
  shape.gpu_type = gpu_type;
  shape.gpus = gpus;
  shape.local_batch = static_cast<std::int32_t>(per_gpu(job.batch, gpus));
  return shape;
}

/// Adds the shape unless it exists.
void add_shape(std::vector<Shape>& shapes, Shape shape) {
  for (const Shape& known : shapes) {
    if (known.id == shape.id) return;
  }
  shapes.push_back(std::move(shape));
}

}  // namespace

void require_order(const TraceJob& before, const TraceJob& job) {
  if (std::tie(job.submit_us, job.id) >= std::tie(before.submit_us, before.id)) return;
  throw InvalidArgument(fmt::format("the trace's jobs are not sorted by (submit, id): '{}' comes after '{}'", job.id, before.id));
}

void require_sorted(const Trace& trace) {
  for (std::size_t i = 1; i < trace.jobs.size(); ++i) require_order(trace.jobs[i - 1], trace.jobs[i]);
}

std::vector<std::string> TraceForm::gpu_types() const {
  std::vector<std::string> types;
  for (const Shape& shape : shapes) {
    if (shape.gpus != shapes.front().gpus) continue;
    if (shape.gpu_type.empty()) return {};
    types.push_back(shape.gpu_type);
  }
  return types;
}

TraceForms::TraceForms(const TraceProfiles& profiles, const Snapshot& cluster, bool elastic) : elastic_(elastic), cluster_(cluster) {
  for (const auto& [name, profile] : profiles) profiles_.emplace(name, &profile);
}

bool TraceForms::has_type(std::string_view gpu_type) const {
  return std::any_of(cluster_.gpu_types.begin(), cluster_.gpu_types.end(), [&](const GpuType& type) { return type.id == gpu_type; });
}

std::string TraceForms::missing_on_cluster(const TraceJob& job) const {
  if (!job.gpu_type.empty() && !has_type(job.gpu_type)) return fmt::format("the cluster has no GPUs of type '{}'", job.gpu_type);
  for (const auto& [ref, wait] : job.longest_wait) {
    const auto is_of = [&ref = ref](const Domain& domain) { return domain.topology == ref.topology && domain.level == ref.level; };
    if (ref.level == "node" || std::any_of(cluster_.domains.begin(), cluster_.domains.end(), is_of)) continue;
    return fmt::format("the job waits for one {}, and the cluster's topology {} has no such level", ref.level, core::name(ref.topology));
  }
  return job.shapes.empty() ? std::string() : missing_for_shapes(job, cluster_, elastic_);
}

const Profile* TraceForms::find(const std::string& profile) const {
  const auto found = profile.empty() ? profiles_.end() : profiles_.find(profile);
  return found == profiles_.end() ? nullptr : found->second;
}

void TraceForms::keep_measured(std::vector<Shape>& shapes, const TraceJob& job) const {
  const std::string* last = nullptr;
  for (const TracePhase& phase : job.phases) {
    if (last != nullptr && phase.profile == *last) continue;
    last = &phase.profile;
    const Profile* const profile = find(phase.profile);
    const auto measured = [&](const Shape& shape) {
      return profile != nullptr && (profile->kind != ProfileKind::kTable ||
                                    std::any_of(profile->points.begin(), profile->points.end(), [&](const RatePoint& point) {
                                      return point.gpus == shape.gpus && (point.gpu_type.empty() || point.gpu_type == shape.gpu_type);
                                    }));
    };
    shapes.erase(std::remove_if(shapes.begin(), shapes.end(), [&](const Shape& shape) { return !measured(shape); }), shapes.end());
  }
}

TraceForm TraceForms::in_phase(std::vector<Shape> shapes, const TraceJob& job, std::size_t phase) const {
  const bool first = phase == 0;
  const std::int32_t batch = first ? job.batch : job.phases[phase - 1].batch;
  for (Shape& shape : shapes) shape.local_batch = static_cast<std::int32_t>(per_gpu(batch, shape.gpus));
  return {std::move(shapes), find(first ? job.profile : job.phases[phase - 1].profile)};
}

// With a table only shapes with a rate are kept, unless none has one.
TraceForm TraceForms::of_stated(const TraceJob& job, const Profile* profile) const {
  const auto measured = [&](const Shape& shape) {
    return shape.rate > 0 || std::any_of(profile->points.begin(), profile->points.end(), [&](const RatePoint& point) {
             const bool type =
                 point.gpu_type.empty() || (shape.gpu_type.empty() ? has_type(point.gpu_type) : point.gpu_type == shape.gpu_type);
             return point.gpus == shape.gpus && type;
           });
  };
  TraceForm form{stated_shapes(job, cluster_, elastic_, profile != nullptr), profile};
  if (profile == nullptr || profile->kind != ProfileKind::kTable) return form;
  const auto kept = std::stable_partition(form.shapes.begin(), form.shapes.end(), measured);
  if (kept == form.shapes.begin() || form.shapes.front().gpus != job.gpus) return {stated_shapes(job, cluster_, elastic_, false), nullptr};
  form.shapes.erase(kept, form.shapes.end());
  return form;
}

TraceForm TraceForms::of(const TraceJob& job, std::size_t phase) const {
  const std::string problem = core::phases_problem(job);
  if (!problem.empty()) throw InvalidArgument(fmt::format("job '{}': {}", job.id, problem));
  TraceForm form;
  const Profile* const profile = find(job.profile);
  if (!job.shapes.empty()) return of_stated(job, profile);
  if (profile != nullptr && profile->kind == ProfileKind::kTable) {
    const auto takes = [&](const RatePoint& point) {
      if (!job.gpu_type.empty() && !point.gpu_type.empty() && point.gpu_type != job.gpu_type) return false;
      return point.gpu_type.empty() || has_type(point.gpu_type);
    };
    for (const bool asked_for : {true, false}) {
      for (const RatePoint& point : profile->points) {
        if ((point.gpus == job.gpus) != asked_for || (!asked_for && (!elastic_ || !job.elastic || form.shapes.empty())) || !takes(point))
          continue;
        add_shape(form.shapes, shape_for(job, point.gpus, point.gpu_type.empty() ? job.gpu_type : point.gpu_type));
      }
    }
    if (form.shapes.size() > static_cast<std::size_t>(kMaxShapes)) {
      throw InvalidArgument(fmt::format("job '{}' has {} alternatives in its profile '{}', more than {}", job.id, form.shapes.size(),
                                        job.profile, kMaxShapes));
    }
    if (!form.shapes.empty()) form.profile = profile;
  } else {
    form.profile = profile;
    form.shapes.push_back(shape_for(job, job.gpus, job.gpu_type));
  }
  if (!job.phases.empty() && form.profile != nullptr) {
    keep_measured(form.shapes, job);
    if (form.shapes.empty() || form.shapes.front().gpus != job.gpus) form = {};
  }
  if (form.shapes.empty()) form.shapes.push_back(shape_for(job, job.gpus, job.gpu_type));
  return form.profile == nullptr ? form : in_phase(std::move(form.shapes), job, phase);
}

std::size_t TraceForms::shape_on(const TraceForm& form, const std::vector<PooledGpus>& gpus) const {
  const std::string& type = cluster_.nodes[to_index(gpus.front().node)].gpu_type;
  for (std::size_t i = 0; i < form.shapes.size(); ++i) {
    const Shape& shape = form.shapes[i];
    if (shape.gpus == form.shapes.front().gpus && shape.gpu_type == type) return i;
  }
  return 0;
}

/// The level of the switch topology that the nodes span.
std::string_view TraceForms::level_of(const std::vector<PooledGpus>& gpus) const {
  if (gpus.size() == 1) return "node";
  std::string path = cluster_.nodes[to_index(gpus.front().node)].domain[kSwitchTopology];
  for (; !path.empty(); path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) {
    const bool all = std::all_of(gpus.begin(), gpus.end(), [&](const PooledGpus& one) {
      const std::string& other = cluster_.nodes[to_index(one.node)].domain[kSwitchTopology];
      return other.compare(0, path.size(), path) == 0 && (other.size() == path.size() || other[path.size()] == '/');
    });
    if (!all) continue;
    for (const Domain& domain : cluster_.domains) {
      if (domain.topology != TopologyKind::kSwitch) continue;
      if ((domain.parent.empty() ? domain.id : domain.parent + "/" + domain.id) == path) return domain.level;
    }
  }
  return "cluster";
}

std::int64_t TraceForms::rate(const TraceForm& form, const std::vector<PooledGpus>& gpus) const {
  if (form.profile == nullptr || form.profile->kind != ProfileKind::kTable) return 0;
  Job job;
  job.shapes = form.shapes;
  job.profile = *form.profile;
  core::SpanInfo span;
  span.gpu_type = cluster_.nodes[to_index(gpus.front().node)].gpu_type;
  span.level_name = level_of(gpus);
  span.level = gpus.size() == 1 ? 0 : 1;
  span.nodes = static_cast<std::int32_t>(gpus.size());
  span.gpus_per_node = kMaxGpusPerNode;
  return core::profile_rate(job, form.shapes[shape_on(form, gpus)], span);
}

std::vector<core::WorkLeg> TraceForms::legs(const TraceJob& job, const std::vector<PooledGpus>& gpus) const {
  std::vector<core::WorkLeg> legs;
  if (job.work <= 0) return legs;
  TraceForm form = of(job);
  for (std::size_t phase = 0; phase <= job.phases.size(); ++phase) {
    if (form.profile != nullptr) form = in_phase(std::move(form.shapes), job, phase);
    const std::int64_t per_second = rate(form, gpus);
    if (per_second <= 0) return {};
    const core::WorkLeg first{0, job.work, per_second, 0};
    legs.push_back(phase == 0 ? first : core::next_leg(legs.back(), job.work - core::phase_begin(job, phase), per_second));
  }
  return legs;
}

std::vector<std::int64_t> TraceForms::asked_rates(const TraceJob& job) const {
  std::vector<std::int64_t> rates;
  core::SpanInfo span;
  span.gpus_per_node = 1;
  TraceForm form = of(job);
  for (std::size_t phase = 0; phase <= job.phases.size(); ++phase) {
    if (form.profile != nullptr) form = in_phase(std::move(form.shapes), job, phase);
    Job one;
    one.shapes = form.shapes;
    if (form.profile != nullptr) one.profile = *form.profile;
    const Shape& asked = form.shapes.front();
    span.gpu_type = asked.gpu_type;
    if (asked.gpu_type.empty() && !cluster_.gpu_types.empty()) span.gpu_type = cluster_.gpu_types.front().id;
    for (const Node& node : cluster_.nodes) {
      if (node.gpu_type == span.gpu_type) span.gpus_per_node = std::max(span.gpus_per_node, node.gpus);
    }
    span.level = asked.gpus <= span.gpus_per_node ? 0 : 1;
    span.level_name = span.level == 0 ? "node" : "cluster";
    const std::int64_t known = form.profile == nullptr ? 0 : core::profile_rate(one, asked, span);
    rates.push_back(known > 0 ? known : std::max<std::int64_t>(1, core::mul_div(job.work, kSecond, job.run_us)));
  }
  return rates;
}

TimeUs TraceForms::run_time(const TraceJob& job, const TraceForm& form, const std::vector<PooledGpus>& gpus) const {
  if (job.work <= 0) return job.run_us;
  if (!job.phases.empty()) {
    const std::vector<core::WorkLeg> all = legs(job, gpus);
    return all.empty() ? job.run_us : std::clamp<TimeUs>(core::reaches(all.back(), 0), 1, kMaxTimeUs);
  }
  const std::int64_t per_second = rate(form, gpus);
  if (per_second <= 0) return job.run_us;
  return std::clamp<TimeUs>(core::reaches({0, job.work, per_second, 0}, 0), 1, kMaxTimeUs);
}

std::int64_t left_at_present_rate(const TraceJob& job, std::size_t phase, std::int64_t left, const std::vector<std::int64_t>& rates) {
  if (rates.empty()) return left;
  core::Wide reported = left - (job.work - core::phase_begin(job, phase + 1));
  for (std::size_t later = phase + 1; later < rates.size(); ++later) {
    const core::Wide work = core::phase_begin(job, later + 1) - core::phase_begin(job, later);
    reported += work * rates[phase] / rates[later];
  }
  return std::min(core::saturate(reported), kScoreCeiling);
}

}  // namespace berth::sim
