#include "host/io/traces/trace_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/core/model/shape_id.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

/// A trace is read without a cluster.
class AnyCluster final : public core::References {
 public:
  const GpuType* gpu_type(std::string_view /*id*/) const override { return &type_; }
  bool has_domain(TopologyKind /*topology*/, std::string_view /*path*/) const override { return true; }
  bool has_level(TopologyKind /*topology*/, std::string_view /*level*/) const override { return true; }
  bool has_queue(std::string_view /*id*/) const override { return true; }
  const Node* node(std::string_view /*id*/) const override { return nullptr; }

 private:
  GpuType type_;
};

// Bytes of all members in one step; each addend is at most kMaxBytes times kMaxGpusPerJob.
void check_traffic(const Shape& shape, const core::InputLocation& where) {
  core::Wide bytes = 0;
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    const Group& group = shape.groups[g];
    for (const Communication& one : group.communication) bytes += core::Wide{one.bytes_per_step} * group.members_max;
    if (bytes <= kMaxBytes) continue;
    core::InputLocation(where, "groups", static_cast<std::int64_t>(g))
        .fail_at("communication", fmt::format("the members send more than {} bytes in one step", kMaxBytes));
  }
}

void check_shape(const TraceJob& job, const Shape& shape, const core::InputLocation& at) {
  core::check_shape(shape, AnyCluster(), at);
  if (!job.gpu_type.empty() && !shape.gpu_type.empty() && shape.gpu_type != job.gpu_type)
    at.fail_at("gpu_type", fmt::format("'{}', and the job asks for '{}'", shape.gpu_type, job.gpu_type));
  check_traffic(shape, at);
}

}  // namespace

void set_groups(TraceJob& job, std::vector<Group> groups, const std::string& file) {
  Shape shape;
  shape.id = core::default_shape_id(job.gpus, job.gpu_type);
  shape.gpu_type = job.gpu_type;
  shape.gpus = job.gpus;
  shape.groups = std::move(groups);
  job.shapes = {std::move(shape)};
  try {
    check_trace_shapes(job, core::InputLocation(file));
  } catch (const InputError& e) {
    constexpr std::string_view kShape = "/shapes/0";
    if (e.pointer().compare(0, kShape.size(), kShape) != 0) throw;
    throw InputError(e.file(), e.pointer().substr(kShape.size()), 0, problem_of(e));
  }
}

void check_trace_shapes(const TraceJob& job, const core::InputLocation& where) {
  if (job.shapes.size() > static_cast<std::size_t>(kMaxShapes))
    where.fail_at("shapes", fmt::format("{} shapes are more than {}", job.shapes.size(), kMaxShapes));
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    const core::InputLocation at(where, "shapes", static_cast<std::int64_t>(i));
    check_shape(job, job.shapes[i], at);
    if (!ids.insert(job.shapes[i].id).second) at.fail_at("id", fmt::format("'{}' is the id of an earlier shape too", job.shapes[i].id));
  }
  const auto counts_differ = [&](const Shape& shape) { return shape.gpus != job.gpus; };
  if (job.shapes.front().gpus != job.gpus) {
    where.fail_at("gpus",
                  fmt::format("the job asks for {}, and its first shape has {}", core::counted(job.gpus, "GPU"), job.shapes.front().gpus));
  }
  if (job.elastic) where.fail_at("elastic", "the job lists its 'shapes'; none comes from a profile");
  if (!job.phases.empty()) where.fail_at("phases", "a job with phases has no 'shapes' or 'groups'");
  if (!job.profile.empty() && job.work == 0 && std::any_of(job.shapes.begin(), job.shapes.end(), counts_differ))
    where.fail_at("work", "shapes of several GPU counts take different times: with a 'profile' the job needs its 'work'");
}

}  // namespace berth::io
