#include "host/sim/base/stated_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "host/core/base/names.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/trace_form.hpp"

namespace berth::sim {
namespace {

bool has_level(const Snapshot& cluster, const LevelRef& at) {
  return at.level == "node" || std::any_of(cluster.domains.begin(), cluster.domains.end(), [&](const Domain& domain) {
           return domain.topology == at.topology && domain.level == at.level;
         });
}

/// A level that a group names and the cluster does not have.
const LevelRef* unknown_level(const Group& group, const Snapshot& cluster) {
  const LevelRef* const named[] = {group.require ? &*group.require : nullptr, group.prefer ? &*group.prefer : nullptr,
                                   group.spread ? &group.spread->at : nullptr, group.segment ? &group.segment->at : nullptr};
  for (const LevelRef* const level : named) {
    if (level != nullptr && !has_level(cluster, *level)) return level;
  }
  return nullptr;
}

std::string missing_for(const Shape& shape, const std::string& gpu_type, const Snapshot& cluster) {
  const auto is_type = [&](const GpuType& type) { return type.id == gpu_type; };
  if (!gpu_type.empty() && std::none_of(cluster.gpu_types.begin(), cluster.gpu_types.end(), is_type))
    return fmt::format("the cluster has no GPUs of type '{}'", gpu_type);
  for (const Group& group : shape.groups) {
    if (const LevelRef* const level = unknown_level(group, cluster)) {
      return fmt::format("group '{}' names the level '{}', and the topology '{}' of the cluster has no such level", group.name,
                         level->level, core::name(level->topology));
    }
  }
  return {};
}

std::int64_t first_rate(const TraceJob& job) { return job.shapes.front().rate > 0 ? job.shapes.front().rate : kSecond; }

/// Calls `see(shape, what is missing)` for each shape that may be used.
template <class See>
void for_usable(const TraceJob& job, const Snapshot& cluster, bool elastic, const See& see) {
  for (const Shape& shape : job.shapes) {
    if (elastic || shape.gpus == job.gpus) see(shape, missing_for(shape, shape.gpu_type.empty() ? job.gpu_type : shape.gpu_type, cluster));
  }
}

}  // namespace

std::vector<Shape> stated_shapes(const TraceJob& job, const Snapshot& cluster, bool elastic, bool has_profile) {
  std::vector<Shape> shapes;
  for_usable(job, cluster, elastic, [&](const Shape& stated, const std::string& missing) {
    if (!missing.empty()) return;
    Shape& shape = shapes.emplace_back(stated);
    if (shape.gpu_type.empty()) shape.gpu_type = job.gpu_type;
    if (shape.local_batch == 0) shape.local_batch = static_cast<std::int32_t>(per_gpu(job.batch, shape.gpus));
    if (shape.rate > 0 || has_profile || job.shapes.size() == 1) return;
    const std::int64_t needed = std::max<std::int64_t>(1, std::int64_t{job.gpus} * job.shapes.front().share_ppm);
    shape.rate =
        std::max<std::int64_t>(1, core::mul_div(first_rate(job), std::min(std::int64_t{shape.gpus} * shape.share_ppm, needed), needed));
  });
  return shapes;
}

std::string missing_for_shapes(const TraceJob& job, const Snapshot& cluster, bool elastic) {
  std::optional<std::string> first;
  bool some = false;
  for_usable(job, cluster, elastic, [&](const Shape& /*stated*/, std::string missing) {
    some = some || missing.empty();
    if (!first) first = std::move(missing);
  });
  return some || !first ? std::string() : *first;
}

std::int64_t work_of_run_time(const TraceJob& job) {
  return std::clamp<std::int64_t>(core::mul_div(job.run_us, first_rate(job), kSecond), 1, kScoreCeiling);
}

}  // namespace berth::sim
