#include "python-free-bindings/c/src/job_arrays.hpp"

#include <bit>
#include <string>
#include <utility>

#include "host/core/model/shape_id.hpp"
#include "host/io/formats/read_parts.hpp"
#include "python-free-bindings/c/src/structs.hpp"

namespace berth::c {
namespace {

berth_entries entries_of(const berth_entries* entries, const char* name) {
  berth_entries none{};
  return entries == nullptr ? none : get_struct(entries, name);
}

constexpr std::int64_t kMaxEntries = std::int64_t{1} << 32;

// An enumerator of the caller. A value beyond the last one would be undefined as a value of the type.
template <class E>
E enumerator(std::int32_t value, E last, const char* name, std::size_t row) {
  if (value < 0 || value > static_cast<std::int32_t>(last)) {
    throw InvalidArgument(std::string(name) + "[" + std::to_string(row) + "] is " + std::to_string(value) + ": no such value");
  }
  return static_cast<E>(value);
}

}  // namespace

EntryArrays::EntryArrays(const berth_entries* entries, const char* name)
    : e_(entries_of(entries, name)),
      node_(e_.node, checked_count(e_.n, kMaxEntries, "entries.n"), "entries.node"),
      group_(e_.group, checked_count(e_.n, kMaxEntries, "entries.n"), "entries.group") {
  required_column(e_.gpus, static_cast<std::size_t>(e_.n), "entries.gpus");
}

Allocation EntryArrays::allocation(const std::string& shape, const std::vector<Shape>& shapes, std::size_t begin, std::size_t end) const {
  Allocation allocation;
  allocation.shape = shape;
  std::string only_group;
  for (const Shape& one : shapes) {
    if (one.id == shape && one.groups.size() == 1) only_group = one.groups.front().name;
  }
  allocation.entries.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    AllocationEntry& entry = allocation.entries.emplace_back();
    entry.node = node_.text(i);
    entry.group = group_[i].empty() ? only_group : group_.text(i);
    for (std::uint64_t left = e_.gpus[i]; left != 0; left &= left - 1) entry.gpus.push_back(std::countr_zero(left));
    entry.share_ppm = value(e_.share_ppm, i, kWholeGpu);
    entry.time_shared = value(e_.time_shared, i, std::uint8_t{0}) != 0;
    entry.member = value(e_.member, i, io::kMemberNotSaid);
    if (e_.member != nullptr && entry.member < 0) {
      throw InvalidArgument("entries.member[" + std::to_string(i) + "] is " + std::to_string(entry.member));
    }
  }
  io::settle_members(shapes, allocation);
  return allocation;
}

JobArrays::JobArrays(const berth_jobs* jobs, const char* name, bool with_allocations)
    : j_(get_struct(jobs, name)),
      n_(checked_count(j_.n, kMaxJobs, "jobs.n")),
      n_shapes_(checked_count(j_.shape_begin == nullptr ? j_.n : j_.n_shapes, std::int64_t{kMaxJobs} * kMaxShapes, "jobs.n_shapes")),
      id_(j_.id, n_, "jobs.id"),
      user_(j_.user, n_, "jobs.user"),
      tenant_(j_.tenant, n_, "jobs.tenant"),
      queue_(j_.queue, n_, "jobs.queue"),
      virtual_cluster_(j_.virtual_cluster, n_, "jobs.virtual_cluster"),
      shape_id_(j_.shape_id, n_shapes_, "jobs.shape_id"),
      shape_type_(j_.shape_gpu_type, n_shapes_, "jobs.shape_gpu_type"),
      shape_level_(j_.shape_require_level, n_shapes_, "jobs.shape_require_level"),
      shapes_(j_.shape_begin, n_, n_shapes_, "jobs.shape_begin") {
  if (n_ > 0 && !id_.given()) throw InvalidArgument("jobs.id is null");
  required_column(j_.shape_gpus, n_shapes_, "jobs.shape_gpus");
  if (!with_allocations || j_.running_shape == nullptr) return;
  entries_.emplace(j_.entries, "jobs.entries");
  entry_rows_.emplace(required_column(j_.entry_begin, n_, "jobs.entry_begin"), n_, entries_->size(), "jobs.entry_begin");
}

