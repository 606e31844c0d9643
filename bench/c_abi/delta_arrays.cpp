#include "bench/c_abi/delta_arrays.hpp"

#include <stdexcept>
#include <variant>

namespace berth::bench {

void DeltaArrays::add(std::int32_t kind, const std::string& id, const std::string& text) {
  kind_.push_back(kind);
  value_.push_back(0);
  time_.push_back(0);
  row_.push_back(0);
  id_.add(id);
  text_.add(text);
  entry_begin_.push_back(gpus_.size());
}

void DeltaArrays::put(const Job& job) {
  add(BERTH_PUT_JOB, "", "");
  row_.back() = submit_.size();
  job_id_.add(job.id);
  user_.add(job.user);
  queue_.add(job.queue);
  virtual_cluster_.add(job.virtual_cluster);
  submit_.push_back(job.submit_us);
  estimate_.push_back(job.estimate.run_us);
  priority_.push_back(job.priority);
  cpu_.push_back(job.constraints.cpu_milli_per_gpu);
  memory_.push_back(job.constraints.memory_bytes_per_gpu);
  for (const Shape& shape : job.shapes) {
    if (!shape.groups.empty()) throw std::runtime_error("the arrays take flat gangs");
    shape_id_.add(shape.id);
    shape_type_.add(shape.gpu_type);
    shape_gpus_.push_back(shape.gpus);
  }
  shape_begin_.push_back(shape_gpus_.size());
  if (job.state == JobState::kRunning) start(job.id, job.allocation);
}

void DeltaArrays::start(const std::string& id, const Allocation& allocation) {
  for (const AllocationEntry& entry : allocation.entries) {
    std::uint64_t mask = 0;
    for (const std::int32_t gpu : entry.gpus) mask |= std::uint64_t{1} << gpu;
    node_.add(entry.node);
    gpus_.push_back(mask);
  }
  add(BERTH_START_JOB, id, allocation.shape);
}

DeltaArrays::DeltaArrays(const std::vector<Delta>& batch) {
  for (const Delta& delta : batch) {
    if (const auto* placed = std::get_if<delta::PutJob>(&delta)) {
      put(placed->job);
    } else if (const auto* removed = std::get_if<delta::RemoveJob>(&delta)) {
      add(BERTH_REMOVE_JOB, removed->job, removed->status);
    } else if (const auto* started = std::get_if<delta::StartJob>(&delta)) {
      start(started->job, started->allocation);
    } else if (const auto* stopped = std::get_if<delta::StopJob>(&delta)) {
      add(BERTH_STOP_JOB, stopped->job, "");
    } else if (const auto* turned = std::get_if<delta::SetNodeState>(&delta)) {
      add(BERTH_SET_NODE_STATE, turned->node, "");
      value_.back() = static_cast<std::int32_t>(turned->state);
    } else {
      throw std::runtime_error("a delta that these arrays do not hold");
    }
  }
}

const berth_deltas* DeltaArrays::view() {
  entries_.struct_size = sizeof entries_;
  entries_.n = gpus_.size();
  entries_.node = node_.view();
  entries_.gpus = gpus_.data();
  jobs_.struct_size = sizeof jobs_;
  jobs_.n = submit_.size();
  jobs_.id = job_id_.view();
  jobs_.user = user_.view();
  jobs_.queue = queue_.view();
  jobs_.virtual_cluster = virtual_cluster_.view();
  jobs_.submit_us = submit_.data();
  jobs_.estimate_us = estimate_.data();
  jobs_.priority = priority_.data();
  jobs_.cpu_milli_per_gpu = cpu_.data();
  jobs_.memory_bytes_per_gpu = memory_.data();
  jobs_.shape_begin = shape_begin_.data();
  jobs_.n_shapes = shape_gpus_.size();
  jobs_.shape_id = shape_id_.view();
  jobs_.shape_gpu_type = shape_type_.view();
  jobs_.shape_gpus = shape_gpus_.data();
  deltas_.struct_size = sizeof deltas_;
  deltas_.n = kind_.size();
  deltas_.kind = kind_.data();
  deltas_.id = id_.view();
  deltas_.text = text_.view();
  deltas_.time_us = time_.data();
  deltas_.value = value_.data();
  deltas_.row = row_.data();
  deltas_.jobs = &jobs_;
  deltas_.entry_begin = entry_begin_.data();
  deltas_.entries = &entries_;
  return &deltas_;
}

}  // namespace berth::bench
