#include <fmt/format.h>

#include <set>

#include "host/core/base/distinct.hpp"
#include "host/core/base/names.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {
namespace {

// Nodes come and go, so the names of nodes and of their virtual clusters are not looked up: an unknown name matches
// nothing.
void check_who(const Job& job, const References& refs, const InputLocation& where) {
  check_name(job.id, where, "id");
  check_text(job.user, where, "user");
  check_text(job.tenant, where, "tenant");
  if (!job.queue.empty() && !refs.has_queue(job.queue)) {
    where.fail_at("queue", fmt::format("there is no queue '{}'{}", job.queue, refs.near_queue(job.queue)));
  }
  check_text(job.virtual_cluster, where, "virtual_cluster");
}

void check_times(const Job& job, const InputLocation& where) {
  check_time(job.submit_us, where, "submit_s");
  check_decimal(job.weight_ppm, 6, 1, kScoreCeiling, where, "weight");
  check_time_or_never(job.time_limit_us, where, "time_limit_s");
  check_time_or_never(job.deadline.at_us, where, "deadline/at_s");
  if (job.deadline.hard && job.deadline.at_us == kNever) where.fail_at("deadline/hard", "there is no deadline to be hard");
  check_range(job.deadline.value, -kScoreCeiling, kScoreCeiling, where, "deadline/value");
  check_later_steps(job.deadline, job.submit_us, InputLocation(where, "deadline"), "later");
  check_time_or_never(job.estimate.run_us, where, "estimate/run_s");
  check_time_or_never(job.estimate.p50_us, where, "estimate/p50_s");
  check_time_or_never(job.estimate.p90_us, where, "estimate/p90_s");
  check_text(job.estimate.source, where, "estimate/source");
  check_time(job.costs.restart_us, where, "costs/restart_s");
  check_time(job.costs.checkpoint_every_us, where, "costs/checkpoint/every_s");
  check_time(job.costs.checkpoint_save_us, where, "costs/checkpoint/save_s");
  check_time(job.costs.checkpoint_restore_us, where, "costs/checkpoint/restore_s");
  check_time(job.costs.scale_us, where, "costs/scale_s");
  check_time(job.costs.migrate_us, where, "costs/migrate_s");
  check_time(job.preemption.minimum_run_us, where, "preemption/minimum_run_s");
  check_time(job.preemption.grace_us, where, "preemption/grace_s");
  check_time(job.preemption.guaranteed_until_us, where, "preemption/guaranteed_until_s");
  check_time_or_never(job.lease_end_us, where, "lease_end_s");
  check_time_or_never(job.last_assignment_us, where, "last_assignment_s");
  check_time_or_never(job.waiting_since_us, where, "waiting_since_s");
}

void check_constraints(const Constraints& c, const References& refs, const InputLocation& where) {
  for (std::size_t i = 0; i < c.labels.size(); ++i) {
    check_name(c.labels[i].first, where, "labels");
    if (c.labels[i].second.empty()) where.fail_at("labels", fmt::format("'{}' lists no value: no node could match", c.labels[i].first));
    for (const std::string& value : c.labels[i].second) check_text(value, where, "labels");
  }
  find_repeat(
      c.labels.size(), [&](std::size_t i) { return std::string_view(c.labels[i].first); },
      [&](std::size_t i) { where.fail_at("labels", fmt::format("duplicate label '{}'", c.labels[i].first)); });
  for (const std::string& node : c.required_nodes) check_name(node, where, "required_nodes");
  for (const std::string& node : c.excluded_nodes) check_name(node, where, "excluded_nodes");
  check_decimal(c.cpu_milli_per_gpu, 3, 0, kMaxBytes, where, "cpu_cores_per_gpu");
  check_range(c.memory_bytes_per_gpu, 0, kMaxBytes, where, "memory_bytes_per_gpu");
  check_range(c.gpu_memory_bytes, 0, kMaxBytes, where, "gpu_memory_bytes");
  for (std::size_t i = 0; i < c.longest_wait.size(); ++i) {
    const LevelRef& ref = c.longest_wait[i].first;
    const InputLocation at(where, "longest_wait", static_cast<std::int64_t>(i));
    if (ref.level != "node" && !refs.has_level(ref.topology, ref.level)) {
      at.fail_at("level", fmt::format("topology {} has no level '{}'", name(ref.topology), ref.level));
    }
    check_time(c.longest_wait[i].second, at, "wait_s");
  }
}

bool shares(const Shape& shape) {
  if (shape.share_ppm < kWholeGpu) return true;
  for (const Group& g : shape.groups) {
    if (g.share_ppm < kWholeGpu) return true;
  }
  return false;
}

void check_shapes(const Job& job, const References& refs, const InputLocation& where) {
  if (job.shapes.empty()) where.fail_at("shapes", "a job needs at least one shape");
  if (job.shapes.size() > static_cast<std::size_t>(kMaxShapes)) {
    where.fail_at("shapes", fmt::format("{} shapes are more than {}", job.shapes.size(), kMaxShapes));
  }
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    const InputLocation at(where, "shapes", static_cast<std::int64_t>(i));
    check_shape(job.shapes[i], refs, at);
    if (shares(job.shapes[i]) && !job.sharing) at.fail_at("share", "a shape takes a share of a GPU, and the job's 'sharing' is false");
    if (!ids.insert(job.shapes[i].id).second) at.fail_at("id", fmt::format("'{}' is the id of an earlier shape too", job.shapes[i].id));
  }
}

}  // namespace

void check_later_steps(const Deadline& deadline, TimeUs submit_us, const InputLocation& where, std::string_view field) {
  const std::vector<DeadlineStep>& steps = deadline.later;
  if (steps.empty()) return;
  if (deadline.at_us == kNever) where.fail_at(field, "there is no deadline that could have later steps");
  if (deadline.hard) where.fail_at(field, "a hard deadline has no later steps: the job is useless after it");
  if (steps.size() > static_cast<std::size_t>(kMaxLaterSteps))
    where.fail_at(field, fmt::format("{} later steps are more than {}", steps.size(), kMaxLaterSteps));
  DeadlineStep before{deadline.at_us, deadline.value};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const InputLocation at(where, field, static_cast<std::int64_t>(i));
    check_time(steps[i].at_us, at, "at_s");
    if (steps[i].at_us <= before.at_us) at.fail_at("at_s", "steps ascend: each is later than the one before");
    if (steps[i].at_us < submit_us) at.fail_at("at_s", "it is before the job's submission");
    if (steps[i].value < 1) at.fail_at("value", "a later step has a value of at least 1");
    if (steps[i].value >= before.value) at.fail_at("value", "values fall: each is less than the one before");
    before = steps[i];
  }
}

void check_job(const Job& job, const References& refs, const InputLocation& where) {
  check_who(job, refs, where);
  check_times(job, where);
  check_shapes(job, refs, where);
  check_constraints(job.constraints, refs, InputLocation(where, "constraints"));
  check_profile(job.profile, InputLocation(where, "profile"));
  check_progress(job.progress, InputLocation(where, "progress"));
  check_allocation(job, refs, where);
  check_extensions(job.x, where);
}

void check_finished(const FinishedJob& job, const InputLocation& where) {
  check_name(job.id, where, "id");
  check_text(job.user, where, "user");
  check_text(job.virtual_cluster, where, "virtual_cluster");
  check_range(job.gpus, 0, kMaxGpusPerJob, where, "gpus");
  check_time(job.submit_us, where, "submit_s");
  check_time(job.run_us, where, "run_s");
  check_text(job.status, where, "status");
}

}  // namespace berth::core
