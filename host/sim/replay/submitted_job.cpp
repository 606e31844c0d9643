#include "host/sim/replay/submitted_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/model/deadline_steps.hpp"

namespace berth::sim {
namespace {

bool takes_shares(const Shape& shape) {
  const auto is_share = [](const Group& group) { return group.share_ppm < kWholeGpu; };
  return shape.share_ppm < kWholeGpu || std::any_of(shape.groups.begin(), shape.groups.end(), is_share);
}

}  // namespace

void require_queues(const TraceFacts& facts, const Snapshot& cluster) {
  if (cluster.queues.empty()) return;
  for (const std::string& name : facts.queues) {
    const auto is_it = [&](const Queue& queue) { return queue.id == name; };
    if (std::any_of(cluster.queues.begin(), cluster.queues.end(), is_it)) continue;
    throw InvalidArgument(fmt::format("the trace has jobs of queue '{}', and the cluster no such queue", name));
  }
}

void require_iterable(const TraceJob& job) {
  if (!job.phases.empty())
    throw InvalidArgument(fmt::format("job '{}': phases are of rates, which jobs do not have where iterations are followed", job.id));
  if (!job.shapes.empty())
    throw InvalidArgument(fmt::format("job '{}' states shapes or groups: iterations are followed for flat gangs only", job.id));
}

Demanded Demanded::not_modelled(const Snapshot& cluster) {
  Demanded demanded = all(cluster);
  for (const Node& node : cluster.nodes) {
    demanded.cpu = demanded.cpu && node.cpu_milli == kUnlimited;
    demanded.memory = demanded.memory && node.memory_bytes == kUnlimited;
  }
  return demanded;
}

Job submitted_job(const TraceJob& from, const TraceForm& form, const Demanded& demanded) {
  Job job;
  job.id = from.id;
  job.user = from.user;
  job.virtual_cluster = from.virtual_cluster;
  job.submit_us = from.submit_us;
  job.time_limit_us = from.time_limit_us;
  job.deadline = core::deadline_of(from);
  job.priority = from.priority;
  job.preemption.preemption_class = from.preemption_class;
  job.preemption.grace_us = from.grace_us;
  job.weight_ppm = from.weight_ppm;
  job.constraints.longest_wait = from.longest_wait;
  if (demanded.queue) job.queue = from.queue;
  if (demanded.cpu) job.constraints.cpu_milli_per_gpu = per_gpu(from.cpu_milli, from.gpus);
  if (demanded.memory) job.constraints.memory_bytes_per_gpu = per_gpu(from.memory_bytes, from.gpus);
  set_form(job, from, form);
  return job;
}

void set_form(Job& job, const TraceJob& from, const TraceForm& form) {
  job.shapes = form.shapes;
  job.sharing = std::any_of(job.shapes.begin(), job.shapes.end(), takes_shares);
  job.profile = form.profile != nullptr ? *form.profile : Profile{};
  // With another batch it is a different model for colocated jobs.
  const bool one_model = from.phases.empty() || job.profile.model.empty();
  if (one_model && !from.model.empty()) job.profile.model = from.model;
}

}  // namespace berth::sim