Shape JobArrays::shape(std::size_t row) const {
  Shape shape;
  shape.gpus = j_.shape_gpus[row];
  shape.gpu_type = shape_type_.text(row);
  shape.id = shape_id_.text(row);
  if (shape.id.empty()) shape.id = core::default_shape_id(shape.gpus, shape.gpu_type);
  shape.share_ppm = value(j_.shape_share_ppm, row, kWholeGpu);
  shape.local_batch = value(j_.shape_local_batch, row, 0);
  shape.rate = value(j_.shape_rate, row, std::int64_t{0});
  const std::int32_t per_member = value(j_.shape_gpus_per_member, row, 0);
  const std::string_view level = shape_level_[row];
  if (per_member != 0 || !level.empty()) {
    Group& gang = shape.groups.emplace_back();
    gang.name = "gang";
    gang.gpus_per_member = per_member == 0 ? 1 : per_member;
    if (gang.gpus_per_member < 0 || shape.gpus % gang.gpus_per_member != 0) {
      throw InvalidArgument("jobs.shape_gpus_per_member[" + std::to_string(row) + "] is " + std::to_string(per_member) +
                            ", which does not divide the shape's " + std::to_string(shape.gpus) + " GPUs");
    }
    const std::int32_t members = shape.gpus / gang.gpus_per_member;
    gang.members_min = gang.members_want = gang.members_max = members;
    gang.share_ppm = shape.share_ppm;
    if (!level.empty()) gang.require = LevelRef{TopologyKind::kSwitch, std::string(level)};
  }
  return shape;
}

Job JobArrays::job(std::size_t row) const {
  Job job;
  job.id = id_.text(row);
  job.user = user_.text(row);
  job.tenant = tenant_.text(row);
  job.queue = queue_.text(row);
  job.virtual_cluster = virtual_cluster_.text(row);
  job.submit_us = value(j_.submit_us, row, std::int64_t{0});
  job.priority = value(j_.priority, row, 0);
  job.weight_ppm = value(j_.weight_ppm, row, job.weight_ppm);
  job.kind = enumerator(value(j_.kind, row, 0), JobKind::kBatchInference, "jobs.kind", row);
  job.time_limit_us = value(j_.time_limit_us, row, kNever);
  job.estimate.run_us = value(j_.estimate_us, row, kNever);
  job.deadline.at_us = value(j_.deadline_us, row, kNever);
  job.deadline.hard = job.deadline.at_us != kNever && value(j_.deadline_hard, row, std::uint8_t{0}) != 0;
  job.preemption.preemptible = value(j_.preemptible, row, std::uint8_t{1}) != 0;
  job.preemption.preemption_class = value(j_.preemption_class, row, 0);
  job.costs.restart_us = value(j_.restart_us, row, std::int64_t{0});
  job.costs.migrate_us = value(j_.migrate_us, row, std::int64_t{0});
  job.costs.scale_us = value(j_.scale_us, row, std::int64_t{0});
  job.constraints.cpu_milli_per_gpu = value(j_.cpu_milli_per_gpu, row, std::int64_t{0});
  job.constraints.memory_bytes_per_gpu = value(j_.memory_bytes_per_gpu, row, std::int64_t{0});
  job.constraints.gpu_memory_bytes = value(j_.gpu_memory_bytes, row, std::int64_t{0});
  const std::size_t first = shapes_.given() ? shapes_.begin(row) : row;
  const std::size_t last = shapes_.given() ? shapes_.end(row) : row + 1;
  if (last - first > static_cast<std::size_t>(kMaxShapes)) {
    throw InvalidArgument("jobs.shape_begin: job " + std::to_string(row) + " has " + std::to_string(last - first) + " shapes; at most " +
                          std::to_string(kMaxShapes));
  }
  for (std::size_t i = first; i < last; ++i) {
    job.shapes.push_back(shape(i));
    job.sharing = job.sharing || job.shapes.back().share_ppm < kWholeGpu;  // a job that requests a share tolerates others
  }
  job.progress.work_done = value(j_.work_done, row, std::int64_t{0});
  job.progress.work_total = value(j_.work_total, row, std::int64_t{0});
  job.progress.run_us = value(j_.run_us, row, std::int64_t{0});
  job.progress.attained_gpu_us = value(j_.attained_gpu_us, row, std::int64_t{0});
  const std::int32_t running = entries_ ? value(j_.running_shape, row, -1) : -1;
  if (running == -1) return job;
  if (running < 0 || static_cast<std::size_t>(running) >= job.shapes.size()) {
    throw InvalidArgument("jobs.running_shape[" + std::to_string(row) + "] is " + std::to_string(running) + ": the job has " +
                          std::to_string(job.shapes.size()) + " shapes");
  }
  const std::string shape = job.shapes[static_cast<std::size_t>(running)].id;
  job.allocation = entries_->allocation(shape, job.shapes, entry_rows_->begin(row), entry_rows_->end(row));
  job.state = JobState::kRunning;
  return job;
}

}  // namespace berth::c
